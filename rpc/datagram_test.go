package rpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"testing"
)

// packets serves UDP on a loopback address and returns it.
func (w *world) packets() string {
	w.t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.transport.ServePacket(pc)
	}()
	w.t.Cleanup(func() {
		w.transport.Close()
		<-done
	})
	return pc.LocalAddr().String()
}

func udp(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func receiveDatagram(t testing.TB, c net.Conn) []byte {
	t.Helper()
	b := make([]byte, 64<<10)
	n, err := c.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return b[:n]
}

func exchangeDatagram(t testing.TB, c net.Conn, message []byte) []byte {
	t.Helper()
	if _, err := c.Write(message); err != nil {
		t.Fatal(err)
	}
	return receiveDatagram(t, c)
}

func TestDatagrams(t *testing.T) {
	p := newToy().add(procRead, Proc{}, reader(8))
	blocker(p)
	w := serve(t, new(Server), p)
	addr := w.packets()
	c := clientOver(t, udp(t, addr))
	for _, n := range []int{0, 4, 1000, 5000, 30_000} {
		args, got := opaque(bytes.Repeat([]byte{5}, n)), opaque(nil)
		if err := c.Call(background, toyProg, 2, procEcho, nil, args, &got); err != nil || !bytes.Equal(args, got) {
			t.Errorf("ECHO of %d bytes: %d, %v", n, len(got), err)
		}
	}
	into := make([]byte, 32<<10)
	for _, n := range []int{1, 2, 3, 4, 4097, 32 << 10} {
		got, err := c.CallReceive(background, toyProg, 2, procRead, nil, word(n), new(readResult), into)
		if err != nil || got != n || into[n-1] != byte(n-1) {
			t.Errorf("READ of %d bytes: %d, %v", n, got, err)
		}
	}
	if err := c.Call(background, toyProg, 2, procEcho, nil, opaque(make([]byte, 40_000)), nil); !errors.Is(err, ErrSystem) {
		t.Errorf("a reply that no datagram holds: %v", err)
	}
	if err := c.Call(background, toyProg, 2, procSilent, nil, nil, nil); err != nil {
		t.Errorf("a call that waits: %v", err)
	}
	if err := c.Call(background, toyProg, 1, procEcho, nil, nil, nil); !errors.Is(err, ErrProgMismatch) {
		t.Error(err)
	}

	// What is no call is not answered, and does no harm.
	raw := udp(t, addr)
	for _, b := range [][]byte{nil, {1}, []byte("GET / HTTP/1.1\r\n\r\n"), appendAccepted(nil, 1, SUCCESS), record(callBytes(1, toyProg, 2, 0))} {
		raw.Write(b)
	}
	wantReply(t, "after noise", exchangeDatagram(t, raw, callBytes(2, toyProg, 2, 0)), appendAccepted(nil, 2, SUCCESS))
}

// TestDatagramDuplicates sends a call again, as a client does that waits too
// short: from the same port and from another one, while it runs and later.
func TestDatagramDuplicates(t *testing.T) {
	p := newCounter()
	release := p.stop()
	w := serve(t, new(Server), p)
	addr := w.packets()
	call, null := callBytes(1, toyProg, 2, procOnce), callBytes(2, toyProg, 2, 0)
	first, second := udp(t, addr), udp(t, addr)
	first.Write(call)
	<-p.entered
	for range 3 {
		first.Write(call)
		second.Write(call)
	}
	for _, c := range []net.Conn{first, second} {
		// All of them have been seen when NULL is answered.
		if got := exchangeDatagram(t, c, null); binary.BigEndian.Uint32(got) != 2 {
			t.Fatalf("answered too early: %x", got)
		}
	}
	close(release)
	for _, c := range []net.Conn{first, second} {
		wantReply(t, "when it ends", receiveDatagram(t, c), run(1, 1))
		wantReply(t, "and nothing more", exchangeDatagram(t, c, null), appendAccepted(nil, 2, SUCCESS))
		wantReply(t, "later", exchangeDatagram(t, c, call), run(1, 1))
	}
	wantReply(t, "from a third port", exchangeDatagram(t, udp(t, addr), call), run(1, 1))
	wantReply(t, "over TCP", exchange(t, w.dial(w.listen()), call), run(1, 1))
}

// TestDatagramsShareGoroutines blocks as many datagrams as possible, from
// several ports.
func TestDatagramsShareGoroutines(t *testing.T) {
	const calls = 40
	o := &begins{want: calls, all: make(chan struct{})}
	p := newToy()
	release := blocker(p)
	w := serve(t, &Server{Waiters: 8, Observer: o}, p)
	addr := w.packets()
	for i := range uint32(calls) {
		udp(t, addr).Write(callBytes(i, toyProg, 2, procBlock))
	}
	<-o.all
	if err := clientOver(t, w.dial(w.listen())).Call(background, toyProg, 2, procSilent, nil, nil, nil); err != nil {
		t.Error(err)
	}
	close(release)
}
