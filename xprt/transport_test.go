package xprt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestShutdown stops while calls are with the handler: they are answered, all of it
// arrives, and nothing new is taken.
func TestShutdown(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		k := newKeeper()
		clock := newFakeClock()
		s := start(t, network, Config{Workers: 2, Clock: clock}, k)
		idle, busy := s.dial(), s.dial()
		send(t, idle, pattern(10))
		until(t, func() bool { return k.count() == 1 })
		k.letGo(1)
		receive(t, idle)
		var sending sync.WaitGroup
		sending.Go(func() {
			for range 5 {
				send(t, busy, pattern(300_000))
			}
		})
		until(t, func() bool { return k.count() == 5 })

		stopped := make(chan error, 1)
		go func() { stopped <- s.Shutdown(context.Background()) }()
		until(t, func() bool { return s.closing.Load() })
		expectEnd(t, idle)
		sending.Wait()
		if len(stopped) > 0 {
			t.Error("stopped with calls in flight")
		}
		k.letGo(5)
		for range 5 {
			if !bytes.Equal(receive(t, busy), pattern(300_000)) {
				t.Error("another reply")
			}
		}
		clock.run(t)
		expectEnd(t, busy)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if err := s.Serve(closedListener{}); !errors.Is(err, ErrClosed) {
			t.Error("Serve:", err)
		}
		server, _ := Pipe()
		if err := s.ServeConn(server); !errors.Is(err, ErrClosed) {
			t.Error("ServeConn:", err)
		}
		s.check()
	})
}

type closedListener struct{ net.Listener }

func (closedListener) Close() error { return nil }

// TestShutdownRunsOut aborts what does not end in time; Close waits for the handler.
func TestShutdownRunsOut(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		k := newKeeper()
		s := start(t, network, Config{Workers: 1}, k)
		c := s.dial()
		send(t, c, pattern(10), pattern(100_000))
		until(t, func() bool { return k.count() == 2 })
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		expectEnd(t, c)
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		<-k.kept[0].Conn.Context().Done()
		if len(closed) > 0 {
			t.Error("closed with calls in flight")
		}
		k.letGo(2)
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

// TestHalfClose closes the sending side after asking: the answers still come.
func TestHalfClose(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		s := start(t, network, Config{Workers: 1, MaxCalls: 3}, read)
		c := s.dial()
		for i := range uint32(20) {
			send(t, c, readCall(i, 100_000))
		}
		c.(interface{ CloseWrite() error }).CloseWrite()
		for range 20 {
			b := receive(t, c)
			checkPayload(t, b, binary.BigEndian.Uint32(b), 100_000)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	})
}

// TestContext ends with the connection, for whatever reason it ends.
func TestContext(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		for _, test := range []struct {
			name string
			end  func(c net.Conn, r *Record)
			want error
		}{
			{"closed", func(c net.Conn, r *Record) { c.Close() }, context.Canceled},
			{"aborted", func(c net.Conn, r *Record) { r.Conn.Abort() }, ErrAborted},
			{"nonsense", func(c net.Conn, r *Record) { c.Write(mark(1<<31-1, true)) }, errTooLong},
		} {
			k := newKeeper()
			s := start(t, network, Config{Workers: 1}, k)
			c := s.dial()
			send(t, c, pattern(10))
			until(t, func() bool { return k.count() == 1 })
			test.end(c, k.kept[0])
			ctx := k.kept[0].Conn.Context()
			<-ctx.Done()
			if err := context.Cause(ctx); !errors.Is(err, test.want) {
				t.Errorf("%s: %v", test.name, err)
			}
			k.letGo(1)
			expectEnd(t, c)
			until(t, func() bool { return s.Stats().Connections == 0 })
		}
	})
}

