package xprt

import "time"

// BriefHandler is a [Handler] with work that is as a rule done before another
// goroutine would have begun it, but may block: a system call that only fills
// the page cache, or waits for a disk.
type BriefHandler interface {
	Handler

	// Brief is called after r.Brief() has returned true, once, on the worker's
	// goroutine, and may take what time it needs: if it has not returned after a
	// millisecond or two another goroutine goes on as the worker. So it uses
	// nothing of the worker's or the connection's, as if it were elsewhere.
	// Resume(r) follows; or only that, if a call of Brief before it has not
	// returned yet.
	Brief(r *Record)
}

// briefTime is how long a call of Brief may keep a worker from others.
const briefTime = time.Millisecond

// briefsPerTurn bounds how many are called before the worker looks for news.
const briefsPerTurn = 16

// quietTicks is after how many ticks without a call of Brief nobody watches the
// workers any more.
const quietTicks = 100

// Brief asks for BriefHandler.Brief, and returns whether that follows: not
// while an earlier call of it keeps the worker's goroutine.
func (r *Record) Brief() bool {
	w := r.Conn.w
	if w.t.brief == nil || w.astray > 0 {
		return false
	}
	r.state = recordBrief
	w.briefs.pushBack(r)
	return true
}

// runBriefs does brief work for its turn. It returns false if the worker has
// gone on without this goroutine: then it touches nothing any more.
func (w *worker) runBriefs() bool {
	if w.briefs.empty() {
		return true
	}
	w.t.watchOver()
	for range briefsPerTurn {
		r := w.briefs.pop()
		if r == nil {
			break
		}
		if w.astray == 0 && !w.runBrief(r) {
			return false
		}
		w.resume(r)
	}
	w.flush()
	return true
}

// runBrief does the work of one record.
func (w *worker) runBrief(r *Record) (mine bool) {
	n := w.brief.Add(1)
	returned := false
	defer func() {
		mine = w.brief.CompareAndSwap(n, n+1)
		if mine && !returned {
			// The handler has ended the goroutine.
			w.t.running.Go(w.goOn)
			mine = false
		}
		if !mine {
			w.post(event{kind: evStray, rec: r})
		}
	}()
	w.t.brief.Brief(r)
	returned = true
	return mine
}

// goOn makes the calling goroutine the worker, in the place of one that is kept
// by brief work.
func (w *worker) goOn() {
	w.astray++
	w.pool.Adopt()
	w.loop()
}

// strayed is called when the goroutine is done that was kept.
func (w *worker) strayed(r *Record) {
	w.astray--
	w.resume(r)
}

// watchOver makes sure that somebody looks after workers with brief work.
func (t *Transport) watchOver() {
	if !t.watched.Load() && t.watched.CompareAndSwap(false, true) {
		t.watch <- struct{}{}
	}
}

// watchWorkers replaces workers' goroutines that are kept by brief work.
func (t *Transport) watchWorkers(stopped <-chan struct{}) {
	seen := make([]uint64, len(t.workers))
	for {
		select {
		case <-t.watch:
			t.watchUntilQuiet(seen, stopped)
		case <-stopped:
			return
		}
	}
}

func (t *Transport) watchUntilQuiet(seen []uint64, stopped <-chan struct{}) {
	ticks, stop := t.cfg.Clock.NewTicker(briefTime)
	defer stop()
	for quiet := 0; quiet < quietTicks; quiet++ {
		select {
		case <-ticks:
		case <-stopped:
			return
		}
		if t.replaceStuck(seen) {
			quiet = 0
		}
	}
	t.watched.Store(false)
	if t.replaceStuck(seen) {
		t.watchOver() // it has begun before it could see that nobody watches
	}
}

// replaceStuck replaces the goroutines that are still in the call of Brief that
// they were in when it was last called. It reports whether there was any.
func (t *Transport) replaceStuck(seen []uint64) (any bool) {
	for i, w := range t.workers {
		n := w.brief.Load()
		if n&1 != 0 && n == seen[i] && w.brief.CompareAndSwap(n, n+1) {
			t.running.Go(w.goOn)
			w.counters.replaced.Add(1)
		}
		any = any || n != seen[i]
		seen[i] = n
	}
	return any
}
