package rpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"

	"eddy.example/rpc/xdr"
)

// TestCancelPending ends the context of a call whose reply comes later.
func TestCancelPending(t *testing.T) {
	c, server := scripted(t, ClientConfig{})
	ctx, cancel := context.WithCancelCause(background)
	var got word
	done := start(func() error { return c.Call(ctx, 1, 2, 3, nil, nil, &got) })
	late := binary.BigEndian.Uint32(receive(t, server))
	cancel(errors.New("the context's cause is not its error"))
	if err := <-done; err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	done = start(func() error { return c.Call(background, 1, 2, 3, nil, nil, nil) })
	xid := binary.BigEndian.Uint32(receive(t, server))
	send(t, server, xdr.AppendUint32(appendAccepted(nil, late, SUCCESS), 7))
	send(t, server, appendAccepted(nil, xid, SUCCESS))
	if err := <-done; err != nil || got != 0 {
		t.Errorf("next call: %v; the cancelled one has the result %d", err, got)
	}
}

// TestCancelWithinPayload ends the context of a call of which half the payload
// has arrived, and goes on with the other half later.
func TestCancelWithinPayload(t *testing.T) {
	for _, arrived := range []int{12, 20, 100, 5000, 49_000} {
		c, server := scripted(t, ClientConfig{})
		ctx, cancel := context.WithCancel(background)
		consumed := make(chan struct{})
		res := &signalling{consumed: consumed}
		into := make([]byte, 50_000)
		done := start(func() error { _, err := c.CallReceive(ctx, 1, 2, 3, nil, nil, res, into); return err })
		reply := appendAccepted(nil, binary.BigEndian.Uint32(receive(t, server)), SUCCESS)
		reply = xdr.AppendOpaque(xdr.AppendUint32(reply, 1), bytes.Repeat([]byte{1}, len(into)))
		b := record(reply)
		server.Write(b[:arrived])
		if arrived >= 5000 {
			<-consumed // its head; now the payload is being received
		}
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("%d bytes have arrived: %v", arrived, err)
		}
		// The buffer is the caller's again: under the race detector a late
		// write is seen.
		clear(into)
		server.Write(b[arrived:])
		done = start(func() error { return c.Call(background, 1, 2, 3, nil, nil, nil) })
		send(t, server, appendAccepted(nil, binary.BigEndian.Uint32(receive(t, server)), SUCCESS))
		if err := <-done; err != nil {
			t.Errorf("%d bytes have arrived, next call: %v", arrived, err)
		}
		if !bytes.Equal(into, make([]byte, len(into))) {
			t.Errorf("%d bytes have arrived: the buffer was written to after the call", arrived)
		}
	}
}

// signalling tells when the results have been looked at.
type signalling struct {
	readResult
	consumed chan struct{}
}

func (s *signalling) ConsumeXDRHead(b []byte) (uint32, []byte, error) {
	defer close(s.consumed)
	return s.readResult.ConsumeXDRHead(b)
}

// stuck returns a client one payload of which is half in a pipe that nobody
// reads.
func stuck(t *testing.T) (c *Client, server net.Conn, cancel context.CancelFunc, done <-chan error) {
	c, server = scripted(t, ClientConfig{})
	ctx, cancel := context.WithCancel(background)
	done = start(func() error {
		return c.CallSend(ctx, 1, 2, 3, nil, nothing{}, bytes.Repeat([]byte{1}, 1<<20), nil)
	})
	// The pipe holds 256 KiB; when it has given one byte away it is full again
	// or has not yet been.
	io.ReadFull(server, make([]byte, 1))
	return c, server, cancel, done
}

// awaitPending returns when n calls are pending.
func awaitPending(c *Client, n int) {
	for pending := -1; pending != n; runtime.Gosched() {
		c.mu.Lock()
		pending = len(c.pending)
		c.mu.Unlock()
	}
}

// TestCancelQueuedPayload ends the context of a call whose payload waits for
// another one to be sent, and of one without payload.
func TestCancelQueuedPayload(t *testing.T) {
	c, server, _, first := stuck(t)
	ctx, cancel := context.WithCancel(background)
	payload := bytes.Repeat([]byte{2}, 1000)
	second := start(func() error { return c.CallSend(ctx, 1, 2, 4, nil, nothing{}, payload, nil) })
	third := start(func() error { return c.Call(ctx, 1, 2, 5, nil, opaque("abc"), nil) })
	awaitPending(c, 3)
	cancel()
	for _, done := range []<-chan error{second, third} {
		if err := <-done; err != context.Canceled {
			t.Error(err)
		}
	}
	clear(payload)
	// What has begun is sent to its end, with the bytes that were in payload
	// then.
	io.ReadFull(server, make([]byte, 3)) // the rest of the first mark
	sizes := map[uint32][]byte{}
	call := make([]byte, 40+4+1<<20)
	io.ReadFull(server, call)
	sizes[3] = call
	for range 2 {
		m := receive(t, server)
		sizes[binary.BigEndian.Uint32(m[20:])] = m
	}
	if got := sizes[4][44:]; !bytes.Equal(got, bytes.Repeat([]byte{2}, 1000)) {
		t.Errorf("the payload was sent as %x...", got[:16])
	}
	send(t, server, appendAccepted(nil, binary.BigEndian.Uint32(call), SUCCESS))
	if err := <-first; err != nil {
		t.Errorf("the first call: %v", err)
	}
}

