package bufpool

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// DefaultCap is how many bytes a pool keeps if its Config does not say.
const DefaultCap = 4 << 20

// scanLimit is how many runs in flight one Get looks at in vain. The oldest
// are ready first unless a peer is slow, and a slow peer's runs get detached.
const scanLimit = 8

// Config says how a pool is to be. The zero Config is a good one.
type Config struct {
	// Cap is how many bytes may be free, lent and in flight together, room
	// and slack counted. 0 is DefaultCap. One run of the largest class is always
	// allowed, more than 8 GiB never.
	Cap int

	// Wake, if not nil, is called once after Get returned nil, as soon as trying
	// again may help: on the goroutine that made it so, any one. It must not
	// block and not use the pool.
	Wake func()
}

// Pool lends runs to one goroutine, its owner. All methods but Stats and Close
// are the owner's.
type Pool struct {
	check poolCheck

	cap  int // pages
	wake func()

	// Written by the owner, and by whoever drops a last reference.
	kept     gauge
	detached atomic.Int64
	trimmed  atomic.Uint64
	returned atomic.Pointer[Run] // stack of detached runs without references
	starved  atomic.Bool         // Get returned nil, Wake is due

	// Written by the owner.
	fresh, reused, beyondCap, gaveUp atomic.Uint64
	oldest                           atomic.Int64

	// The owner's alone.
	classes  [classes]class
	runs     []*Run // all that were ever mapped
	reserved int    // pages of lent runs that MayGate let through
	closed   bool

	base   time.Time     // of the first Tick
	now    time.Duration // since base
	window int64         // of demand, number since base
}

// New returns an empty pool. Whoever calls its methods first is its owner.
func New(c Config) *Pool {
	if c.Cap == 0 {
		c.Cap = DefaultCap
	}
	p := &Pool{wake: c.Wake}
	for i := range p.classes {
		p.classes[i].layout = layoutOf(i, os.Getpagesize())
	}
	p.cap = min(max(c.Cap/PageSize, p.classes[classes-1].pages()), partMask)
	return p
}

// Get lends a run with at least n bytes of payload, 1 to [MaxPayload], on which
// the owner holds one reference. What is in it is undefined.
//
// It returns nil if no run of that size is free or ready and there is no room
// for one more under the cap. Then Config.Wake tells when to try again.
func (p *Pool) Get(n int) *Run {
	p.check.owner()
	c := &p.classes[classOf(n)]
	if r := p.take(c); r != nil {
		return r
	}
	if p.kept.sum()+c.pages() <= p.cap {
		return p.grow(c)
	}
	// Armed before looking for the last time, so that a release that comes
	// too late to be seen calls Wake.
	armed := p.starved.Swap(true)
	r := p.squeeze(c)
	if r != nil && !armed {
		p.starved.Store(false)
	}
	return r
}

// GetScratch is Get for an owner that cannot wait: instead of returning nil it
// goes beyond the cap. Such a run is given back to the system at its last reference,
// and [Pool.MayGate] denies it.
func (p *Pool) GetScratch(n int) *Run {
	armed := p.starved.Load()
	if r := p.Get(n); r != nil {
		return r
	}
	if !armed {
		p.starved.Store(false)
	}
	r := p.warm(&p.classes[classOf(n)])
	p.detached.Add(int64(r.Pages()))
	p.beyondCap.Add(uint64(r.Pages()))
	r.refs.Add(outside + 1)
	return r
}

// take lends a run of the class that is free, or else ready within the first few in flight.
func (p *Pool) take(c *class) *Run {
	p.collectOldest(c)
	if r := c.free.popFront(); r != nil {
		c.busy++
		c.peak = max(c.peak, c.busy)
		return p.relend(r)
	}
	r := c.flight.front
	for range scanLimit {
		if r == nil {
			break
		}
		if r.isReady() {
			c.flight.remove(r)
			r.refs.Add(-ready)
			return p.relend(r)
		}
		r = r.next
	}
	return nil
}

