package bufpool

import (
	"sync/atomic"
	"time"
)

// Stats is the account of a pool in pages of [PageSize], room and slack
// counted. Free, Lent and InFlight are of one moment; the others are read one
// after the other. While nobody uses the pool
//
//	New + Reused == Acquired
//	New == Free + Lent + InFlight + Detached + Trimmed + GivenUp
type Stats struct {
	// Since the pool was made.
	New       uint64 `json:"new"`        // lent with memory fresh from the system
	Reused    uint64 `json:"reused"`     // lent again
	Acquired  uint64 `json:"acquired"`   // New + Reused
	Trimmed   uint64 `json:"trimmed"`    // given back to the system
	BeyondCap uint64 `json:"beyond_cap"` // lent by GetScratch beyond the cap
	GivenUp   uint64 `json:"given_up"`   // see Pool.GiveUp

	// Now.
	Free     uint64 `json:"free"`      // nobody has a reference
	Lent     uint64 `json:"lent"`      // the owner has its reference
	InFlight uint64 `json:"in_flight"` // the owner has put it, others have references
	Held     uint64 `json:"held"`      // Free + InFlight
	Detached uint64 `json:"detached"`  // detached or scratch, somebody has a reference

	// OldestInFlight is for how long the oldest run in flight had been so when
	// the pool was last told the time.
	OldestInFlight time.Duration `json:"oldest_in_flight_ns"`
}

// Stats returns the account. Any goroutine may call it at any time.
func (p *Pool) Stats() Stats {
	s := Stats{
		New:            p.created.Load(),
		Reused:         p.reused.Load(),
		Trimmed:        p.trimmed.Load(),
		BeyondCap:      p.beyondCap.Load(),
		GivenUp:        p.gaveUp.Load(),
		Detached:       uint64(p.detached.Load()),
		OldestInFlight: time.Duration(p.oldest.Load()),
	}
	s.Free, s.Lent, s.InFlight = p.kept.load()
	s.Acquired = s.New + s.Reused
	s.Held = s.Free + s.InFlight
	return s
}

// gauge counts the pages that are free, lent and in flight in one word, so that
// a run moves from one to another by one addition, and a reader sees all three
// as of one moment.
type gauge struct{ word atomic.Uint64 }

// part is one page of a kind in a gauge's word.
type part uint64

const (
	partBits = 21
	partMask = 1<<partBits - 1

	freePages   part = 1
	lentPages   part = 1 << partBits
	flightPages part = 1 << (2 * partBits)
)

func (g *gauge) add(to part, pages int)   { g.word.Add(uint64(to) * uint64(pages)) }
func (g *gauge) sub(from part, pages int) { g.word.Add(-uint64(from) * uint64(pages)) }

func (g *gauge) move(from, to part, pages int) {
	g.word.Add((uint64(to) - uint64(from)) * uint64(pages))
}

func (g *gauge) load() (free, lent, flight uint64) {
	w := g.word.Load()
	return w & partMask, w >> partBits & partMask, w >> (2 * partBits)
}

// sum is what counts against the cap.
func (g *gauge) sum() int {
	free, lent, flight := g.load()
	return int(free + lent + flight)
}
