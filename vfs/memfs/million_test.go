//go:build !race

// The race detector has nothing to find in one goroutine, and takes its time
// over a million entries.

package memfs

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"eddy.example/vfs"
)

// A million entries: every look at the directory touches a few of them.
func TestDirectoryMillion(t *testing.T) {
	const n = 1 << 20
	d := newDirectory()
	for i := range n {
		d.add(fmt.Sprint(i), nil)
	}
	list := make([]entry, 100)
	for _, i := range []int{0, 1, n / 2, n - 100} {
		if got := d.copyFrom(vfs.FirstCookie-1+vfs.Cookie(i), list); got != len(list) || list[0].name != fmt.Sprint(i) {
			t.Errorf("%d entries from %q, want those from %d", got, list[0].name, i)
		}
	}
	// Removed from the front, as rm -r does, and every second one.
	for i := range n / 2 {
		d.remove(d.names[fmt.Sprint(i)])
	}
	for i := n / 2; i < n; i += 2 {
		d.remove(d.names[fmt.Sprint(i)])
	}
	d.check(t)
	if got := d.copyFrom(0, list); got != len(list) || list[0].name != fmt.Sprint(n/2+1) {
		t.Errorf("%d entries from %q", got, list[0].name)
	}
	for _, name := range slices.Collect(maps.Keys(d.names)) {
		d.remove(d.names[name])
	}
	if d.check(t); d.blocks != nil {
		t.Errorf("an empty directory keeps %d blocks", len(d.blocks))
	}
}