func (p *Pool) relend(r *Run) *Run {
	r.check.lend(r.mem)
	r.state = lent
	r.refs.Add(1)
	p.kept.move(freePages, lentPages, r.Pages())
	p.reused.Add(uint64(r.Pages()))
	return r
}

// squeeze lends a run of the class after a look at all that is in flight,
// giving free runs of other classes back where that makes room.
func (p *Pool) squeeze(c *class) *Run {
	p.collect()
	if r := p.take(c); r != nil {
		return r
	}
	over := p.kept.sum() + c.pages() - p.cap
	spare := 0
	for i := range p.classes {
		spare += p.classes[i].free.n * p.classes[i].pages()
	}
	if spare < over {
		return nil
	}
	for over > 0 {
		r := p.victim(over).free.popBack()
		over -= r.Pages()
		p.retire(r)
	}
	return p.grow(c)
}

// victim is the smallest class of which one free run is enough to give back, or
// else the largest that has one.
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

// grow lends a run that comes from the system, under the cap.
func (p *Pool) grow(c *class) *Run {
	r := p.warm(c)
	c.busy++
	c.peak = max(c.peak, c.busy)
	r.refs.Add(1)
	p.kept.add(lentPages, r.Pages())
	return r
}

// warm makes a run of a cold or a new address range. The caller accounts for it.
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
	p.fresh.Add(uint64(r.Pages()))
	return r
}

// MayGate reports whether the lent run may be sent in a way that keeps it in
// flight: not if it is scratch or detached, and only if one more run of its class
// will fit under the cap beside all that is in flight, so that one can always circle
// by copying sends. A yes is kept in mind until the run is put.
func (p *Pool) MayGate(r *Run) bool {
	p.check.owner()
	mustBeLent(r)
	if r.reserved {
		return true
	}
	if r.refs.Load()&outside != 0 {
		return false
	}
	_, _, flight := p.kept.load()
	if int(flight)+p.reserved+2*r.Pages() > p.cap {
		return false
	}
	r.reserved = true
	p.reserved += r.Pages()
	return true
}

// Put drops the owner's reference: the run is free if that was the last one,
// and otherwise in flight until it is.
func (p *Pool) Put(r *Run) {
	p.check.owner()
	mustBeLent(r)
	p.unreserve(r)
	refs := r.refs.Load()
	switch {
	case refs&outside != 0:
		r.state = inFlight
		r.Release()
	case refs == 1 || !Gated:
		// Nobody else has a reference, so nobody can add one.
		r.refs.Add(-1)
		r.check.released(r.mem)
		p.kept.move(lentPages, freePages, r.Pages())
		p.shelve(r)
		p.roomMade()
	default:
		r.state = inFlight
		r.since = p.now
		r.class.flight.pushBack(r)
		p.kept.move(lentPages, flightPages, r.Pages())
		r.Release()
	}
}

// Detach takes a run that is lent or in flight out of the pool: it counts no
// longer against the cap and is given back at its last reference. A lent run is
// put as before. A run that has become ready meanwhile stays.
func (p *Pool) Detach(r *Run) {
	p.check.owner()
	mustBeOut(r)
	if r.refs.Load()&outside != 0 {
		return
	}
	// Ahead of the flag, because the last Release may come right behind it.
	p.detached.Add(int64(r.Pages()))
	if r.refs.Add(outside)&countMask == 0 {
		r.refs.Add(-outside)
		p.detached.Add(-int64(r.Pages()))
		return
	}
	p.forget(r)
}

