package main

import (
	"fmt"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
	"go.uber.org/zap"
)

// notifier tells systemd, if it has started this process and wants to know
// (sd_notify(3)), what the server is doing.
type notifier struct {
	log     *zap.Logger
	done    chan struct{}
	stopped chan struct{}
}

func newNotifier(log *zap.Logger) *notifier {
	n := &notifier{log: log, done: make(chan struct{}), stopped: make(chan struct{})}
	interval, err := systemd.SdWatchdogEnabled(false)
	if err != nil || interval == 0 {
		close(n.stopped)
		return n
	}
	go func() {
		defer close(n.stopped)
		ticks := time.NewTicker(interval / 2)
		defer ticks.Stop()
		for {
			n.send(systemd.SdNotifyWatchdog)
			select {
			case <-ticks.C:
			case <-n.done:
				return
			}
		}
	}()
	return n
}

func (n *notifier) send(state string) {
	if _, err := systemd.SdNotify(false, state); err != nil {
		n.log.Warn("telling systemd failed", zap.Error(err))
	}
}

func (n *notifier) ready() { n.send(systemd.SdNotifyReady) }

func (n *notifier) reloading() {
	n.send(fmt.Sprintf("%s\nMONOTONIC_USEC=%d", systemd.SdNotifyReloading, monotonic()))
}

func (n *notifier) stop() {
	close(n.done)
	<-n.stopped
	n.send(systemd.SdNotifyStopping)
}