// TestOpenedClosed counts the calls for connections, and that Closed is the last one.
func TestOpenedClosed(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		var opened, closed int
		k := newKeeper()
		k.opened = func(c *Conn) {
			opened++
			c.Attachment = "mine"
		}
		k.closed = func(c *Conn) {
			closed++
			if c.Attachment != "mine" || c.calls != 0 {
				t.Error("closed with calls, or another attachment")
			}
		}
		s := start(t, network, Config{Workers: 1}, k)
		a, b := s.dial(), s.dial()
		send(t, a, pattern(10), pattern(10))
		send(t, b, pattern(10))
		until(t, func() bool { return k.count() == 3 })
		a.Close()
		b.Close()
		s.onWorker(func(*worker) {
			if opened != 2 || closed != 0 {
				t.Errorf("opened %d, closed %d", opened, closed)
			}
		})
		k.letGo(3)
		until(t, func() bool { return s.Stats().Connections == 0 })
		s.Close()
		if opened != 2 || closed != 2 {
			t.Errorf("opened %d, closed %d", opened, closed)
		}
	})
}

func TestConnSaysWhatItIs(t *testing.T) {
	for _, test := range []struct{ network, want string }{
		{"tcp", "tcp"}, {"unix", "unix"}, {"pipe", "pipe"}, {"tcp portable", "tcp"}, {"unix portable", "unix"},
	} {
		k := newKeeper()
		s := start(t, test.network, Config{}, k)
		c := s.dial()
		send(t, c, pattern(10))
		until(t, func() bool { return k.count() == 1 })
		conn := k.kept[0].Conn
		if got := conn.Network(); got != test.want || conn.Datagram() {
			t.Errorf("%s is %s", test.network, got)
		}
		if conn.RemoteAddr() != addrPort(c.LocalAddr()) || conn.LocalAddr() != addrPort(c.RemoteAddr()) {
			t.Errorf("%s: from %v to %v", test.network, conn.RemoteAddr(), conn.LocalAddr())
		}
		p, ok := conn.Peer()
		if ok != (test.want == "unix") || ok && int(p.UID) != os.Getuid() || ok && runtime.GOOS == "linux" && p.PID != os.Getpid() {
			t.Errorf("%s: peer %+v, %v", test.network, p, ok)
		}
		k.letGo(1)
		receive(t, c)
	}
}

// TestForeignListener serves one that makes Multipath TCP sockets, as net.Listen does.
func TestForeignListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, "", Config{ZeroCopy: ZeroCopyAlways}, read)
	s.served.Go(func() { s.Serve(l) })
	for _, multipath := range []bool{false, true} {
		var d net.Dialer
		d.SetMultipathTCP(multipath)
		c, err := d.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint32(20) {
			send(t, c, readCall(i, 65536))
			checkPayload(t, receive(t, c), i, 65536)
		}
		c.Close()
	}
}

// TestStuckPeerDelaysNobody: while one connection takes nothing, calls on others of the
// same worker are answered.
func TestStuckPeerDelaysNobody(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		s := start(t, network, Config{Workers: 1}, read)
		stuck := s.dial()
		for i := range uint32(16) {
			send(t, stuck, readCall(i, 1<<20))
		}
		for range 5 {
			c := s.dial()
			for i := range uint32(200) {
				send(t, c, readCall(i, 4096))
				checkPayload(t, receive(t, c), i, 4096)
			}
		}
		// And its replies come when it takes them.
		for range 16 {
			b := receive(t, stuck)
			checkPayload(t, b, binary.BigEndian.Uint32(b), 1<<20)
		}
	})
}

// TestFairness has one connection with calls without end; another one is served all the same.
func TestFairness(t *testing.T) {
	s := start(t, "tcp", Config{Workers: 1}, echo)
	greedy, other := s.dial(), s.dial()
	var running sync.WaitGroup
	running.Go(func() {
		b := bytes.Repeat(encode(pattern(64)), 1000)
		for {
			if _, err := greedy.Write(b); err != nil {
				return
			}
		}
	})
	running.Go(func() { io.Copy(io.Discard, greedy) })
	for range 100 {
		send(t, other, pattern(100))
		receive(t, other)
	}
	greedy.Close()
	running.Wait()
}

// TestStillClock is that an injected clock nobody moves does not keep an
// idle transport from closing.
func TestStillClock(t *testing.T) {
	s := start(t, "tcp", Config{Clock: newFakeClock(), IdleTimeout: time.Hour}, echo)
	c := s.dial()
	send(t, c, pattern(10))
	receive(t, c)
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}
