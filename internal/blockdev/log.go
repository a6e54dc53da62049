package blockdev

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// Unit is what a write to the device is made of, and torn at: its sector, in bytes.
const Unit = 4096

// A page is one unit, nil if it is zeros. It is never changed.
type page *[Unit]byte

// event is a write of pages from the unit first on, or, without pages, a flush.
type event struct {
	first int
	pages []page
}

// log is what happened to a device, and what is on it. Its methods may be called
// concurrently.
type log struct {
	mu     sync.Mutex
	events []event
	now    []page // with all writes
	base   []page // before the events

	// The device as after events[:done], with all of them: images are mostly
	// wanted in order.
	done   int
	stable []page
}

func newLog(units int) *log {
	return &log{now: make([]page, units), base: make([]page, units), stable: make([]page, units)}
}

// errRange is what an access beside a unit or behind the end is answered.
var errRange = fmt.Errorf("blockdev: not a range of units of the device")

// units returns the range of units that n bytes at off are.
func (l *log) units(off int64, n int) (first, count int, err error) {
	end := int64(len(l.now)) * Unit
	if off < 0 || off%Unit != 0 || n%Unit != 0 || off > end || int64(n) > end-off {
		return 0, 0, fmt.Errorf("%w: %d bytes at %d", errRange, n, off)
	}
	return int(off / Unit), n / Unit, nil
}

func (l *log) write(p []byte, off int64) error {
	first, count, err := l.units(off, len(p))
	if err != nil || count == 0 {
		return err
	}
	pages := make([]page, count)
	for i := range pages {
		if unit := [Unit]byte(p[i*Unit:]); unit != [Unit]byte{} {
			pages[i] = &unit
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, event{first, pages})
	copy(l.now[first:], pages)
	return nil
}

func (l *log) read(p []byte, off int64) error {
	first, count, err := l.units(off, len(p))
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, unit := range l.now[first:][:count] {
		if unit == nil {
			clear(p[i*Unit:][:Unit])
		} else {
			copy(p[i*Unit:], unit[:])
		}
	}
	return nil
}

func (l *log) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, event{})
}

func (l *log) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events)
}

// forget makes what is on the device now the beginning.
func (l *log) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events, l.done = nil, 0
	copy(l.base, l.now)
	copy(l.stable, l.now)
}

// flushes returns the moments right behind each flush.
func (l *log) flushes() (moments []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, e := range l.events {
		if e.pages == nil {
			moments = append(moments, i+1)
		}
	}
	return moments
}

// image returns what is on the device if the power fails after events[:cut].
func (l *log) image(cut int, seed uint64) []page {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := 0 // behind the last flush
	for i, e := range l.events[:cut] {
		if e.pages == nil {
			last = i + 1
		}
	}
	if l.done > last {
		l.done = 0
		copy(l.stable, l.base)
	}
	for _, e := range l.events[l.done:last] {
		copy(l.stable[e.first:], e.pages)
	}
	l.done = last

	image := append([]page(nil), l.stable...)
	in := subset(seed)
	for _, e := range l.events[last:cut] {
		for i, unit := range e.pages {
			if in() {
				image[e.first+i] = unit
			}
		}
	}
	return image
}

// subset returns a function that says of one unit after the other whether it got to
// the disk: none, few, half, most or all of them.
func subset(seed uint64) func() bool {
	rnd := rand.New(rand.NewPCG(seed, Unit))
	share := []float64{0, 0.1, 0.5, 0.9, 1}[rnd.IntN(5)]
	return func() bool { return rnd.Float64() < share }
}
