package local

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"eddy.example/vfs"
)

// TestMovedMeanwhile moves a directory up and down inside the tree while it,
// what is in it, and what is below are looked at: they are never outside.
func TestMovedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	noError(t, os.MkdirAll(filepath.Join(dir, "a/b/c/moved/sub"), 0o755))
	noError(t, os.WriteFile(filepath.Join(dir, "a/b/c/moved/sub/file"), nil, 0o644))
	f := open(t, Config{Root: dir})
	sub := lookup(t, f, f.root, "a/b/c/moved/sub")
	file := lookup(t, f, sub, "file")

	stop := make(chan struct{})
	var mover sync.WaitGroup
	mover.Go(func() {
		places := []string{"a/b/c/moved", "a/moved", "moved", "a/b/moved"}
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			from, to := places[n%len(places)], places[(n+1)%len(places)]
			if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer mover.Wait()
	defer close(stop)
	for n := range 5_000 {
		for _, o := range []vfs.Object{sub, file} {
			err := f.Getattr(root(), o, vfs.AttrBasic, new(vfs.Attr))
			if err != nil && err != vfs.ErrDelay {
				t.Fatalf("look %d: %v", n, err)
			}
		}
		if _, err := f.Lookup(root(), sub, "..", nil); err != nil && err != vfs.ErrDelay {
			t.Fatalf("look %d at the directory above: %v", n, err)
		}
	}
}
