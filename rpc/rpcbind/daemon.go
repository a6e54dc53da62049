package rpcbind

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"

	"go.uber.org/zap"

	"eddy.example/rpc"
	"eddy.example/xprt"
)

// Daemon serves program 100000, and nothing else, on listeners of its own: it
// is the port mapper of a host that has no other. What it tells is itself and
// then its Server's Entries. All methods may be called concurrently.
type Daemon struct {
	calls rpc.Server
	xprt  *xprt.Transport

	mu        sync.Mutex
	listening []Entry
}

// NewDaemon returns a Daemon that tells what s tells; log may be nil. It has to
// be closed.
func NewDaemon(s Server, log *zap.Logger) *Daemon {
	d := new(Daemon)
	d.calls.Log = log
	entries := s.Entries
	s.Entries = func() []Entry { return append(d.own(), entries()...) }
	if err := d.calls.Register(&s); err != nil {
		panic(err) // nothing else is registered
	}
	// There is little to do and no payload.
	d.xprt = xprt.New(xprt.Config{Workers: 1, MaxConns: 256, RecvBudget: 1 << 20, Log: log}, &d.calls)
	return d
}

func (d *Daemon) own() []Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.listening)
}

func (d *Daemon) listen(a net.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.listening = append(d.listening, Listening(a, RPCBPROG, PMAPVERS, RPCBVERS4)...)
}

// Serve accepts connections from l until l fails or the Daemon is closed; the
// error wraps xprt.ErrClosed then. It closes l.
func (d *Daemon) Serve(l net.Listener) error {
	d.listen(l.Addr())
	return d.xprt.Serve(l)
}

// ServePacket serves the datagrams that arrive at pc, as Serve does.
func (d *Daemon) ServePacket(pc net.PacketConn) error {
	d.listen(pc.LocalAddr())
	return d.xprt.ServePacket(pc)
}

// Close ends all that is served and waits for it.
func (d *Daemon) Close() error {
	return errors.Join(d.xprt.Close(), d.calls.Shutdown(context.Background()))
}
