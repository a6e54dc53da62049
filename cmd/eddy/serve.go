package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.uber.org/zap"

	eddy "eddy.example"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
)

// drainTime is how long a server that was told to stop lets calls finish.
const drainTime = 10 * time.Second

type serveCmd struct {
	Addr          string         `default:"127.0.0.1:2049" placeholder:"HOST:PORT" help:"Where to listen, TCP and UDP (default ${default})."`
	Network       []netip.Prefix `placeholder:"CIDR" help:"A client network that may mount; may be repeated. Without it only this machine may."`
	InsecurePorts bool           `help:"Let in clients on ports above 1023, whoever they belong to."`
	NoRootSquash  bool           `help:"Let the clients' root be root here."`
	ReadOnly      bool           `help:"Refuse every change."`
	Workers       int            `placeholder:"N" help:"Event loops, each with up to 4 MiB of reply pages (default: one per CPU)."`
	ZeroCopy      xprt.ZeroCopy  `default:"auto" help:"MSG_ZEROCOPY for large replies: auto, always or never."`
}

// Run serves until the process is told to stop.
func (s *serveCmd) Run() error {
	log, err := zap.NewProduction()
	if err != nil {
		return err
	}
	l, err := xprt.Listen(context.Background(), "tcp", s.Addr)
	if err != nil {
		return listenHint(err, s.Addr)
	}
	pc, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		return listenHint(err, s.Addr)
	}
	tree, err := welcomeTree()
	if err != nil {
		return err
	}
	server := &eddy.Server{
		Exports:  []eddy.Export{s.export(tree)},
		Workers:  s.Workers,
		ZeroCopy: s.ZeroCopy,
		Log:      log,
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ended := make(chan error, 2)
	go func() { ended <- server.Serve(l) }()
	go func() { ended <- server.ServePacket(pc) }()
	fmt.Print(banner(l.Addr().(*net.TCPAddr).AddrPort()))

	select {
	case err = <-ended:
	case <-ctx.Done():
		stop() // a second signal ends the process at once
		fmt.Println("stopping: calls in progress are finished first")
		drain, cancel := context.WithTimeout(context.Background(), drainTime)
		defer cancel()
		err = server.Shutdown(drain)
	}
	if errors.Is(err, eddy.ErrServerClosed) {
		return nil
	}
	return err
}

// listenHint turns the failures people run into into what to do about them.
func listenHint(err error, addr string) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use: stop what serves there or choose another port with --addr", addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s is not allowed for this user: run as root or choose a port above 1023 with --addr", addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is no address of this machine: see `ip address` and choose one with --addr", addr)
	}
	return err
}

// export is the one export: the tree and the terms that the flags say.
func (s *serveCmd) export(tree *memfs.FS) eddy.Export {
	x := eddy.Export{
		Path:          "/",
		FS:            tree,
		ReadOnly:      s.ReadOnly,
		Networks:      s.Network,
		InsecurePorts: s.InsecurePorts,
	}
	if s.NoRootSquash {
		x.Squash = export.SquashNone
	}
	return x
}
