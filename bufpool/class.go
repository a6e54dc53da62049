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

// class is what a pool has of one size of run. All of it is the owner's.
type class struct {
	layout
	free   list // lent again from the front, given back from the back
	flight list // oldest first
	cold   list

	busy int // runs lent or in flight
	peak int // the most of them in this window of demand
	last int // the same in the window before
}

// layout is the shape of the runs of a class, in bytes. Every part is a multiple of
// the system's page.
type layout struct {
	size  int // payload that is asked for
	start int // of the payload; what is before it is room
	whole int // the mapping
}

func layoutOf(class, systemPage int) layout {
	size := PageSize << class
	page := max(PageSize, systemPage)
	return layout{size: size, start: page, whole: page + max(size, page) + page}
}

func (l *layout) pages() int { return l.whole / PageSize }

// classOf is the index of the smallest class with n bytes of payload.
func classOf(n int) int {
	if n < 1 || n > MaxPayload {
		panic(fmt.Sprintf("bufpool: no run has a payload of %d bytes", n))
	}
	return bits.Len(uint(n-1) / PageSize)
}
