package xprt

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"eddy.example/bufpool"
)

// lateReader is a connection of which Write fails but goes on reading what it was given,
// until done is closed.
type lateReader struct {
	net.Conn
	done chan struct{}
	got  chan []byte
}

var errLate = errors.New("failed, but still reading")

func (c *lateReader) Write(b []byte) (int, error) {
	c.got <- b
	return 0, errLate
}

func (c *lateReader) SendDone() <-chan struct{} { return c.done }

// serveLate answers one call on a lateReader, and returns when it has failed.
func serveLate(t *testing.T, s *server) (*lateReader, []byte) {
	t.Helper()
	nc, client := Pipe()
	t.Cleanup(func() { client.Close() })
	late := &lateReader{nc, make(chan struct{}), make(chan []byte, 1)}
	s.served.Go(func() { s.ServeConn(late) })
	send(t, client, readCall(3, 65536))
	b := <-late.got
	expectEnd(t, client)
	return late, b
}

func busyPages(p bufpool.Stats) uint64 { return p.Lent + p.InFlight + p.Detached }

// TestQuarantine keeps the memory of a failed write until nobody looks at it any more, and
// serves others meanwhile.
func TestQuarantine(t *testing.T) {
	clock := newFakeClock()
	s := start(t, "tcp", Config{Workers: 1, Clock: clock, PoolCap: 2 << 20}, read)
	late, b := serveLate(t, s)
	c := s.dial()
	for i := range uint32(50) {
		send(t, c, readCall(i, 65536))
		checkPayload(t, receive(t, c), i, 65536)
		clock.advance(tick)
	}
	checkPayload(t, b[markSize:], 3, 65536)
	if p := s.Stats().Pools[0]; busyPages(p) == 0 {
		t.Errorf("given back: %+v", p)
	}
	until(t, func() bool {
		clock.advance(tick)
		return s.Stats().Pools[0].Lent == 0 // but detached
	})
	close(late.done)
	until(t, func() bool { return s.Stats().Connections == 1 })
	if p := s.Stats().Pools[0]; busyPages(p) != 0 || p.GivenUp != 0 {
		t.Errorf("%+v", p)
	}
	clock.run(t)
}

// TestQuarantineEnds closes the transport while somebody still looks: the memory is given up.
func TestQuarantineEnds(t *testing.T) {
	clock := newFakeClock()
	s := start(t, "tcp", Config{Workers: 1, Clock: clock}, read)
	late, b := serveLate(t, s)
	clock.run(t)
	s.Close()
	if n := s.Stats(); n.GivenUp != 1 || bufpool.Gated && n.Pools[0].GivenUp == 0 {
		t.Errorf("%+v", n)
	}
	// It can still be read: as it was, or zeros.
	if !bytes.Equal(b, make([]byte, len(b))) {
		checkPayload(t, b[markSize:], 3, 65536)
	}
	close(late.done)
}

// slowCloser is a connection of which Close takes until it is told.
type slowCloser struct {
	net.Conn
	closing sync.Once
	began   chan struct{}
	goOn    chan struct{}
}

func (c *slowCloser) Close() error {
	c.closing.Do(func() { close(c.began) })
	<-c.goOn
	return c.Conn.Close()
}

// TestSlowClose has a connection whose Close blocks: others are served, and the transport
// waits for it.
func TestSlowClose(t *testing.T) {
	s := start(t, "tcp", Config{Workers: 1}, read)
	nc, client := Pipe()
	slow := &slowCloser{Conn: nc, began: make(chan struct{}), goOn: make(chan struct{})}
	s.served.Go(func() { s.ServeConn(slow) })
	client.Close()
	<-slow.began
	c := s.dial()
	for i := range uint32(50) {
		send(t, c, readCall(i, 65536))
		checkPayload(t, receive(t, c), i, 65536)
	}
	time.AfterFunc(10*time.Millisecond, func() { close(slow.goOn) })
	s.Close()
	select {
	case <-slow.goOn:
	default:
		t.Error("closed before the connection was")
	}
}
