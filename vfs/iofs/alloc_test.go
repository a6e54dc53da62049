//go:build !race

// The race detector allocates where the code does not.

package iofs

import (
	"testing"

	"eddy.example/vfs"
)

func TestAllocations(t *testing.T) {
	tree, paths := forest(1, 3)
	f := New(tree, Config{})
	c := call()
	for name, o := range map[string]vfs.Object{"a short path": object("tree-0"), "a long path": object(paths[0])} {
		h := f.AppendHandle(nil, o)
		if n := testing.AllocsPerRun(100, func() { h = f.AppendHandle(h[:0], o) }); n != 0 {
			t.Errorf("the handle of %s: %v allocations", name, n)
		}
		// The object of a short path is made anew: string and interface.
		if n := testing.AllocsPerRun(100, func() { f.Resolve(c, h) }); n > 2 {
			t.Errorf("resolving %s: %v allocations", name, n)
		}
	}
}