// GiveUp takes a run, lent or in flight, out of use for good, because a reference will never be
// known to be gone. Its memory goes back to the system, except for pages the
// kernel still reads; the address range stays and reads as zeros. It drops the owner's
// reference if the run was lent. Later calls of Release do no harm.
func (p *Pool) GiveUp(r *Run) {
	p.check.owner()
	mustBeOut(r)
	flags := r.refs.Add(gone)
	if flags&countMask == 0 {
		r.refs.Add(-gone)
		return
	}
	wasLent := r.state == lent
	if flags&outside != 0 {
		p.unreserve(r)
		p.detached.Add(-int64(r.Pages()))
	} else {
		p.forget(r)
	}
	if wasLent {
		r.refs.Add(-1)
	}
	r.state = givenUp
	p.gaveUp.Add(uint64(r.Pages()))
	giveUp(r.mem)
}

// forget strikes a run, lent or in flight, from what counts against the cap.
func (p *Pool) forget(r *Run) {
	p.unreserve(r)
	r.class.busy--
	if r.state == lent {
		p.kept.sub(lentPages, r.Pages())
	} else {
		r.class.flight.remove(r)
		p.kept.sub(flightPages, r.Pages())
	}
	p.roomMade()
}

func (p *Pool) unreserve(r *Run) {
	if r.reserved {
		r.reserved = false
		p.reserved -= r.Pages()
	}
}

// roomMade calls Wake if Get has returned nil since it was last called.
func (p *Pool) roomMade() {
	if p.starved.Load() && p.starved.CompareAndSwap(true, false) && p.wake != nil {
		p.wake()
	}
}

// shelve makes a busy run, which counts as free already, free.
func (p *Pool) shelve(r *Run) {
	r.state = free
	r.class.busy--
	r.class.free.pushFront(r)
}

// collectOldest shelves the oldest runs in flight of the class up to the first that is
// not ready.
func (p *Pool) collectOldest(c *class) {
	for r := c.flight.front; r != nil && r.isReady(); r = c.flight.front {
		p.land(r)
	}
}

// collect shelves all runs that are ready.
func (p *Pool) collect() {
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

// land takes a ready run out of flight.
func (p *Pool) land(r *Run) {
	r.class.flight.remove(r)
	r.refs.Add(-ready)
	p.shelve(r)
}

// retire gives the memory of a run that was free back to the system.
func (p *Pool) retire(r *Run) {
	giveBack(r.mem)
	r.check.reset()
	r.state = cold
	r.class.cold.pushFront(r)
	p.kept.sub(freePages, r.Pages())
	p.trimmed.Add(uint64(r.Pages()))
}

// pushReturned hands a detached run whose memory has been given back to the owner.
func (p *Pool) pushReturned(r *Run) {
	for {
		r.returned = p.returned.Load()
		if p.returned.CompareAndSwap(r.returned, r) {
			return
		}
	}
}

// collectReturned makes the address ranges of detached runs available again.
func (p *Pool) collectReturned() {
	for r := p.returned.Swap(nil); r != nil; {
		next := r.returned
		r.returned = nil
		r.refs.Add(-outside)
		r.state = cold
		r.class.cold.pushFront(r)
		r = next
	}
}

// Close gives everything back and returns the final account. The owner has
// stopped, and all references are gone or given up. Address ranges that were given up stay
// mapped, and so do runs that are still out, which is a mistake that shows as
// Lent, InFlight or Detached and makes Close panic with the tag invariants.
func (p *Pool) Close() Stats {
	p.closed = true
	p.starved.Store(false)
	p.collect()
	p.collectReturned()
	for i := range p.classes {
		c := &p.classes[i]
		for r := c.free.popFront(); r != nil; r = c.free.popFront() {
			p.retire(r)
		}
		for r := c.cold.popFront(); r != nil; r = c.cold.popFront() {
			unmapMemory(r.mem)
			r.mem = nil
		}
	}
	p.oldest.Store(0)
	p.check.leaks(p.runs)
	return p.Stats()
}

func mustBeLent(r *Run) {
	if r.state != lent {
		panic("bufpool: the owner has no reference to this run")
	}
}

func mustBeOut(r *Run) {
	if r.state != lent && r.state != inFlight {
		panic("bufpool: nobody has a reference to this run")
	}
}
