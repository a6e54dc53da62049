package xprt

import (
	"time"

	"eddy.example/bufpool"
)

// minProgress is how much of a record has to arrive in each RecvTimeout.
const minProgress = 64 << 10

// times is what a connection's deadlines are measured from, as of the last tick.
type times struct {
	since  time.Time // it was opened
	called time.Time // the last record was delivered; zero if there was none

	total int64 // bytes that had been received
	heard time.Time

	record      int64     // number of the record that is incomplete
	recordSince time.Time // or its last minProgress bytes; zero if there is none
	recordFrom  int64     // the total then

	owedSince time.Time // since when the peer has taken nothing
	stalled   bool
}

// tick looks at the deadlines of all connections.
func (w *worker) tick(n int) {
	w.now = w.t.cfg.Clock.Now()
	w.ticked.Store(w.now.UnixNano())
	owing := !w.starved.empty()
	for i := 0; i < len(w.conns); i++ {
		owing = w.conns[i].tick(w.now) || owing
	}
	w.owing.Store(owing)
	w.detachLent()
	w.longest.Store(0)
	if c := w.mostStalled(); c != nil {
		w.longest.Store(c.times.owedSince.UnixNano())
		w.t.checkReplies()
	}
	w.pool.Tick(w.now)
	if n%ticksPerSecond == 0 {
		w.trim()
	}
}

// tick looks at the connection's deadlines, and reports whether the peer has something to
// take.
func (c *Conn) tick(now time.Time) (owed bool) {
	t, cfg := &c.times, &c.w.t.cfg
	owed, moved := c.link.tick()
	owed = owed || !c.tx.empty()
	moved = moved || c.tx.moved
	c.tx.moved = false
	switch {
	case !owed || moved || t.owedSince.IsZero():
		t.owedSince, t.stalled = now, false
	case now.Sub(t.owedSince) >= c.patience():
		t.stalled = true
		c.detach()
	}
	if c.dead {
		return owed
	}
	if owed && now.Sub(t.owedSince) >= cfg.SendTimeout {
		c.fail(ErrTimeout)
		return owed
	}

	x := &c.rx
	if owed || c.calls > 0 || x.total != t.total {
		t.heard = now
	}
	t.total = x.total
	switch {
	case !x.incomplete() || x.state == rxWait || !c.mayRead():
		t.recordSince = time.Time{}
	case t.recordSince.IsZero() || t.record != x.records || x.total-t.recordFrom >= minProgress:
		t.record, t.recordSince, t.recordFrom = x.records, now, x.total
	case now.Sub(t.recordSince) >= c.recvTimeout():
		c.fail(ErrTimeout)
	}
	if cfg.IdleTimeout > 0 && now.Sub(t.heard) >= cfg.IdleTimeout {
		c.fail(errIdleTooLong)
	}
	return owed
}

// recvTimeout is how long the peer may take for minProgress bytes of a record. It
// is a tenth if the record holds memory that others wait for: or a few peers
// that begin records and stop would keep everybody from writing.
func (c *Conn) recvTimeout() time.Duration {
	t, x := c.w.t, &c.rx
	if x.claimed > 0 && t.received.waiters.Load() > 0 || x.staged > 0 && t.staged.waiters.Load() > 0 {
		return t.cfg.RecvTimeout / 10
	}
	return t.cfg.RecvTimeout
}

// patience is how long the peer may take nothing before it is stalled. An ACK
// from far away is no reason to take pages from the pool that are about to come
// back; but who answers slowly on purpose gains no more than a second.
func (c *Conn) patience() time.Duration {
	return max(tick, min(4*c.link.roundTrip(), time.Second))
}

// detach takes the connection's runs out of the pool, which others need.
func (c *Conn) detach() {
	if !bufpool.Gated {
		return // what is put is free already
	}
	for i := range c.tx.pieces() {
		if p := &c.tx.pieces()[i]; p.run != nil {
			c.w.pool.Detach(p.run)
		}
	}
	c.link.runs(c.w.pool.Detach)
}

// detachLent takes runs out of the pool that have been away with a record for a tick or
// more: somebody who is slow to fill them is not to be waited for by others.
func (w *worker) detachLent() {
	if !bufpool.Gated {
		return
	}
	for _, r := range w.lenders {
		if !r.away {
			r.away = true
			continue
		}
		if w.t.replyMemory() > int64(w.t.cfg.ReplyBudget) {
			return
		}
		for _, run := range r.lent {
			w.pool.Detach(run)
		}
	}
}

// owe is called when a peer has n bytes to take, or a record waits for pages.
func (w *worker) owe(n int) {
	if !w.owing.Load() {
		w.owing.Store(true)
	}
	if n >= flushSize {
		w.t.checkReplies()
	}
}

// checkReplies ends a connection if replies that are not taken cost too much.
func (t *Transport) checkReplies() {
	if t.replyMemory() <= int64(t.cfg.ReplyBudget) {
		return
	}
	var worst *worker
	var since int64
	for _, w := range t.workers {
		if n := w.longest.Load(); n != 0 && (worst == nil || n < since) {
			worst, since = w, n
		}
	}
	if worst != nil && t.shedding.CompareAndSwap(false, true) {
		worst.post(event{kind: evShed})
	}
}

// replyMemory is what unsent replies cost beyond the pools' caps.
func (t *Transport) replyMemory() (n int64) {
	for _, w := range t.workers {
		n += w.foreign.Load() + int64(w.pool.Stats().Detached)*bufpool.PageSize
	}
	return n
}

// shed ends the connection that has taken nothing for longest.
func (w *worker) shed() {
	if c := w.mostStalled(); c != nil {
		c.fail(ErrBudget)
	}
}

func (w *worker) mostStalled() (worst *Conn) {
	for _, c := range w.conns {
		if c.times.stalled && !c.dead && (worst == nil || c.times.owedSince.Before(worst.times.owedSince)) {
			worst = c
		}
	}
	return worst
}
