package bufpool

import (
	"os"
	"sync/atomic"
	"time"
)

// DefaultCap is how many bytes a pool keeps if its Config does not say.
const DefaultCap = 4 << 20

// Config says how a pool is to be. The zero Config is a good one.
type Config struct {
	// Cap is how many bytes may be free, lent and in flight together, room
	// and slack counted. 0 means DefaultCap. Room for one run of the largest
	// class is always allowed, more than 8 GiB never.
	Cap int

	// Wake, if not nil, is called once after Get has returned nil, as soon as
	// it may help to try again, on whichever goroutine made it so. It must not
	// block, nor use the pool.
	Wake func()
}

// Pool lends runs to one goroutine, its owner. All methods are the owner's but
// Stats, which is anybody's, and Close, which comes after the owner.
type Pool struct {
	check poolCheck

	cap  int // pages
	wake func()

	// Written by the owner and by who drops a last reference.
	kept     gauge
	detached atomic.Int64
	trimmed  atomic.Uint64
	starved  atomic.Bool         // Get has returned nil: Wake is due
	returned atomic.Pointer[Run] // stack of detached runs given back

	// Written by the owner for Stats.
	created, reused, beyondCap, gaveUp atomic.Uint64
	oldest                             atomic.Int64

	// The owner's alone.
	classes  [classes]class
	runs     []*Run // all there ever were
	reserved int    // pages of lent runs that MayGate has said yes to
	closed   bool

	base   time.Time     // first Tick
	now    time.Duration // last Tick, since base
	window int64         // of demand, counted from base
}

// New returns an empty pool, whose owner is the goroutine that uses it.
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

// Adopt makes the calling goroutine the owner. The one before does nothing more
// with the pool, and the caller knows what it has done.
func (p *Pool) Adopt() { p.check.adopt() }

// Close gives everything back and returns the last account. The owner has
// stopped by then and every reference is released or given up. Runs that were
// given up stay mapped. So does a run that is still out; it shows as Lent,
// InFlight or Detached, and with the tag invariants Close panics.
func (p *Pool) Close() Stats {
	p.closed = true
	p.starved.Store(false)
	p.collect()
	for i := range p.classes {
		c := &p.classes[i]
		for c.free.n > 0 {
			p.retire(c.free.popFront())
		}
		for c.cold.n > 0 {
			r := c.cold.popFront()
			unmapMemory(r.mem)
			r.mem = nil
		}
	}
	p.oldest.Store(0)
	p.check.leaks(p.runs)
	return p.Stats()
}
