package blockdev

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// unit returns a unit that is all v.
func unit(v byte) []byte { return bytes.Repeat([]byte{v}, Unit) }

// first is the first byte of each page.
func first(pages []page) (b []byte) {
	for _, p := range pages {
		if p == nil {
			b = append(b, 0)
		} else {
			b = append(b, p[0])
		}
	}
	return b
}

// An image has what was written before the last flush, or what some write behind it
// has put there since, and nothing else.
func TestImage(t *testing.T) {
	const units = 8
	rapid.Check(t, func(t *rapid.T) {
		l := newLog(units)
		now := make([]byte, units)
		states := [][]byte{slices.Clone(now)} // at each moment
		var flushed []int                     // for each moment, the moment behind the last flush
		flushed = append(flushed, 0)
		for i := range rapid.IntRange(0, 40).Draw(t, "events") {
			if rapid.IntRange(0, 3).Draw(t, "flush") == 0 {
				l.flush()
				flushed = append(flushed, i+1)
			} else {
				at := rapid.IntRange(0, units-1).Draw(t, "at")
				n := rapid.IntRange(1, units-at).Draw(t, "n")
				var data []byte
				for range n {
					v := rapid.Byte().Draw(t, "value")
					data = append(data, unit(v)...)
					now[at] = v
					at++
				}
				if err := l.write(data, int64(at-n)*Unit); err != nil {
					t.Fatal(err)
				}
				flushed = append(flushed, flushed[i])
			}
			states = append(states, slices.Clone(now))
		}
		for range 10 {
			cut := rapid.IntRange(0, len(states)-1).Draw(t, "cut")
			image := first(l.image(cut, rapid.Uint64().Draw(t, "seed")))
			for u, v := range image {
				possible := false
				for _, s := range states[flushed[cut] : cut+1] {
					possible = possible || s[u] == v
				}
				if !possible {
					t.Fatalf("cut at %d: unit %d is %d, and was not since %d", cut, u, v, flushed[cut])
				}
			}
		}
	})
}

func TestSubsetsDiffer(t *testing.T) {
	l := newLog(4)
	if err := l.write(bytes.Repeat(unit(1), 4), 0); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for seed := range uint64(500) {
		image := l.image(1, seed)
		if !slices.Equal(image, l.image(1, seed)) {
			t.Fatalf("seed %d has two images", seed)
		}
		seen[string(first(image))] = true
	}
	if len(seen) != 1<<4 {
		t.Errorf("%d subsets of 4 units", len(seen))
	}
}

func TestForget(t *testing.T) {
	l := newLog(2)
	l.write(unit(1), 0)
	l.forget()
	if n := l.len(); n != 0 {
		t.Errorf("%d events", n)
	}
	l.write(unit(2), Unit)
	l.flush()
	l.write(unit(3), 0)
	if got := first(l.image(2, 0)); !bytes.Equal(got, []byte{1, 2}) {
		t.Errorf("got %v", got)
	}
	if got := first(l.image(0, 0)); !bytes.Equal(got, []byte{1, 0}) {
		t.Errorf("got %v", got)
	}
	if got := l.flushes(); !slices.Equal(got, []int{2}) {
		t.Errorf("flushes %v", got)
	}
}

func TestOnlyWholeUnits(t *testing.T) {
	l := newLog(2)
	for _, c := range []struct {
		off int64
		n   int
	}{{1, Unit}, {0, 1}, {-Unit, Unit}, {2 * Unit, Unit}, {Unit, 2 * Unit}, {1 << 62, Unit}} {
		if err := l.write(make([]byte, c.n), c.off); !errors.Is(err, errRange) {
			t.Errorf("%d bytes at %d: %v", c.n, c.off, err)
		}
		if err := l.read(make([]byte, c.n), c.off); !errors.Is(err, errRange) {
			t.Errorf("%d bytes at %d: %v", c.n, c.off, err)
		}
	}
	if l.len() != 0 {
		t.Error("refused writes are events")
	}
}
