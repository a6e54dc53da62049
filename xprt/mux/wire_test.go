package mux

import (
	"bytes"
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"eddy.example/xprt"
)

// gatedConn is a connection of which Write waits and then looks at its argument.
type gatedConn struct {
	net.Conn
	writing chan struct{} // gets a value for each Write that begins
	goOn    chan struct{} // closed to let them go on
	mu      sync.Mutex
	seen    []byte
}

func (c *gatedConn) Write(b []byte) (int, error) {
	select {
	case c.writing <- struct{}{}:
	default:
	}
	<-c.goOn
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, b...)
	return len(b), nil
}

func (c *gatedConn) Close() error {
	return c.Conn.Close()
}

// TestWriteThatTimesOut is looked at after it has failed, and SendDone tells when that is over.
func TestWriteThatTimesOut(t *testing.T) {
	a, b := xprt.Pipe()
	defer b.Close()
	gated := &gatedConn{Conn: a, writing: make(chan struct{}, 1), goOn: make(chan struct{})}
	session, err := Client(gated, Config{KeepAlive: -1})
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan net.Conn)
	go func() {
		c, err := session.Open()
		if err != nil {
			t.Error(err)
		}
		opened <- c
	}()
	<-gated.writing // the frame that opens the stream is on its way
	close(gated.goOn)
	c := (<-opened).(*Stream)

	gated.goOn = make(chan struct{})
	c.SetWriteDeadline(time.Now().Add(time.Millisecond))
	payload := bytes.Repeat([]byte("abcd"), 1000)
	if _, err := c.Write(payload); err == nil {
		t.Fatal("a write that cannot have happened")
	}
	select {
	case <-c.SendDone():
		t.Error("done, while the frame waits")
	default:
	}
	// Whoever does not wait is caught: the frame takes what is there now.
	close(gated.goOn)
	closed := make(chan error)
	go func() { closed <- session.Close() }()
	<-c.SendDone()
	gated.mu.Lock()
	seen := len(gated.seen)
	gated.mu.Unlock()
	copy(payload, "xxxx")
	if err := <-closed; err != nil {
		t.Error(err)
	}
	gated.mu.Lock()
	defer gated.mu.Unlock()
	if len(gated.seen) != seen || bytes.Contains(gated.seen, []byte("xxxx")) {
		t.Error("memory was looked at after SendDone")
	}
}

// TestManyFailedWrites end the session.
func TestManyFailedWrites(t *testing.T) {
	a, b := xprt.Pipe()
	server, err := Server(a, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := Client(b, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range maxFailed {
		c, err := client.Open()
		if err != nil {
			t.Fatal(err)
		}
		c.SetWriteDeadline(time.Now().Add(-1))
		for err == nil {
			_, err = c.Write(make([]byte, 100<<10)) // some get through
		}
	}
	<-client.smux.CloseChan()
	<-client.wire.done
}

// failingConn fails to write.
type failingConn struct{ net.Conn }

func (failingConn) Write([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func TestWireEndsWithAnError(t *testing.T) {
	a, _ := xprt.Pipe()
	w := newWire(failingConn{a}, time.Second)
	if _, err := w.WriteBuffers([][]byte{{1}, {2}}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	<-w.done
	if _, err := w.WriteBuffers([][]byte{{1}, {2}}); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	w.Close()
}
