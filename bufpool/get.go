package bufpool

import "fmt"

// scanLimit is how many runs in flight one Get may look at in vain. Mostly the
// oldest are ready first; those of a slow peer get detached.
const scanLimit = 8

// Get lends a run with at least n bytes of payload, 1 to [MaxPayload]. The
// owner has one reference. The content is undefined.
//
// Get returns nil if no run of that size is free or ready and the cap leaves
// no room for one more. Config.Wake then tells when to try again.
func (p *Pool) Get(n int) *Run {
	p.check.owner()
	c := &p.classes[classOf(n)]
	if r := p.take(c); r != nil {
		return r
	}
	if p.kept.sum()+c.pages() <= p.cap {
		return p.grow(c)
	}
	// Armed before the last look, so that a release which comes too late to
	// be seen calls Wake.
	armed := p.starved.Swap(true)
	r := p.squeeze(c)
	if r != nil && !armed {
		p.starved.Store(false)
	}
	return r
}

// GetScratch is Get for an owner that cannot wait. Instead of nil it returns a
// run beyond the cap, which [Pool.MayGate] denies and which is given back to
// the system at its last reference.
func (p *Pool) GetScratch(n int) *Run {
	armed := p.starved.Load()
	if r := p.Get(n); r != nil {
		return r
	}
	if !armed {
		p.starved.Store(false)
	}
	r := p.warm(&p.classes[classOf(n)])
	r.refs.Add(outside + 1)
	p.detached.Add(int64(r.Pages()))
	p.beyondCap.Add(uint64(r.Pages()))
	return r
}

// take lends a free run of the class, or one that is ready among the first few
// in flight.
func (p *Pool) take(c *class) *Run {
	p.collectOldest(c)
	if r := c.free.popFront(); r != nil {
		c.count()
		return p.relend(r)
	}
	r := c.flight.front
	for range min(scanLimit, c.flight.n) {
		if r.isReady() {
			c.flight.remove(r)
			r.refs.Add(-ready)
			return p.relend(r)
		}
		r = r.next
	}
	return nil
}

// relend lends a run that the gauge has as free.
func (p *Pool) relend(r *Run) *Run {
	r.check.lend(r.mem)
	r.state = lent
	r.refs.Add(1)
	p.kept.move(freePages, lentPages, r.Pages())
	p.reused.Add(uint64(r.Pages()))
	return r
}

// squeeze looks at all that is in flight, and gives free runs of other classes
// back if that makes room for one of this class.
func (p *Pool) squeeze(c *class) *Run {
	p.collect()
	if r := p.take(c); r != nil {
		return r
	}
	excess := p.kept.sum() + c.pages() - p.cap
	spare := 0
	for i := range p.classes {
		spare += p.classes[i].free.n * p.classes[i].pages()
	}
	if spare < excess {
		return nil
	}
	for excess > 0 {
		r := p.victim(excess).free.popBack()
		p.retire(r)
		excess -= r.Pages()
	}
	return p.grow(c)
}

// victim is the smallest class of which one free run has so many pages, or
// else the largest that has a free run.
func (p *Pool) victim(pages int) *class {
	var v *class
	for i := range p.classes {
		if c := &p.classes[i]; c.free.n > 0 {
			v = c
			if c.pages() >= pages {
				break
			}
		}
	}
	return v
}

// grow lends a run from the system that counts against the cap.
func (p *Pool) grow(c *class) *Run {
	r := p.warm(c)
	r.refs.Add(1)
	c.count()
	p.kept.add(lentPages, r.Pages())
	return r
}

// warm is a run with memory fresh from the system.
func (p *Pool) warm(c *class) *Run {
	if p.closed {
		panic("bufpool: Get after Close")
	}
	p.collectReturned()
	r := c.cold.popFront()
	if r != nil {
		unprotect(r.mem)
	} else {
		mem, err := mapMemory(c.whole)
		if err != nil {
			panic(fmt.Sprintf("bufpool: mapping %d bytes: %v", c.whole, err))
		}
		r = &Run{pool: p, class: c, mem: mem}
		p.runs = append(p.runs, r)
	}
	r.check.lend(r.mem)
	r.state = lent
	p.created.Add(uint64(r.Pages()))
	return r
}
