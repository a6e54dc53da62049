package bufpool

import (
	"testing"

	"pgregory.net/rapid"
)

// TestGate puts runs that somebody still reads, lends as much as the pool has,
// and expects the readers to see nothing of it; or, with the tag ungated, that
// they do.
func TestGate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New(Config{Cap: 1})
		n := PageSize << rapid.IntRange(0, classes-4).Draw(t, "class")
		var readers []*Run
		for i := range rapid.IntRange(1, 4).Draw(t, "readers") {
			r := p.Get(n)
			if r == nil {
				break
			}
			stamp(r, uint64(i))
			r.Retain()
			defer r.Release()
			readers = append(readers, r)
		}
		for _, r := range readers {
			p.Put(r)
		}
		for range 200 {
			r := p.Get(n)
			if r == nil {
				break
			}
			stamp(r, ^uint64(0))
		}
		changed := 0
		for i, r := range readers {
			if !stamped(r, uint64(i)) {
				changed++
			}
		}
		if Gated && changed > 0 || !Gated && changed != len(readers) {
			t.Fatalf("%d of %d runs changed while they were read", changed, len(readers))
		}
	})
}
