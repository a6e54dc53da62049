package local

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"eddy.example/vfs"
)

// TestManyEntries lists a large directory in small pages, of which each is a
// call that does not work through what is before it.
func TestManyEntries(t *testing.T) {
	total := 10_000
	if os.Getenv("EDDY_LONG") != "" {
		total = 1_000_000
	}
	dir := t.TempDir()
	for n := range total {
		if err := os.Symlink("x", filepath.Join(dir, fmt.Sprint("entry-", n))); err != nil {
			t.Fatal(err)
		}
	}
	f := open(t, Config{Root: dir})
	for _, want := range []vfs.AttrMask{0, vfs.AttrBasic} {
		seen := make(map[string]bool, total)
		after, eof := vfs.Cookie(0), false
		for !eof {
			var err error
			n, last := 0, after
			eof, err = f.ReadDir(root(), f.root, after, want, func(e *vfs.DirEntry) bool {
				if n++; n > 500 {
					return false
				}
				if seen[e.Name] {
					t.Fatalf("%s was seen twice", e.Name)
				}
				if e.Cookie <= last || (want != 0) != (e.Object != nil) {
					t.Fatalf("%s: cookie %d after %d, object %v", e.Name, e.Cookie, last, e.Object)
				}
				seen[e.Name], last = true, e.Cookie
				return true
			})
			noError(t, err)
			after = last
		}
		if len(seen) != total {
			t.Errorf("%d entries were seen, want %d", len(seen), total)
		}
	}
}

func TestCookies(t *testing.T) {
	for _, at := range []int64{0, 1, 2, 3, 1<<31 - 1, 1<<63 - 2, 1<<63 - 1} {
		c := orderGrowing.cookie(0, at)
		if o, back := orderOf(c); c < vfs.FirstCookie || o != orderGrowing || back != at {
			t.Errorf("growing, %d: cookie %#x is %d, %d", at, c, o, back)
		}
	}
	last := vfs.Cookie(0)
	for _, at := range []int64{1<<31 - 2, 1 << 30, 3, 2} {
		c := orderFalling.cookie(1<<31-1, at)
		if o, back := orderOf(c); c <= last || o != orderFalling || back != at {
			t.Errorf("falling, %d: cookie %#x is %d, %d, after %#x", at, c, o, back, last)
		}
		last = c
	}
	end := orderFalling.cookie(2, 1<<31-1)
	if o, at := orderOf(end); end <= last || o != orderFalling || at != 1<<63-1 {
		t.Errorf("falling, the end: cookie %#x is %d, %d", end, o, at)
	}
	for _, c := range []vfs.Cookie{0, 1, 2} {
		if o, at := orderOf(c); o != orderUnknown || at != 0 {
			t.Errorf("the beginning: %d, %d", o, at)
		}
	}
}
