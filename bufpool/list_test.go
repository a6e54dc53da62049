package bufpool

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestList compares a list with a slice.
func TestList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l list
		var want []*Run
		pop := func(got *Run, at int) {
			if len(want) == 0 {
				if got != nil {
					t.Fatal("popped from an empty list")
				}
				return
			}
			if at < 0 {
				at = len(want) - 1
			}
			if got != want[at] {
				t.Fatal("popped the wrong one")
			}
			want = slices.Delete(want, at, at+1)
		}
		t.Repeat(map[string]func(*rapid.T){
			"pushFront": func(*rapid.T) {
				r := new(Run)
				l.pushFront(r)
				want = slices.Insert(want, 0, r)
			},
			"pushBack": func(*rapid.T) {
				r := new(Run)
				l.pushBack(r)
				want = append(want, r)
			},
			"popFront": func(*rapid.T) { pop(l.popFront(), 0) },
			"popBack":  func(*rapid.T) { pop(l.popBack(), -1) },
			"remove": func(t *rapid.T) {
				if len(want) == 0 {
					return
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "i")
				l.remove(want[i])
				want = slices.Delete(want, i, i+1)
			},
			"": func(t *rapid.T) {
				var forth, back []*Run
				for r := l.front; r != nil; r = r.next {
					forth = append(forth, r)
				}
				for r := l.back; r != nil; r = r.prev {
					back = append(back, r)
				}
				slices.Reverse(back)
				if !slices.Equal(forth, want) || !slices.Equal(back, want) || l.n != len(want) {
					t.Fatalf("%d runs, %d forth, %d back, want %d", l.n, len(forth), len(back), len(want))
				}
			},
		})
	})
}
