package rpc

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"
	"testing"
)

// blocker adds a procedure that stops until release is closed. In versions
// above 2 it says so beforehand.
func blocker(p *toy) (release chan struct{}) {
	release = make(chan struct{})
	p.add(procBlock, Proc{}, func(c *Call) error {
		if !c.MayWait {
			return ErrWouldBlock
		}
		<-release
		c.Reply(nil)
		return nil
	})
	// A procedure that always has to wait, but not for release.
	p.add(procSilent, Proc{}, func(c *Call) error {
		if !c.MayWait {
			return ErrWouldBlock
		}
		c.Reply(nil)
		return nil
	})
	return release
}

// replies receives replies, in any order, until every one of the XIDs from
// first on has come.
func replies(t *testing.T, c net.Conn, first uint32, n int) {
	t.Helper()
	seen := make([]bool, n)
	for range n {
		xid := binary.BigEndian.Uint32(receive(t, c))
		if i := xid - first; i >= uint32(n) || seen[i] {
			t.Fatalf("XID %d is not awaited", xid)
		} else {
			seen[i] = true
		}
	}
}

func TestOneBlockedCallDelaysNoOther(t *testing.T) {
	p := newToy()
	release := blocker(p)
	w := serve(t, new(Server), p)
	for name, c := range map[string]net.Conn{"pipe": w.pipe(), "TCP": w.dial(w.listen())} {
		t.Run(name, func(t *testing.T) {
			send(t, c, callBytes(0, toyProg, 2, procBlock))
			for _, proc := range []uint32{0, procEcho, procSilent} {
				go func() {
					for i := range uint32(1000) {
						c.Write(record(callBytes(1000+i, toyProg, 2, proc)))
					}
				}()
				replies(t, c, 1000, 1000)
			}
		})
		defer replies(t, c, 0, 1)
	}
	close(release)
}

// begins counts calls and tells when there were as many as awaited.
type begins struct {
	n    atomic.Int64
	want int64
	all  chan struct{}
}

func (b *begins) Begin(*Call) int64 {
	if b.n.Add(1) == b.want {
		close(b.all)
	}
	return 0
}

func (b *begins) End(*Call, int64, Status) {}

func TestBlockedConnectionsDelayNoOther(t *testing.T) {
	const conns, each = 64, 256
	o := &begins{want: conns * each, all: make(chan struct{})}
	p := newToy()
	release := blocker(p)
	w := serve(t, &Server{Observer: o}, p)
	addr := w.listen()
	blocked := make([]net.Conn, conns)
	for i := range blocked {
		blocked[i] = w.dial(addr)
		var b []byte
		for xid := range uint32(each) {
			b = append(b, record(callBytes(xid, toyProg, 2, procBlock))...)
		}
		if _, err := blocked[i].Write(b); err != nil {
			t.Fatal(err)
		}
	}
	<-o.all
	c := w.dial(addr)
	for _, proc := range []uint32{procEcho, procSilent} {
		for i := range uint32(1000) {
			exchange(t, c, callBytes(i, toyProg, 2, proc))
		}
	}
	close(release)
	for _, c := range blocked {
		replies(t, c, 0, each)
	}
}

// TestDisconnect ends a connection with a call of each kind being served: only
// that which changes nothing is cancelled.
func TestDisconnect(t *testing.T) {
	entered, ended, finish := make(chan uint32), make(chan error, 4), make(chan struct{})
	wait := func(c *Call) error {
		if !c.MayWait {
			return ErrWouldBlock
		}
		entered <- c.Proc
		if c.Proc == 10 {
			<-c.Context().Done()
			ended <- c.Context().Err()
			return c.Context().Err()
		}
		<-finish
		ended <- c.Context().Err()
		c.Reply(nil)
		return nil
	}
	p := newToy()
	p.add(10, Proc{ReadOnly: true}, wait).add(11, Proc{}, wait).add(12, Proc{Cached: true}, wait).add(13, Proc{Cached: true, ReadOnly: true}, wait)
	s := new(Server)
	w := serve(t, s, p)
	c := w.dial(w.listen())
	for proc := uint32(10); proc <= 13; proc++ {
		send(t, c, callBytes(proc, toyProg, 2, proc))
		<-entered
	}
	c.Close()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("context of the call that changes nothing: %v", err)
	}
	close(finish)
	for range 3 {
		if err := <-ended; err != nil {
			t.Errorf("context of a call that changes something: %v", err)
		}
	}
}

// TestShutdown drains what runs, and ends what does not.
func TestShutdown(t *testing.T) {
	entered := make(chan struct{})
	p := newToy().add(2, Proc{}, func(c *Call) error {
		if !c.MayWait {
			return ErrWouldBlock
		}
		close(entered)
		<-c.Context().Done()
		return ErrDrop
	})
	s := new(Server)
	w := serve(t, s, p)
	c := w.pipe()
	send(t, c, callBytes(1, toyProg, 2, 2))
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a call that does not end: %v", err)
	}
	if err := s.Shutdown(context.Background()); err != nil {
		t.Errorf("after its context has ended: %v", err)
	}
}
