package xprt

import (
	"math/bits"
	"unsafe"
)

// headSize is how much of a record is received before anything is known about
// it. A record that fits is decoded where it lies.
const headSize = 4096

// buffer is memory that records are received into. It belongs to one worker.
type buffer struct {
	mem  []byte
	refs int // records in it, and the connection that receives into it

	// charged is how much of the budget it holds until its last reference goes.
	charged int

	class int // index in store.free, or -1
}

// The classes of buffers are four to each power of two, from headSize up to
// the largest record with its slack.
const (
	classesPerDoubling = 4
	maxBuffer          = 4 << 20
	bufferClasses      = 10*classesPerDoubling + 1
)

// store keeps a worker's receive buffers for reuse. They are from the Go heap:
// one that is dropped is the garbage collector's.
type store struct {
	max  int // bytes kept, at most
	kept int
	free [bufferClasses][]*buffer
	low  [bufferClasses]int // the fewest that were free since the last trim
}

// get returns a buffer of at least n bytes with one reference.
func (s *store) get(n int) *buffer {
	class, size := bufferClass(n)
	if class >= 0 {
		if free := s.free[class]; len(free) > 0 {
			b := free[len(free)-1]
			s.free[class] = free[:len(free)-1]
			s.low[class] = min(s.low[class], len(free)-1)
			s.kept -= size
			b.refs = 1
			return b
		}
	}
	return &buffer{mem: make([]byte, size), class: class, refs: 1}
}

// put takes back a buffer that has no references.
func (s *store) put(b *buffer) {
	poison(b.mem)
	if b.class < 0 || s.kept+len(b.mem) > s.max {
		return
	}
	s.kept += len(b.mem)
	s.free[b.class] = append(s.free[b.class], b)
}

// trim drops what has not been needed since it was last called.
func (s *store) trim() {
	for class := range s.free {
		free := s.free[class]
		drop := min(s.low[class], len(free))
		for i := range drop {
			s.kept -= len(free[i].mem)
		}
		n := copy(free, free[drop:])
		clear(free[n:])
		s.free[class] = free[:n]
		s.low[class] = n
	}
}

// bufferClass returns the smallest class with n bytes, and its size.
func bufferClass(n int) (class, size int) {
	if n <= headSize {
		return 0, headSize
	}
	if n > maxBuffer {
		return -1, n
	}
	// n-1 lies in the doubling that begins at 2^e; step is a quarter of that.
	e := bits.Len(uint(n-1)) - 1
	step := 1 << e / classesPerDoubling
	quarter := (n-1-1<<e)/step + 1
	class = (e-bits.Len(headSize)+1)*classesPerDoubling + quarter
	return class, 1<<e + quarter*step
}

// place returns where in a buffer of at least placedSize(n, p) bytes a record
// of n bytes begins, so that its byte p.At is where p wants it, with one unit
// before the record and one after it.
func (p Placement) place(mem []byte) int {
	if p.Unit <= 1 {
		return 0
	}
	unit := uintptr(p.Unit)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(mem))) + unit + uintptr(p.At)
	want := uintptr(p.Offset % uint64(p.Unit))
	return p.Unit + int((want+unit-at%unit)%unit)
}

// placedSize is how large a buffer for a record of n bytes has to be.
func (p Placement) placedSize(n int) int {
	if p.Unit <= 1 {
		return n
	}
	return n + 3*p.Unit
}
