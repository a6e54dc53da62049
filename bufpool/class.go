package bufpool

import (
	"fmt"
	"math/bits"
)

const (
	// PageSize is the unit of account, in bytes.
	PageSize = 4096

	// MaxPayload is the payload of the largest class, in bytes.
	MaxPayload = 1 << 20

	// classes is the number of powers of two from PageSize to MaxPayload.
	classes = 9
)

// class is what a pool has of one size of run, for the owner alone.
type class struct {
	layout
	free   list // lent from the front, given back from the back
	flight list // oldest first
	cold   list

	busy int // runs lent or in flight
	peak int // the most of them in this window of demand
	last int // the most of them in the last one
}

// count counts a run that was not busy.
func (c *class) count() {
	c.busy++
	c.peak = max(c.peak, c.busy)
}

// layout is the shape of a class's runs in bytes.
type layout struct {
	size  int // of the payload as it is asked for
	start int // of the payload
	whole int
}

// layoutOf rounds room, payload and slack up to the system's page.
func layoutOf(class, systemPage int) layout {
	size := PageSize << class
	page := max(PageSize, systemPage)
	return layout{size: size, start: page, whole: page + max(size, page) + page}
}

func (l *layout) pages() int { return l.whole / PageSize }

// classOf is the index of the smallest class with a payload of n bytes.
func classOf(n int) int {
	if n < 1 || n > MaxPayload {
		panic(fmt.Sprintf("bufpool: no run has a payload of %d bytes", n))
	}
	return bits.Len(uint(n-1) / PageSize)
}
