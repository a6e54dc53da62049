package bufpool

import "time"

// demandWindow is the time over which the peak of what was in use is taken.
// What the current and the last window needed is kept, and so nothing after 10
// idle seconds.
const demandWindow = 5 * time.Second

// Tick tells the pool the time, of which it knows nothing else. It is as exact
// about OldestInFlight as it is ticked often.
func (p *Pool) Tick(now time.Time) {
	p.check.owner()
	if p.base.IsZero() {
		p.base = now
	}
	p.now = max(p.now, now.Sub(p.base))
	oldest := p.now
	for i := range p.classes {
		c := &p.classes[i]
		p.collectOldest(c)
		if r := c.flight.front; r != nil {
			oldest = min(oldest, r.since)
		}
	}
	p.oldest.Store(int64(p.now - oldest))
}

// Trim is a Tick that gives free runs above the recent demand for their class
// back to the system, and so all of them after 10 idle seconds. It is meant to
// be called about once a second.
func (p *Pool) Trim(now time.Time) {
	p.Tick(now)
	p.collect()
	window := int64(p.now / demandWindow)
	for i := range p.classes {
		c := &p.classes[i]
		switch window - p.window {
		case 0:
		case 1:
			c.last, c.peak = c.peak, c.busy
		default:
			c.last, c.peak = c.busy, c.busy
		}
		for c.free.n > 0 && c.free.n+c.busy > max(c.last, c.peak) {
			p.retire(c.free.popBack())
		}
	}
	p.window = window
}

// collect makes everything that is ready free, and cold what was returned.
func (p *Pool) collect() {
	p.collectReturned()
	for i := range p.classes {
		for r := p.classes[i].flight.front; r != nil; {
			next := r.next
			if r.isReady() {
				p.land(r)
			}
			r = next
		}
	}
}

// collectOldest makes the oldest runs in flight free, up to the first that is
// not ready.
func (p *Pool) collectOldest(c *class) {
	for r := c.flight.front; r != nil && r.isReady(); r = c.flight.front {
		p.land(r)
	}
}

// land makes a ready run in flight free.
func (p *Pool) land(r *Run) {
	r.class.flight.remove(r)
	r.refs.Add(-ready)
	p.shelve(r)
}

// shelve makes a busy run, which the gauge has as free, free.
func (p *Pool) shelve(r *Run) {
	r.state = free
	r.class.busy--
	r.class.free.pushFront(r)
}

// retire makes a run that was free cold.
func (p *Pool) retire(r *Run) {
	giveBack(r.mem)
	r.check.cold()
	r.state = cold
	r.class.cold.pushFront(r)
	p.kept.sub(freePages, r.Pages())
	p.trimmed.Add(uint64(r.Pages()))
}

// pushReturned hands a detached run that was given back to the owner. Any
// goroutine may call it.
func (p *Pool) pushReturned(r *Run) {
	for {
		r.returned = p.returned.Load()
		if p.returned.CompareAndSwap(r.returned, r) {
			return
		}
	}
}

// collectReturned makes the detached runs that were given back cold.
func (p *Pool) collectReturned() {
	if p.returned.Load() == nil {
		return
	}
	for r := p.returned.Swap(nil); r != nil; {
		next := r.returned
		r.returned = nil
		r.refs.Add(-outside)
		r.state = cold
		r.class.cold.pushFront(r)
		r = next
	}
}
