//go:build !race && !invariants && !386

// Beside what alloc_test.go says: 386 may have to be emulated, where so many
// calls take minutes. What they allocate is the same on every processor.

package nfs3

import (
	"runtime"
	"testing"
)

func TestAllocsTCP(t *testing.T) {
	w, _ := serveGuarded(t)
	c := w.dial(w.listen(), &user)
	fh := mustCreate(c, mustMount(c, "/"), "f", pattern(64<<10))
	calls := steady(c, fh)
	const total = 100_000
	round := func(n int) {
		for range n / len(calls) {
			for name, call := range calls {
				if err := call(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
	round(total / 100)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	round(total)
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > total/1000 {
		t.Errorf("%d allocations in %d calls", n, total)
	}
}
