package bufpool

import "time"

// demandWindow is over how long the peak of what was in use is taken. A pool keeps
// what the current and the previous window needed, so nothing after two idle ones.
const demandWindow = 5 * time.Second

// Tick tells the pool the time, by which it knows how long runs have been in flight.
// The pool looks at no clock itself.
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

// Trim gives free runs above the recent demand for their class back to the system; all
// of them when the pool has been idle for 10 seconds. It implies Tick. Call it
// about once a second.
func (p *Pool) Trim(now time.Time) {
	p.collect()
	p.collectReturned()
	p.Tick(now)
	window := int64(p.now / demandWindow)
	for i := range p.classes {
		c := &p.classes[i]
		switch {
		case window > p.window+1:
			c.last, c.peak = c.busy, c.busy
		case window > p.window:
			c.last, c.peak = c.peak, c.busy
		}
		for c.free.n > 0 && c.free.n+c.busy > max(c.last, c.peak) {
			p.retire(c.free.popBack())
		}
	}
	p.window = window
}
