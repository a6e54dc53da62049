package xprt

import (
	"encoding/binary"
	"errors"
)

// Errors of record marking, for which a connection is closed.
var (
	errTooLong = errors.New("record longer than allowed")
	errEmpty   = errors.New("record without bytes")
	errIdle    = errors.New("too many fragments without bytes")
)

const (
	markSize     = 4
	lastFragment = 1 << 31

	// maxEmpty is how many fragments without bytes may follow each other.
	maxEmpty = 16
)

// marks reads the marks of a stream of records (RFC 5531 §11): each fragment
// of a record has four bytes in front, its length and a bit for the last one.
//
// The stream is fed in pieces of any size: [marks.next] consumes marks,
// [marks.take] is told of data.
type marks struct {
	max  int // bytes of a record, at most
	mark [markSize]byte
	have int // bytes of mark that have arrived

	rest  int  // bytes of the fragment that are still to come
	last  bool // it is the record's last
	size  int  // bytes in all fragments of the record so far
	parts int  // fragments of the record so far
	empty int  // of which the last ones had no bytes
}

// next consumes marks from the front of b, until a fragment with bytes begins,
// the record is complete or b is used up, and returns how much it has consumed.
// It must only be called between fragments.
func (m *marks) next(b []byte) (n int, err error) {
	for m.rest == 0 && !m.complete() {
		c := copy(m.mark[m.have:], b[n:])
		n += c
		m.have += c
		if m.have < markSize {
			return n, nil
		}
		m.have = 0
		if err := m.begin(binary.BigEndian.Uint32(m.mark[:])); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (m *marks) begin(mark uint32) error {
	length := mark &^ lastFragment
	if uint64(length) > uint64(m.max-m.size) {
		return errTooLong
	}
	m.last = mark&lastFragment != 0
	m.rest = int(length)
	m.size += m.rest
	m.parts++
	switch {
	case length > 0:
		m.empty = 0
	case m.last && m.size == 0:
		return errEmpty
	case !m.last:
		if m.empty++; m.empty > maxEmpty {
			return errIdle
		}
	}
	return nil
}

// take is told that n bytes of the fragment's data have been taken.
func (m *marks) take(n int) { m.rest -= n }

// whole reports whether the current fragment is a record of its own, the
// usual case.
func (m *marks) whole() bool { return m.last && m.parts == 1 }

// complete reports whether all of the record has been taken.
func (m *marks) complete() bool { return m.last && m.rest == 0 }

// reset begins the next record.
func (m *marks) reset() { *m = marks{max: m.max} }
