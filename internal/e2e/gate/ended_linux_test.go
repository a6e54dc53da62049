//go:build !ungated

package gate

import (
	"errors"
	"testing"
	"time"

	"eddy.example/internal/e2e/serve"
	"eddy.example/rpc"
)

// ending is a way in which a connection ends while replies are on their way.
type ending struct {
	name     string
	unread   bool // the client does not read
	vanished bool // its host is gone
	end      func(b *bench, c *client)
}

var endings = []ending{
	{name: "client closes", end: (*bench).closeClient},
	{name: "client closes unread", unread: true, end: (*bench).closeClient},
	{name: "client resets", unread: true, end: (*bench).resetClient},
	{name: "client never reads", unread: true, end: (*bench).outlast},
	{name: "client vanishes", unread: true, vanished: true, end: (*bench).passTime},
	{name: "server shuts down", end: (*bench).shutDown},
	{name: "server closes", end: (*bench).closeServer},
	{name: "server closes unread", unread: true, end: (*bench).closeServer},
	{name: "server closes without client", unread: true, vanished: true, end: (*bench).closeServer},
}

func (b *bench) closeClient(c *client) { c.Close() }
func (b *bench) resetClient(c *client) { c.tap.Abort() }
func (b *bench) closeServer(*client)   { b.server.Close() }

func (b *bench) shutDown(*client) {
	if err := b.server.Shutdown(ctx); err != nil {
		b.t.Errorf("shutting down: %v", err)
	}
}

// passTime moves the clock until the server has had enough, or the kernel has found
// out that the host is gone.
func (b *bench) passTime(*client) {
	until(func() bool {
		b.clock.Advance(time.Second)
		return b.server.Stats().Transport.Connections == 0
	})
}

// outlast is passTime with a client that only a deadline can end.
func (b *bench) outlast(c *client) {
	b.passTime(c)
	if n := b.server.Stats().Transport.Timeouts; n != 1 {
		b.t.Errorf("%d connections ended by a deadline, want 1", n)
	}
}

// However a connection ends: no page stays in flight, none is given up, and
// none is held when the server has ended.
func TestNothingIsLeft(t *testing.T) {
	for _, n := range networks {
		for _, e := range endings {
			if e.vanished && !n.vanishes {
				continue
			}
			t.Run(n.name+"/"+e.name, func(t *testing.T) {
				b := newBench(t, n, new(serve.Clock))
				c := b.connect()
				if e.unread {
					<-c.tap.permit
				}
				before := b.server.Stats().Transport.Sends.ZeroCopy
				r := b.read(c)
				until(func() bool {
					p := serve.Pages(b.server)
					return p.InFlight+p.Lent > 0 && b.server.Stats().Transport.Sends.ZeroCopy > before
				})
				if e.vanished {
					b.link.vanish()
				}
				e.end(b, c)
				until(func() bool { return b.server.Stats().Transport.Connections == 0 })

				p := serve.Pages(b.server)
				if p.InFlight != 0 || p.Lent != 0 || p.Detached != 0 || p.GivenUp != 0 {
					t.Errorf("left: %+v", p)
				}
				b.server.Close()
				serve.Ended(t, b.server)

				c.Close()
				<-r.done
				for _, err := range b.verify(r) {
					if !errors.Is(err, rpc.ErrConnection) && !errors.Is(err, rpc.ErrClosed) {
						t.Error(err)
					}
				}
			})
		}
	}
}
