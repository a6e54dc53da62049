package vfstest

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path"
	"slices"

	"eddy.example/vfs"
)

// sampleNames are the names in a directory of the sample tree, sorted.
func (f *fixture) sampleNames(dir string) (names []string) {
	for _, p := range slices.Sorted(maps.Keys(sampleTree())) {
		if path.Dir(p) == dir && (hasLinks(&f.caps, &f.config) || p != "link" && p != "dangling") {
			names = append(names, path.Base(p))
		}
	}
	return names
}

var readDirCases = []testCase{
	{"Names", sample, sampled(func(f *fixture) {
		for _, dir := range []string{".", "dir", "dir/sub", "vacant", "many"} {
			names, err := f.names(f.mustLookup(dir))
			if want := f.sampleNames(dir); err != nil || !slices.Equal(names, want) {
				f.Errorf("%s: %q, %v, want %q", dir, names, err, want)
			}
		}
	})},
	{"Entries", sample, sampled(func(f *fixture) {
		for _, want := range []vfs.AttrMask{0, vfs.AttrBasic} {
			dir := f.mustLookup("dir")
			entries, _, err := f.list(dir, 0, 1<<30, want)
			f.must(err, "list")
			for _, e := range entries {
				o, err := f.lookup(dir, e.Name)
				f.must(err, "lookup %s", e.Name)
				a := f.mustGetattr(o)
				if e.FileID != a.FileID {
					f.Errorf("%s: fileid %d, Getattr has %d", e.Name, e.FileID, a.FileID)
				}
				if want != 0 && e.Object != nil && e.Object != o {
					f.Errorf("%s: another object than Lookup finds", e.Name)
				}
				if e.Attr.Mask != 0 {
					f.sameAttr(e.Name, e.Attr, a)
				}
			}
		}
	})},
	{"Resume", sample, sampled(func(f *fixture) {
		for _, p := range []string{"vacant", "dir", "many"} {
			dir := f.mustLookup(p)
			all, eof, err := f.list(dir, 0, 1<<30, 0)
			f.must(err, "list")
			if !eof {
				f.Errorf("%s: a whole listing does not end", p)
			}
			last := vfs.FirstCookie - 1
			for _, e := range all {
				if e.Cookie <= last {
					f.Fatalf("%s: cookie %d follows %d", p, e.Cookie, last)
				}
				last = e.Cookie
			}
			for i, e := range all {
				f.sameEntries(dir, e.Cookie, 1<<30, all[i+1:])
			}
			for _, n := range []int{0, 1, 2, 3, 7, 299} {
				f.sameEntries(dir, 0, n, all)
				f.sameEntries(dir, vfs.FirstCookie-1, n, all)
			}
			f.sameEntries(dir, last, 10, nil)
			f.sameEntries(dir, last+1, 10, nil)
			f.sameEntries(dir, math.MaxUint64, 10, nil)
		}
	})},
	{"NotDir", sample, sampled(func(f *fixture) {
		_, _, err := f.list(f.mustLookup("hello"), 0, 10, 0)
		f.want(err, "list a file", vfs.ErrNotDir)
	})},
	{"WhileChanging", canRemove, func(f *fixture) {
		f.readDirWhileChanging()
	}},
}

// sameEntries checks what a listing from after on reports that takes n entries
// and refuses the next: rest are the entries there are.
func (f *fixture) sameEntries(dir vfs.Object, after vfs.Cookie, n int, rest []vfs.DirEntry) {
	f.Helper()
	got, eof, err := f.list(dir, after, n, 0)
	if err == vfs.ErrBadCookie && len(rest) == 0 {
		return // a cookie that was never given out may be refused
	}
	f.must(err, "list from %d", after)
	if want := rest[:min(n, len(rest))]; !slices.Equal(got, want) {
		f.Errorf("from %d, %d entries: got %d, want %d, or others", after, n, len(got), len(want))
	}
	if want := n >= len(rest); eof != want {
		f.Errorf("from %d, %d of %d entries: eof %v, want %v", after, n, len(rest), eof, want)
	}
}

// readDirWhileChanging lists a directory page by page while other entries
// come and go: those that stay are seen once.
func (f *fixture) readDirWhileChanging() {
	r := rand.New(rand.NewPCG(f.config.Seed, 1))
	stay, other := map[string]bool{}, []string{}
	for i := range 200 {
		name := fmt.Sprintf("stays-%03d", i)
		if i%2 == 1 {
			name = fmt.Sprintf("other-%03d", i)
			other = append(other, name)
		} else {
			stay[name] = true
		}
		f.mustCreate(f.root, name, nil)
	}
	for round := range 10 {
		seen := map[string]int{}
		after, eof := vfs.Cookie(0), false
		for !eof {
			var page []vfs.DirEntry
			var err error
			page, eof, err = f.list(f.root, after, 1+r.IntN(9), 0)
			f.must(err, "list from %d", after)
			for _, e := range page {
				seen[e.Name]++
				if e.Cookie <= after {
					f.Fatalf("cookie %d follows %d", e.Cookie, after)
				}
				after = e.Cookie
			}
			if len(page) == 0 && !eof {
				f.Fatal("a page without entries that is not the last")
			}
			for range 3 {
				switch i := r.IntN(len(other) + 1); {
				case i == len(other) && len(other) < 150:
					other = append(other, fmt.Sprintf("new-%d-%d", round, after))
					if _, err := f.lookup(f.root, other[i]); err == nil {
						other = other[:i]
						continue
					}
					f.mustCreate(f.root, other[i], nil)
				case i < len(other):
					_, err := f.remove(f.root, other[i])
					f.must(err, "remove %s", other[i])
					other = slices.Delete(other, i, i+1)
				}
			}
		}
		for name := range stay {
			if seen[name] != 1 {
				f.Errorf("%s was there all the time and seen %d times", name, seen[name])
			}
		}
		for name, n := range seen {
			if n > 1 {
				f.Errorf("%s was seen %d times", name, n)
			}
		}
	}
}
