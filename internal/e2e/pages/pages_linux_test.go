//go:build !race

package pages

import (
	"net"
	"testing"
	"time"

	"eddy.example/internal/e2e/serve"
	"eddy.example/internal/tunpeer"
	"eddy.example/xprt"
)

func TestLateACKs(t *testing.T) {
	p := tunpeer.New(t, tunpeer.Config{AckDelay: 40 * time.Millisecond, MTU: 65000})
	l := p.Listen(t)
	x := newLoad(t, nil, l, func() (net.Conn, error) { return p.Dial(ctx, l.Addr().String()) })
	x.count(96, 0.05)
}

func TestNoDelay(t *testing.T) {
	l := loopback(t)
	x := newLoad(t, nil, l, dialTo(l))
	x.count(512, 0.005)
}

// Whenever the load stops, after ten seconds each worker holds next to nothing.
func TestIdle(t *testing.T) {
	const maxIdle = 64 << 10
	for _, before := range []time.Duration{0, 400 * time.Millisecond, 4900 * time.Millisecond, 5 * time.Second, 5100 * time.Millisecond} {
		t.Run(before.String(), func(t *testing.T) {
			clock := new(serve.Clock)
			l := loopback(t)
			x := newLoad(t, clock, l, dialTo(l))
			x.read(2)
			if before > 0 {
				x.pass(clock, before)
			}
			x.read(2)
			until(func() bool { // the last ACK has come
				p := serve.Pages(x.server)
				return p.InFlight+p.Detached == 0
			})
			x.pass(clock, 10*time.Second)
			for i, s := range x.server.Stats().Transport.Pools {
				if s.Held*4096 > maxIdle {
					t.Errorf("worker %d holds %d pages: %+v", i, s.Held, s)
				}
				if s.Trimmed == 0 {
					t.Errorf("worker %d has given nothing back: %+v", i, s)
				}
			}
		})
	}
}

// pass moves the clock by d, and by a tick more so that those before have gone
// to the workers, which are seen to take part every second.
func (x *load) pass(clock *serve.Clock, d time.Duration) {
	x.t.Helper()
	const tick = 100 * time.Millisecond
	for d += tick; d > 0; d -= time.Second {
		clock.Advance(min(d, time.Second))
		x.meetWorkers()
	}
}

// meetWorkers waits until each worker has handled what it was told before, and
// costs no pages: a connection for each comes and goes.
func (x *load) meetWorkers() {
	x.t.Helper()
	before := x.server.Stats().Transport
	var guests [workers]net.Conn
	for i := range guests {
		var err error
		if guests[i], err = x.dial(); err != nil {
			x.t.Fatal(err)
		}
	}
	until(func() bool { return x.server.Stats().Transport.Accepted == before.Accepted+workers })
	for _, c := range guests {
		c.Close()
	}
	until(func() bool { return x.server.Stats().Transport.Connections == before.Connections })
}

func loopback(t *testing.T) net.Listener {
	t.Helper()
	l, err := xprt.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dialTo(l net.Listener) func() (net.Conn, error) {
	return func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) }
}
