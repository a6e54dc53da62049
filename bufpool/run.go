package bufpool

import (
	"sync/atomic"
	"time"
)

// Run is contiguous memory: a page of room, the payload, a page of slack. It
// belongs to one pool for life.
//
// Who has a reference may read the run. It is written by who got it from the
// pool, before it is shared. [Pool.Put] drops the owner's reference and
// [Run.Release] any other.
type Run struct {
	check runCheck

	pool  *Pool
	class *class
	mem   []byte

	// refs is a count of references with flags above it.
	refs atomic.Int32

	// The owner's alone.
	state      state
	reserved   bool          // counted in Pool.reserved
	since      time.Duration // Pool.now when it was put
	prev, next *Run

	returned *Run // next on Pool.returned
}

// state is where the owner last put a run.
type state uint8

const (
	cold     state = iota // in class.cold
	free                  // in class.free
	lent                  // the owner has its reference
	inFlight              // in class.flight or, if detached, nowhere
	givenUp
)

// The flags in Run.refs tell the last Release what to do. They are added and
// subtracted, never stored, so that the owner may change its mind while others
// release.
const (
	countMask = 1<<28 - 1
	misused   = 1 << 27 // counts from here on were below zero

	outside int32 = 1 << 28 // detached or scratch: give it back
	gone    int32 = 1 << 29 // given up: nothing
	ready   int32 = 1 << 30 // set by the last Release when all is done
)

// Room is the [PageSize] bytes in front of the payload.
func (r *Run) Room() []byte {
	start := r.class.start
	return r.mem[start-PageSize : start : start]
}

// Bytes is the payload. Its length is the size of the run's class, its
// capacity extends to the end of the slack, at least PageSize further.
func (r *Run) Bytes() []byte {
	start := r.class.start
	return r.mem[start : start+r.class.size]
}

// Frame is the last head bytes of the room (at most [PageSize]) and the first
// n bytes of the payload and slack as one slice.
func (r *Run) Frame(head, n int) []byte {
	start := r.class.start
	return r.mem[start-head : start+n]
}

// Pages is the size of the run, room and slack counted, in units of [PageSize].
func (r *Run) Pages() int { return r.class.pages() }

// Retain adds a reference. The caller has one. Any goroutine may call it.
func (r *Run) Retain() {
	if r.refs.Add(1)&countMask == 1 {
		panic("bufpool: Retain without a reference")
	}
}

// Release drops a reference that Retain added; the caller touches the run no
// more. Any goroutine may call it.
func (r *Run) Release() {
	refs := r.refs.Add(-1)
	switch count := refs & countMask; {
	case count == 0:
		r.lastRelease(refs)
	case count >= misused:
		panic("bufpool: Release without a reference")
	}
}

// lastRelease does what is left to do, given the flags. The owner has
// written r.state before it dropped its own reference.
func (r *Run) lastRelease(flags int32) {
	p := r.pool
	switch flags {
	case 0:
		if !Gated {
			return // free since the owner has put it
		}
		r.mustBePut()
		r.check.poison(r.mem)
		p.kept.move(flightPages, freePages, r.Pages())
		// From here on the owner may lend it.
		r.refs.Add(ready)
		p.roomMade()
	case outside:
		r.mustBePut()
		giveBack(r.mem)
		p.trimmed.Add(uint64(r.Pages()))
		p.detached.Add(-int64(r.Pages()))
		p.pushReturned(r)
	}
}

func (r *Run) mustBePut() {
	if r.state == lent {
		panic("bufpool: Release of the owner's reference, which is for Put")
	}
}

func (r *Run) isReady() bool { return r.refs.Load() == ready }
