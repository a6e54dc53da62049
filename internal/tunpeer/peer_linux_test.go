package tunpeer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eddy.example/internal/zcsock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns both ends of a new connection between the peer and the
// kernel of the server's namespace.
func connect(t *testing.T, p *Peer) (peer *Conn, server net.Conn) {
	t.Helper()
	l := p.Listen(t)
	peer, err := p.Dial(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	server, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return peer, server
}

func zeroCopy(t *testing.T, c net.Conn) *zcsock.Conn {
	t.Helper()
	z, err := zcsock.Take(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { z.Close() })
	return z
}

// fill writes a text that no other generation has at any offset.
func fill(b []byte, generation int) {
	for i := 0; i+8 <= len(b); i += 8 {
		binary.BigEndian.PutUint64(b[i:], uint64(generation)<<32|uint64(i))
	}
}

func TestBothWays(t *testing.T) {
	for _, cfg := range []Config{
		{},
		{MTU: 65535},
		{AckDelay: 5 * time.Millisecond, DropOneIn: 20, Seed: 1, MTU: 16000},
	} {
		p := New(t, cfg)
		peer, server := connect(t, p)
		want := make([]byte, 3<<20)
		fill(want, 1)
		go func() {
			server.Write(want)
			server.(*net.TCPConn).CloseWrite()
		}()
		go func() {
			peer.Write(want)
			peer.CloseWrite()
		}()
		fromPeer := make(chan error, 1)
		go func() { fromPeer <- equal(server, want) }()
		if err := equal(peer, want); err != nil {
			t.Errorf("%+v: to the peer: %v", cfg, err)
		}
		if err := <-fromPeer; err != nil {
			t.Errorf("%+v: from the peer: %v", cfg, err)
		}
		s := p.Stats()
		for _, c := range []Count{s.ToPeer, s.FromPeer} {
			if c.Delivered == 0 || (c.Dropped != 0) != (cfg.DropOneIn != 0) || c.Vanished != 0 {
				t.Errorf("%+v: segments %+v", cfg, s)
			}
		}
	}
}

func equal(r io.Reader, want []byte) error {
	got, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return errors.New("the bytes differ")
	}
	return nil
}

func TestReceiveWindow(t *testing.T) {
	for _, window := range []int{64 << 10, 4 << 20} {
		p := New(t, Config{RecvWindow: window, MTU: 9000})
		_, server := connect(t, p)
		z := zeroCopy(t, server)
		if err := z.SetSendBuffer(32 << 20); err != nil {
			t.Fatal(err)
		}
		if _, err := z.Send(make([]byte, 8<<20)); err != nil {
			t.Fatal(err)
		}
		// The peer reads nothing, so the window is shut for good when the
		// kernel has started to probe it.
		var acked uint64
		for probes := uint8(0); probes == 0; time.Sleep(time.Millisecond) {
			info, err := z.Info()
			if err != nil {
				t.Fatal(err)
			}
			probes, acked = info.Probes, info.Bytes_acked
		}
		if acked < uint64(window)*3/4 || acked > uint64(window)*2 {
			t.Errorf("window %d: the peer took %d bytes", window, acked)
		}
	}
}

func TestAbort(t *testing.T) {
	p := New(t, Config{})
	peer, server := connect(t, p)
	peer.Abort()
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the server reads %v, want a reset", err)
	}
}

func TestCloseEndsTheStream(t *testing.T) {
	p := New(t, Config{})
	peer, server := connect(t, p)
	peer.Close()
	if _, err := server.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the server reads %v, want EOF", err)
	}
}

// What the peer had under way when it vanished holds up neither its Close nor
// the end of the test.
func TestVanishedPeerEnds(t *testing.T) {
	p := New(t, Config{})
	peer, server := connect(t, p)
	if _, err := server.Write([]byte("before")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(peer, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	p.Vanish()
	if _, err := peer.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	dialled := make(chan error)
	go func() {
		_, err := p.Dial(ctx, server.LocalAddr().String())
		dialled <- err
	}()
	cancel()
	if err := <-dialled; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled dial returns %v", err)
	}
}

func TestHeal(t *testing.T) {
	p := New(t, Config{})
	peer, server := connect(t, p)
	want := make([]byte, 1<<20)
	fill(want, 1)
	p.Vanish()
	go func() {
		server.Write(want)
		server.Close()
	}()
	for p.Stats().ToPeer.Vanished == 0 {
		time.Sleep(time.Millisecond)
	}
	p.Heal()
	if err := equal(peer, want); err != nil {
		t.Error(err)
	}
}

func TestDropsAreRepeatable(t *testing.T) {
	syn := make([]byte, 40)
	syn[0], syn[9], syn[33] = 0x45, 6, 0x02
	ack := bytes.Clone(syn)
	ack[33] = 0x10

	fate := func(cfg Config, stream uint64) (fate []bool) {
		d := newDirection(cfg, stream)
		for range 1000 {
			fate = append(fate, d.passes(ack, false))
			if !d.passes(syn, false) {
				t.Fatal("a SYN was dropped")
			}
		}
		if c := d.count(); c.Dropped < 25 || c.Dropped > 75 {
			t.Errorf("%d of 1000 dropped, want about 50", c.Dropped)
		}
		return fate
	}
	cfg := Config{DropOneIn: 20, Seed: 7}
	first := fate(cfg, 1)
	if !slices.Equal(first, fate(cfg, 1)) {
		t.Error("equal seeds drop different segments")
	}
	if slices.Equal(first, fate(cfg, 2)) {
		t.Error("both directions drop the same segments")
	}
	if cfg.Seed++; slices.Equal(first, fate(cfg, 1)) {
		t.Error("different seeds drop the same segments")
	}
}
