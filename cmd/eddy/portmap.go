package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	eddy "eddy.example"
	"eddy.example/rpc/rpcbind"
	"eddy.example/xprt"
)

// portmapTime is how long the system's rpcbind may take.
const portmapTime = 10 * time.Second

// portmapper lets clients find the server's port: by port 111 of its own, or
// by the rpcbind of this machine. nil does nothing.
type portmapper struct {
	log     *zap.Logger
	addrs   int      // that the server serves
	sockets *sockets // on port 111; nil: the system's rpcbind is used
	serving sync.WaitGroup
	daemon  *rpcbind.Daemon
	entered []rpcbind.Entry
}

func newPortmapper(d *daemon) (*portmapper, error) {
	p := &portmapper{log: d.log.Logger, addrs: len(d.sockets.streams) + len(d.sockets.packets)}
	switch d.cfg.Rpcbind {
	case "system":
		return p, nil
	case "own":
		host, _, err := net.SplitHostPort(d.sockets.streams[0].Addr().String())
		if err != nil {
			return nil, errors.New("rpcbind own needs a TCP socket: it answers on port 111 of its address")
		}
		addr := net.JoinHostPort(host, "111")
		l, err := xprt.Listen(context.Background(), "tcp", addr)
		if err != nil {
			return nil, portmapHint(err, addr)
		}
		pc, err := net.ListenPacket("udp", addr)
		if err != nil {
			l.Close()
			return nil, portmapHint(err, addr)
		}
		p.sockets = &sockets{[]net.Listener{l}, []net.PacketConn{pc}}
		return p, nil
	}
	return nil, nil
}

func portmapHint(err error, addr string) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use, by rpcbind as a rule: register there with --rpcbind system, or stop it", addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s is not allowed for this user: run as root, or leave --rpcbind off and tell clients the port", addr)
	}
	return listenHint(err, addr, "--addr")
}

// start tells where server, whose sockets are being served, can be found.
func (p *portmapper) start(server *eddy.Server) error {
	if p == nil {
		return nil
	}
	if p.sockets != nil {
		s, err := server.Rpcbind()
		if err != nil {
			return err
		}
		p.daemon = rpcbind.NewDaemon(s, p.log)
		p.serving.Go(func() { p.ended(p.daemon.Serve(p.sockets.streams[0])) })
		p.serving.Go(func() { p.ended(p.daemon.ServePacket(p.sockets.packets[0])) })
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), portmapTime)
	defer cancel()
	entries, err := p.services(ctx, server)
	if err != nil {
		return err
	}
	if err := rpcbind.Register(ctx, entries); err != nil {
		if errors.Is(err, rpcbind.ErrTaken) {
			return fmt.Errorf("%w: stop the server that is registered, or leave --rpcbind off", err)
		}
		return fmt.Errorf("%w: start it (systemctl start rpcbind), or use --rpcbind own or off", err)
	}
	p.entered = entries
	return nil
}

// services waits until all sockets are being served and tells what they serve.
func (p *portmapper) services(ctx context.Context, server *eddy.Server) ([]rpcbind.Entry, error) {
	for {
		entries := server.Services()
		seen := make(map[string]bool)
		for _, e := range entries {
			seen[e.Network+" "+e.Addr.String()] = true
		}
		if len(seen) >= p.addrs {
			return entries, nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil, errors.New("nothing that rpcbind could tell is served: it tells Internet addresses only")
		}
	}
}

func (p *portmapper) ended(err error) {
	if !errors.Is(err, xprt.ErrClosed) {
		p.log.Error("port 111 is served no longer", zap.Error(err))
	}
}

// stop keeps further clients from finding the server.
func (p *portmapper) stop() {
	if p == nil {
		return
	}
	if p.daemon != nil {
		p.daemon.Close()
		p.serving.Wait()
	}
	if len(p.entered) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), portmapTime)
		defer cancel()
		if err := rpcbind.Unregister(ctx, p.entered); err != nil {
			p.log.Warn("still registered with rpcbind", zap.Error(err))
		}
		p.entered = nil
	}
}

// close gives the sockets back.
func (p *portmapper) close() {
	if p != nil {
		p.sockets.close()
	}
}
