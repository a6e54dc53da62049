package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	eddy "eddy.example"
	"eddy.example/cmd/eddy/config"
	"eddy.example/metrics"
	"eddy.example/vfs/export"
	"eddy.example/xprt"
)

// drainTime is how long a server that was told to stop lets calls finish.
const drainTime = 10 * time.Second

// daemon is eddy serve at work.
type daemon struct {
	given config.Given
	log   *logger

	state    *state // nil: nothing outlives the process
	exports  *exports
	sockets  *sockets
	server   *eddy.Server
	observer *metrics.Observer
	control  *controlServer // nil: none
	metrics  *metricsServer // nil: none
	rpcbind  *portmapper    // nil: none

	mu  sync.Mutex // held while the configuration changes
	cfg *config.Config
}

// newDaemon takes everything that a server needs, or nothing and says why.
func newDaemon(g config.Given) (*daemon, error) {
	d := &daemon{given: g, observer: metrics.NewObserver()}
	if err := d.acquire(); err != nil {
		d.release()
		return nil, err
	}
	return d, nil
}

func (d *daemon) acquire() (err error) {
	if d.cfg, err = loadConfig(d.given); err != nil {
		return err
	}
	if d.log, err = newLogger(d.cfg); err != nil {
		return err
	}
	if err := beFlusher(); err != nil {
		d.log.Debug("the kernel may wait for this server when it is short of memory", zap.Error(err))
	}
	if dir, err := stateDir(d.cfg); err != nil {
		return err
	} else if dir != "" {
		if d.state, err = openState(dir); err != nil {
			return err
		}
	}
	if d.sockets, err = openSockets(d.cfg.Addr); err != nil {
		return err
	}
	if d.exports, err = openExports(d.cfg, d.state, d.log.Logger); err != nil {
		return err
	}
	d.server = &eddy.Server{
		Exports:      d.exports.list(),
		HandleKey:    d.state.key(),
		Workers:      d.cfg.Workers,
		PoolBytes:    int(d.cfg.PoolBytes),
		ZeroCopy:     d.cfg.ZeroCopy,
		ReceiveBytes: int(d.cfg.ReceiveBytes),
		ReplyBytes:   int(d.cfg.ReplyBytes),
		MaxConns:     d.cfg.MaxConns,
		SendTimeout:  time.Duration(d.cfg.SendTimeout),
		IdleTimeout:  idleTimeout(d.cfg),
		Observer:     d.observer,
		Log:          d.log.Logger,
	}
	if _, err := export.NewTable(export.Key{}, d.server.Exports...); err != nil {
		return err
	}
	if path := controlPath(d.cfg, d.state); path != "" {
		if d.control, err = newControlServer(d, path); err != nil {
			return err
		}
	}
	if d.cfg.Metrics != "" {
		if d.metrics, err = newMetricsServer(d, d.cfg.Metrics); err != nil {
			return err
		}
	}
	d.rpcbind, err = newPortmapper(d)
	return err
}

// loadConfig returns a configuration that can be served.
func loadConfig(g config.Given) (*config.Config, error) {
	c, err := g.Load()
	if err != nil {
		return nil, err
	}
	if err := c.FindDirs(); err != nil {
		return nil, err
	}
	state, err := stateDir(c)
	if err != nil {
		return nil, err
	}
	return c, checkPrivate(c, state)
}

func idleTimeout(c *config.Config) time.Duration {
	if c.IdleTimeout == 0 {
		return -1
	}
	return time.Duration(c.IdleTimeout)
}

// run serves until a signal ends it, or a socket fails.
func (d *daemon) run() error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)

	failed := make(chan error, len(d.sockets.streams)+len(d.sockets.packets))
	var serving sync.WaitGroup
	for _, l := range d.sockets.streams {
		serving.Go(func() { failed <- d.server.Serve(l) })
	}
	for _, pc := range d.sockets.packets {
		serving.Go(func() { failed <- d.server.ServePacket(pc) })
	}
	d.control.start()
	d.metrics.start()
	err := d.rpcbind.start(d.server)
	if err == nil {
		fmt.Print(d.banner())
		notify := newNotifier(d.log.Logger)
		notify.ready()
		err = d.wait(signals, failed, notify)
		notify.stop()
	}
	return errors.Join(err, d.stop(&serving, signals))
}

// wait returns when the server is to end.
func (d *daemon) wait(signals <-chan os.Signal, failed <-chan error, notify *notifier) error {
	for {
		select {
		case err := <-failed:
			return err
		case s := <-signals:
			if s != syscall.SIGHUP {
				return nil
			}
			notify.reloading()
			if err := d.reload(); err != nil {
				d.log.Error("reloading failed: everything stays as it was", zap.Error(err))
			}
			notify.ready()
		}
	}
}

// stop lets calls finish and gives everything back. A second signal ends the
// process at once.
func (d *daemon) stop(serving *sync.WaitGroup, signals <-chan os.Signal) error {
	fmt.Println("stopping: calls in progress are finished first")
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case s := <-signals:
				if s != syscall.SIGHUP {
					os.Exit(1)
				}
			case <-done:
				return
			}
		}
	}()
	drain, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	d.rpcbind.stop()
	err := d.server.Shutdown(drain)
	serving.Wait()
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("some calls were not over after %v: their clients will ask again", drainTime)
	}
	return errors.Join(err, d.release())
}

// release gives back what newDaemon has taken, as far as it came.
func (d *daemon) release() error {
	d.metrics.close()
	d.control.close()
	d.rpcbind.close()
	d.sockets.close()
	err := d.exports.close()
	d.state.close()
	d.log.close()
	return err
}

// reload reads the configuration again and serves what exports it has now.
// After an error everything is as before.
func (d *daemon) reload() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.log.reopen(); err != nil {
		return err
	}
	cfg, err := loadConfig(d.given)
	if err != nil {
		return err
	}
	if err := d.exports.reload(cfg, d.server); err != nil {
		return err
	}
	d.log.setLevel(cfg.LogLevel)
	if late := config.NeedRestart(d.cfg, cfg); len(late) > 0 {
		d.log.Warn("some settings change with a restart only", zap.Strings("settings", late))
	}
	d.cfg = cfg
	d.log.Info("reloaded", zap.Int("exports", len(cfg.Exports)))
	return nil
}

// sockets are what a server listens on.
type sockets struct {
	streams []net.Listener
	packets []net.PacketConn
}

// openSockets takes the sockets that systemd hands over, or else listens at
// addr.
func openSockets(addr string) (*sockets, error) {
	s, err := activated()
	if err != nil || s != nil {
		return s, err
	}
	l, err := xprt.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, listenHint(err, addr, "--addr")
	}
	// With port 0 the datagrams share the port that the kernel has chosen.
	pc, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		l.Close()
		return nil, listenHint(err, addr, "--addr")
	}
	return &sockets{[]net.Listener{l}, []net.PacketConn{pc}}, nil
}

func (s *sockets) close() {
	if s == nil {
		return
	}
	for _, l := range s.streams {
		l.Close()
	}
	for _, pc := range s.packets {
		pc.Close()
	}
}

// listenHint turns the failures people run into into what to do about them.
func listenHint(err error, addr, flag string) error {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use: stop what serves there or choose another port with %s", addr, flag)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s is not allowed for this user: run as root or choose a port above 1023 with %s", addr, flag)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is no address of this machine: see `ip address` and choose one with %s", addr, flag)
	case errors.As(err, &dns):
		return fmt.Errorf("%s is not known: give an address of this machine with %s", dns.Name, flag)
	}
	return err
}
