package local

import (
	"math"

	"eddy.example/vfs"
)

// A cookie stands for the position behind an entry as the file system has it
// (d_off of getdents64). Most file systems have growing positions; tmpfs lists
// the newest entry first, with falling ones, until the last, whose is beyond
// all. Cookies grow all the same, and say which it is:
//
//	position + 3                    growing
//	3<<62 + 1<<61 - position        falling, and 3<<62 + 1<<61 + 1 at the end
type order int

const (
	orderUnknown order = iota
	orderGrowing
	orderFalling
)

const (
	fallingBase = 3 << 62
	fallingZero = fallingBase + 1<<61
	fallingEnd  = fallingZero + 1
)

// orderOf returns the order that a cookie says, and the position from which the
// listing goes on: math.MaxInt64 where there is nothing any more.
func orderOf(after vfs.Cookie) (order, int64) {
	switch c := uint64(after); {
	case after < vfs.FirstCookie:
		return orderUnknown, 0
	case c > fallingBase && c <= fallingZero:
		return orderFalling, int64(fallingZero - c)
	case c-uint64(vfs.FirstCookie) <= math.MaxInt64:
		return orderGrowing, int64(c - uint64(vfs.FirstCookie))
	}
	return orderFalling, math.MaxInt64
}

// orderIn returns the order of the entries in a buffer of getdents64, with
// which a listing begins. Of less than three it does not matter.
func orderIn(list []byte) order {
	last := int64(math.MaxInt64)
	for len(list) > 0 {
		var e dirent
		if e, list = nextDirent(list); e.isDot() {
			continue
		}
		if e.next < last && last != math.MaxInt64 {
			return orderFalling
		}
		if last != math.MaxInt64 {
			break
		}
		last = e.next
	}
	return orderGrowing
}

// cookie is the cookie of an entry that was found at a position and has next
// behind it.
func (o order) cookie(at, next int64) vfs.Cookie {
	switch {
	case o == orderGrowing:
		return vfs.Cookie(uint64(next) + uint64(vfs.FirstCookie))
	case next >= at && at > 0:
		return fallingEnd
	}
	return vfs.Cookie(fallingZero - uint64(next))
}
