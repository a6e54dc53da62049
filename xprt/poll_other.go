//go:build !linux

package xprt

import "sync/atomic"

// poller is where a worker waits.
type poller struct {
	w      *worker
	parked atomic.Bool
	wakeup chan struct{}
}

func (p *poller) init(w *worker) error {
	p.w, p.wakeup = w, make(chan struct{}, 1)
	return nil
}

// wait returns when the worker has something to do; at once unless block is set.
func (p *poller) wait(block bool) {
	if !block {
		return
	}
	p.parked.Store(true)
	if p.w.hasNews() {
		p.parked.Store(false)
		return
	}
	<-p.wakeup
}

// wake ends wait. Any goroutine may call it.
func (p *poller) wake() {
	if p.parked.CompareAndSwap(true, false) {
		p.wakeup <- struct{}{}
	}
}

func (p *poller) close() {}
