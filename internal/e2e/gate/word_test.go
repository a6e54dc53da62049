package gate

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// origin is where eight bytes at a multiple of eight in a file come from. A
// generation is one answer to a READ: no two are alike in a single word.
type origin struct {
	file       uint64 // 8 bits
	generation uint64 // 24 bits
	offset     uint64 // 35 bits, a multiple of 8
}

func (o origin) String() string {
	return fmt.Sprintf("file %d offset %d generation %d", o.file, o.offset, o.generation)
}

// Odd numbers, of the golden ratio and the root of two, and their inverses modulo
// 2^64.
const (
	mul1, inv1 = 0x9e3779b97f4a7c15, 0xf1de83e19937733d
	mul2, inv2 = 0x6a09e667f3bcc909, 0xef168d52208d9539
)

// word is what the eight bytes are. Every bit of it depends on all of o.
func (o origin) word() uint64 {
	x := o.file<<56 | o.generation<<32 | o.offset/8
	x = (x ^ x>>32) * mul1
	x = (x ^ x>>32) * mul2
	return x ^ x>>32
}

// originOf is where a word comes from.
func originOf(x uint64) origin {
	x = (x ^ x>>32) * inv2
	x = (x ^ x>>32) * inv1
	x ^= x >> 32
	return origin{x >> 56, x >> 32 & (1<<24 - 1), x & (1<<32 - 1) * 8}
}

// fill makes p what the file has from o.offset on.
func (o origin) fill(p []byte) {
	for len(p) >= 8 {
		binary.BigEndian.PutUint64(p, o.word())
		p = p[8:]
		o.offset += 8
	}
	var w [8]byte
	binary.BigEndian.PutUint64(w[:], o.word())
	copy(p, w[:])
}

// check reports the first difference between p and what fill makes.
func (o origin) check(p []byte) error {
	want := make([]byte, len(p))
	o.fill(want)
	for i := range p {
		if p[i] == want[i] {
			continue
		}
		next := (i + 7) &^ 7 // a segment may have ended within a word
		if next+8 > len(p) {
			return fmt.Errorf("%v: byte %d is %#x, want %#x", o, i, p[i], want[i])
		}
		return fmt.Errorf("%v: byte %d is of %v", o, i, originOf(binary.BigEndian.Uint64(p[next:])))
	}
	return nil
}

func TestWordsTellTheirOrigin(t *testing.T) {
	for _, o := range []origin{{}, {1, 2, 24}, {255, 1<<24 - 1, 1<<35 - 8}, {7, 1 << 20, 1 << 34}} {
		if got := originOf(o.word()); got != o {
			t.Errorf("%v comes out as %v", o, got)
		}
	}
}

func TestCheckNamesTheStranger(t *testing.T) {
	mine := origin{3, 4, 4096}
	p := make([]byte, 62)
	mine.fill(p)
	if err := mine.check(p); err != nil {
		t.Error(err)
	}
	foreign := make([]byte, 24)
	origin{5, 6, 8184}.fill(foreign)
	copy(p[28:48], foreign[4:])
	want := "file 3 offset 4096 generation 4: byte 28 is of file 5 offset 8192 generation 6"
	if err := mine.check(p); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	mine.fill(p)
	p[61]++
	if err := mine.check(p); err == nil {
		t.Error("the last byte does not matter")
	}
}