// TestCancelWithinSend ends the context of a call whose payload is half sent:
// it returns, and the connection ends.
func TestCancelWithinSend(t *testing.T) {
	c, _, cancel, first := stuck(t)
	second := start(func() error { return c.Call(background, 1, 2, 5, nil, nil, nil) })
	third := start(func() error { return c.CallSend(background, 1, 2, 5, nil, nothing{}, make([]byte, 100), nil) })
	awaitPending(c, 3)
	cancel()
	if err := <-first; err != context.Canceled {
		t.Errorf("the first call: %v", err)
	}
	for _, done := range []<-chan error{second, third} {
		if err := <-done; !errors.Is(err, ErrConnection) {
			t.Errorf("another call: %v", err)
		}
	}
}

// TestCancelUnsent has callers whose calls a TCP connection does not take.
func TestCancelUnsent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	c := clientOver(t, conn)
	ctx, cancel := context.WithCancel(background)
	var calls []<-chan error
	for range 200 { // 12 MiB
		calls = append(calls, start(func() error { return c.Call(ctx, 1, 2, 3, nil, opaque(make([]byte, 60<<10)), nil) }))
	}
	awaitPending(c, len(calls))
	cancel()
	for _, done := range calls {
		if err := <-done; err != context.Canceled {
			t.Error(err)
		}
	}
}

// TestReplyBeforePayload has a server that answers a call before it has read
// all of it: the payload stays in use until it is sent.
func TestReplyBeforePayload(t *testing.T) {
	c, server := scripted(t, ClientConfig{})
	payload := bytes.Repeat([]byte{1}, 1<<20)
	done := start(func() error {
		err := c.CallSend(background, 1, 2, 3, nil, nothing{}, payload, nil)
		clear(payload)
		return err
	})
	head := make([]byte, 4+40+4)
	io.ReadFull(server, head)
	send(t, server, appendAccepted(nil, binary.BigEndian.Uint32(head[4:]), SUCCESS))
	got := make([]byte, len(payload))
	io.ReadFull(server, got)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !bytes.Equal(got, bytes.Repeat([]byte{1}, 1<<20)) {
		t.Error("the payload was changed before it was sent")
	}
}

// TestCancelAfterReply ends the context of a call that was answered before all
// of it was sent, which will never be.
func TestCancelAfterReply(t *testing.T) {
	c, server, cancel, done := stuck(t)
	head := make([]byte, 3+4)
	io.ReadFull(server, head)
	xid := binary.BigEndian.Uint32(head[3:])
	var other word
	second := start(func() error { return c.Call(background, 1, 2, 5, nil, nil, &other) })
	awaitPending(c, 2)
	send(t, server, appendAccepted(nil, xid, SUCCESS))
	awaitPending(c, 1)
	cancel()
	if err := <-done; err != nil && err != context.Canceled {
		t.Error(err)
	}
	if err := <-second; !errors.Is(err, ErrConnection) {
		t.Errorf("another call: %v", err)
	}
}

// TestCancelAnytime ends contexts at random moments. After each call its
// buffers are written to: whoever still uses them is found by the race
// detector, or by what arrives.
func TestCancelAnytime(t *testing.T) {
	p := newToy()
	p.add(procRead, Proc{}, reader(8))
	p.add(procWrite, Proc{}, func(c *Call) error {
		b, _, err := xdr.ConsumeOpaque(c.Args, 1<<20)
		if err != nil {
			return ErrGarbageArgs
		}
		for i := range b {
			if b[i] != b[0] {
				return ErrSystem
			}
		}
		c.Reply(nil)
		return nil
	})
	w := serve(t, new(Server), p)
	addr := w.listen()
	for name, dial := range map[string]func() net.Conn{"pipe": w.pipe, "TCP": func() net.Conn { return w.dial(addr) }} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			c := clientOver(t, dial())
			current := func() *Client {
				mu.Lock()
				defer mu.Unlock()
				c.mu.Lock()
				failed := c.err != nil
				c.mu.Unlock()
				if failed {
					c = clientOver(t, dial())
				}
				return c
			}
			var callers sync.WaitGroup
			for i := range 8 {
				callers.Go(func() {
					rng := rand.New(rand.NewPCG(1, uint64(i)))
					memory := make([]byte, 200_000)
					for range 30 {
						ctx, cancel := context.WithCancel(background)
						turns := rng.IntN(100)
						stop := start(func() error {
							for range turns {
								runtime.Gosched()
							}
							cancel()
							return nil
						})
						n := 1 + rng.IntN(len(memory)-1)
						var err error
						if rng.IntN(2) == 0 {
							fill(memory[:n], byte(n))
							err = current().CallSend(ctx, toyProg, 2, procWrite, nil, nothing{}, memory[:n], nil)
						} else {
							var got int
							got, err = current().CallReceive(ctx, toyProg, 2, procRead, nil, word(n), new(readResult), memory)
							if err == nil && (got != n || memory[n-1] != byte(n-1)) {
								t.Errorf("READ of %d bytes: %d", n, got)
							}
						}
						fill(memory, 0xee)
						if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, ErrConnection) {
							t.Error(err)
						}
						<-stop
					}
				})
			}
			callers.Wait()
		})
	}
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}
