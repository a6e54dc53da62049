//go:build !race && !invariants && !386

// The race detector and the checks of invariants allocate by themselves; an emulated 386 takes its
// time, in which the runtime allocates.

package metrics

import (
	"runtime"
	"testing"

	"eddy.example/nfs3"
)

// TestObserverAllocations counts what calls allocate, client and server
// together.
func TestObserverAllocations(t *testing.T) {
	_, c := serve(t, NewObserver())
	client, fh := mount(t, c)
	const calls = 1000
	for name, call := range map[string]func() error{
		"NULL":    func() error { return null(t, c, nfs3.NFS_PROGRAM, nfs3.NFS_V3, 0) },
		"GETATTR": func() error { _, err := client.Getattr(t.Context(), fh); return err },
	} {
		run := func() {
			for range calls {
				if err := call(); err != nil {
					t.Fatal(err)
				}
			}
		}
		run()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		// The runtime's own: timers, a goroutine's stack.
		if n := after.Mallocs - before.Mallocs; n > calls/100 {
			t.Errorf("%s: %d allocations in %d calls", name, n, calls)
		}
	}
}
