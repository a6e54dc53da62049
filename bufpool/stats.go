package bufpool

import (
	"sync/atomic"
	"time"
)

// Stats is an account of a pool in pages of [PageSize], room and slack
// counted. Read while the pool is in use, Free, Lent and InFlight are of one moment;
// the others may be of a moment before or after. At rest all are exact and
//
//	New + Reused == Acquired
//	New == Free + Lent + InFlight + Detached + Trimmed + GivenUp
type Stats struct {
	// Counted up since New.
	New       uint64 // lent for the first time since they came from the system
	Reused    uint64 // lent again
	Acquired  uint64 // New + Reused
	Trimmed   uint64 // given back to the system
	BeyondCap uint64 // lent by GetScratch although the cap was reached
	GivenUp   uint64

	// As of now.
	Free     uint64 // kept and not in use
	Lent     uint64 // the owner has its reference
	InFlight uint64 // the owner has dropped its reference, others have theirs
	Held     uint64 // Free + InFlight
	Detached uint64 // detached or scratch, with references; not under the cap

	// OldestInFlight is for how long the run that is longest in flight had been
	// so at the last Tick or Trim. Detached runs do not count.
	OldestInFlight time.Duration
}

// Stats returns the pool's account. Any goroutine may call it, at any time.
func (p *Pool) Stats() Stats {
	s := Stats{
		New:            p.fresh.Load(),
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

// gauge is the number of pages that are free, lent and in flight, in one
// word: whoever reads it sees one moment, and a run moves by one addition.
type gauge struct{ word atomic.Uint64 }

// part is one page in a part of a gauge's word.
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

// sum is the pages that count against the cap.
func (g *gauge) sum() int {
	free, lent, flight := g.load()
	return int(free + lent + flight)
}
