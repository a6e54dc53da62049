package rpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"eddy.example/rpc/xdr"
)

// packets is a socket for datagrams whose network is the test.
type packets struct {
	net.Conn // for the methods that nobody calls
	sent     chan []byte
	arrived  chan packet
	closed   chan struct{}
	once     sync.Once
}

type packet struct {
	b   []byte
	err error
}

func (p *packets) Write(b []byte) (int, error) {
	select {
	case p.sent <- bytes.Clone(b):
		return len(b), nil
	case <-p.closed:
		return 0, net.ErrClosed
	}
}

func (p *packets) Read(b []byte) (int, error) {
	select {
	case in := <-p.arrived:
		return copy(b, in.b), in.err
	case <-p.closed:
		return 0, net.ErrClosed
	}
}

func (p *packets) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*packets) LocalAddr() net.Addr { return &net.UDPAddr{} }

// ticking is a clock whose time and ticks are the test's.
type ticking struct {
	handClock
	ticks chan time.Time
}

func (c *ticking) NewTicker(time.Duration) (<-chan time.Time, func()) { return c.ticks, func() {} }

func (c *ticking) advance(d time.Duration) {
	c.handClock.advance(d)
	c.ticks <- c.Now()
}

func datagrams(t *testing.T) (*Client, *packets, *ticking) {
	network := &packets{sent: make(chan []byte, 100), arrived: make(chan packet), closed: make(chan struct{})}
	clock := &ticking{handClock{now: time.Unix(1e9, 0)}, make(chan time.Time)}
	c := NewClient(network, ClientConfig{Retransmit: time.Second, Tries: 3, Clock: clock})
	t.Cleanup(func() { c.Close() })
	return c, network, clock
}

func TestRetransmission(t *testing.T) {
	c, network, clock := datagrams(t)
	var got word
	done := start(func() error { return c.Call(background, 1, 2, 3, nil, opaque("abc"), &got) })
	first := <-network.sent
	for _, step := range []struct {
		after time.Duration
		again bool
	}{
		{999 * time.Millisecond, false}, {time.Millisecond, true}, // after 1 s
		{1999 * time.Millisecond, false}, {time.Millisecond, true}, // after 2 s more
		{3999 * time.Millisecond, false},
	} {
		clock.advance(step.after)
		clock.advance(0) // the tick before this one has been handled
		if got := len(network.sent) > 0; got != step.again {
			t.Fatalf("%v later: sent again %t, want %t", step.after, got, step.again)
		}
		if step.again {
			if again := <-network.sent; !bytes.Equal(again, first) {
				t.Errorf("sent %x, again as %x", first, again)
			}
		}
	}
	// Any of them may have been lost; what comes twice is ignored.
	reply := xdr.AppendUint32(appendAccepted(nil, binary.BigEndian.Uint32(first), SUCCESS), 7)
	network.arrived <- packet{b: reply}
	network.arrived <- packet{b: reply}
	if err := <-done; err != nil || got != 7 {
		t.Errorf("result %d, %v", got, err)
	}

	done = start(func() error { return c.Call(background, 1, 2, 3, nil, nil, nil) })
	<-network.sent
	for range 3 {
		clock.advance(4 * time.Second)
	}
	if err := <-done; err != ErrTimeout {
		t.Errorf("without a reply: %v", err)
	}
}

func TestDatagramsForNobody(t *testing.T) {
	c, network, _ := datagrams(t)
	done := start(func() error { return c.Call(background, 1, 2, 3, nil, nil, nil) })
	xid := binary.BigEndian.Uint32(<-network.sent)
	for _, b := range [][]byte{nil, {1}, make([]byte, 60_000), appendAccepted(nil, xid+1, SYSTEM_ERR), callBytes(xid, 1, 2, 3)} {
		network.arrived <- packet{b: b}
	}
	network.arrived <- packet{b: appendAccepted(nil, xid, PROC_UNAVAIL)}
	if err := <-done; !errors.Is(err, ErrProcUnavail) {
		t.Error(err)
	}
}

func TestDatagramPayloads(t *testing.T) {
	c, network, _ := datagrams(t)
	for _, n := range []int{0, 1, 4, 1000, 32 << 10} {
		payload := bytes.Repeat([]byte{7}, n)
		done := start(func() error { return c.CallSend(background, 1, 2, 3, nil, nothing{}, payload, nil) })
		call := <-network.sent
		if want := xdr.AppendOpaque(nil, payload); !bytes.Equal(call[40:], want) {
			t.Errorf("%d bytes were sent as %d", n, len(call)-40)
		}
		network.arrived <- packet{b: appendAccepted(nil, binary.BigEndian.Uint32(call), SUCCESS)}
		if err := <-done; err != nil {
			t.Errorf("sending %d bytes: %v", n, err)
		}

		for _, missing := range []int{0, 1} {
			into := make([]byte, n)
			var got int
			done = start(func() (err error) {
				got, err = c.CallReceive(background, 1, 2, 3, nil, nil, new(readResult), into)
				return err
			})
			reply := xdr.AppendUint32(appendAccepted(nil, binary.BigEndian.Uint32(<-network.sent), SUCCESS), 0)
			reply = append(xdr.AppendUint32(reply, uint32(n+missing)), payload...)
			network.arrived <- packet{b: reply}
			err := <-done
			switch {
			case missing > 0 && (!errors.Is(err, ErrBadReply) || got != 0):
				t.Errorf("receiving %d bytes of %d: %d, %v", n, n+missing, got, err)
			case missing == 0 && (err != nil || got != n || !bytes.Equal(into, payload)):
				t.Errorf("receiving %d bytes: %d, %v", n, got, err)
			}
		}
	}
}

// TestNobodyListens is about an ICMP error: it ends the calls, but not the
// client.
func TestNobodyListens(t *testing.T) {
	c, network, _ := datagrams(t)
	for range 2 {
		done := start(func() error { return c.Call(background, 1, 2, 3, nil, nil, nil) })
		<-network.sent
		network.arrived <- packet{err: &net.OpError{Op: "read", Err: syscall.ECONNREFUSED}}
		if err := <-done; !errors.Is(err, ErrConnection) || !errors.Is(err, syscall.ECONNREFUSED) {
			t.Error(err)
		}
	}
	done := start(func() error { return c.Call(background, 1, 2, 3, nil, nil, nil) })
	<-network.sent
	network.arrived <- packet{err: syscall.EIO}
	if err := <-done; !errors.Is(err, ErrConnection) || !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if err := c.Call(background, 1, 2, 3, nil, nil, nil); !errors.Is(err, syscall.EIO) {
		t.Errorf("after an error that lasts: %v", err)
	}
}

func TestCancelDatagram(t *testing.T) {
	c, network, clock := datagrams(t)
	ctx, cancel := context.WithCancel(background)
	done := start(func() error { return c.Call(ctx, 1, 2, 3, nil, nil, nil) })
	<-network.sent
	cancel()
	if err := <-done; err != context.Canceled {
		t.Error(err)
	}
	done = start(func() error { return c.Call(background, 1, 2, 4, nil, nil, nil) })
	<-network.sent
	clock.advance(time.Second)
	if again := <-network.sent; again[23] != 4 {
		t.Error("the cancelled call is sent again")
	}
	c.Close()
	if err := <-done; err != ErrClosed {
		t.Error(err)
	}
}
