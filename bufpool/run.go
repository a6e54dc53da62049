package bufpool

import (
	"sync/atomic"
	"time"
)

// Run is contiguous memory: a page of room, the payload, a page of slack. It
// belongs to one pool for life.
//
// Whoever holds a reference may read the run; it is written only by who got it
// from the pool, before it is shared. The owner's reference is dropped by
// [Pool.Put], all others by [Run.Release].
type Run struct {
	check runCheck

	pool  *Pool
	class *class
	mem   []byte

	// refs is the number of references and the flags below it.
	refs atomic.Int32

	// The owner's alone.
	state      state
	reserved   bool          // pages count in Pool.reserved
	since      time.Duration // Pool.now when it was put
	prev, next *Run

	// returned links runs on Pool.returned.
	returned *Run
}

// The owner's view of where a run is.
type state uint8

const (
	cold     state = iota // no memory
	free                  // in class.free
	lent                  // the owner has its reference
	inFlight              // it has dropped it; in class.flight unless detached
	givenUp
)

// The low bits of Run.refs count references, the high ones tell what the last
// Release has to do. Flags are only ever added and subtracted, so that owner and
// releasers need no further agreement.
const (
	countMask = 1<<28 - 1
	misused   = 1 << 27 // a count from here on has been below zero

	outside int32 = 1 << 28 // detached or scratch: give it back
	gone    int32 = 1 << 29 // given up: nothing
	ready   int32 = 1 << 30 // the last Release has done its part
)

// Room is the [PageSize] bytes in front of the payload.
func (r *Run) Room() []byte {
	start := r.class.start
	return r.mem[start-PageSize : start : start]
}

// Bytes is the payload, page aligned. Its length is the size of the run's class,
// its capacity goes to the end of the slack: at least PageSize more.
func (r *Run) Bytes() []byte {
	start := r.class.start
	return r.mem[start : start+r.class.size]
}

// Frame is the last head bytes of the room and the first n of the payload,
// which may go on into the slack, as one slice.
func (r *Run) Frame(head, n int) []byte {
	start := r.class.start
	return r.mem[start-head : start+n]
}

// Pages is what the run costs: all of it in units of [PageSize].
func (r *Run) Pages() int { return r.class.pages() }

// Retain adds a reference. The caller has one. Any goroutine may call it.
func (r *Run) Retain() {
	if r.refs.Add(1)&countMask == 1 {
		panic("bufpool: Retain of a run without references")
	}
}

// Release drops a reference that Retain added. Any goroutine may call it; the
// caller touches the run no more.
func (r *Run) Release() {
	n := r.refs.Add(-1)
	switch count := n & countMask; {
	case count == 0:
		r.lastRelease(n)
	case count >= misused:
		panic("bufpool: Release without a reference")
	}
}

// lastRelease is called by who dropped the last reference. The run's state
// was written before the owner dropped its own, so it may be read here.
func (r *Run) lastRelease(flags int32) {
	p := r.pool
	switch flags {
	case 0:
		if !Gated {
			return // free since the owner put it
		}
		r.mustNotBeLent()
		r.check.released(r.mem)
		p.kept.move(flightPages, freePages, r.Pages())
		// Only now: the owner may lend the run as soon as it sees the flag.
		r.refs.Add(ready)
		p.roomMade()
	case outside:
		r.mustNotBeLent()
		giveBack(r.mem)
		p.trimmed.Add(uint64(r.Pages()))
		p.detached.Add(-int64(r.Pages()))
		p.pushReturned(r)
	}
}

func (r *Run) mustNotBeLent() {
	if r.state == lent {
		panic("bufpool: Release of the owner's reference, which Put drops")
	}
}

// isReady reports whether a run in flight may be lent again.
func (r *Run) isReady() bool { return r.refs.Load() == ready }
