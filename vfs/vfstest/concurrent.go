package vfstest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"eddy.example/vfs"
)

// workers is how many goroutines a test has.
const workers = 8

// parallel runs do in all workers at once.
func parallel(do func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range workers {
		wg.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	wg.Wait()
}

var concurrentCases = []testCase{
	{"Reads", sample, sampled(func(f *fixture) {
		o, data := f.mustLookup("big"), sampleTree()["big"].Data
		leaf := f.mustLookup("dir/sub/leaf")
		h := f.handle(leaf)
		parallel(func(i int) {
			r := rand.New(rand.NewPCG(f.config.Seed, uint64(i)))
			for range 100 {
				off, n := r.IntN(len(data)), r.IntN(100000)
				got, eof, err := f.read(o, uint64(off), n)
				if want := data[off:min(off+n, len(data))]; err != nil || !bytes.Equal(got, want) || eof != (off+n >= len(data)) {
					f.Errorf("%d bytes at %d: %d, eof %v, %v", n, off, len(got), eof, err)
				}
				if got, err := f.resolve(h); got != leaf || err != nil {
					f.Errorf("resolve: %v, %v", got, err)
				}
			}
		})
	})},
	{"Writes", canWrite, func(f *fixture) {
		// Of writes to one range one is the last, and whole.
		o := f.mustCreate(f.root, "file", nil)
		const n = 3*4096 + 5
		for range 20 {
			parallel(func(i int) {
				if got, _, err := f.write(o, bytes.Repeat([]byte{byte('a' + i)}, n), 100); got != n || err != nil {
					f.Errorf("write: %d, %v", got, err)
				}
			})
			got := f.mustRead(o)
			if len(got) != 100+n || bytes.Count(got, got[100:101]) != n {
				f.Errorf("parts of several writes, or %d bytes", len(got))
			}
		}
	}},
	{"WriteChanges", canWrite, func(f *fixture) {
		// What is said to be before and after a write leaves no other write
		// in between.
		o := f.mustCreate(f.root, "file", nil)
		var mu sync.Mutex
		var all []vfs.Change
		parallel(func(i int) {
			for k := range 50 {
				_, chg, err := f.write(o, []byte{1}, uint64(i*50+k))
				if err != nil {
					f.Errorf("write: %v", err)
				}
				if chg.Pre.Has(vfs.AttrChange) && chg.Post.Has(vfs.AttrChange) {
					mu.Lock()
					all = append(all, chg)
					mu.Unlock()
				}
			}
		})
		f.inTurn(all)
	}},
	{"DirectoryChanges", canWrite, func(f *fixture) {
		var mu sync.Mutex
		var all []vfs.Change
		parallel(func(i int) {
			for k := range 50 {
				_, _, chg, err := f.create(f.root, fmt.Sprintf("%d-%d", i, k), vfs.CreateGuarded, [8]byte{}, *mode(0o644))
				if err != nil {
					f.Errorf("create: %v", err)
				}
				if chg.Pre.Has(vfs.AttrChange) && chg.Post.Has(vfs.AttrChange) {
					mu.Lock()
					all = append(all, chg)
					mu.Unlock()
				}
			}
		})
		f.inTurn(all)
	}},
	{"Guarded", canWrite, func(f *fixture) {
		for k := range 30 {
			f.oneWins(fmt.Sprintf("file-%d", k), vfs.CreateGuarded)
		}
	}},
	{"Exclusive", canWrite, func(f *fixture) {
		for k := range 30 {
			f.oneWins(fmt.Sprintf("file-%d", k), vfs.CreateExclusive)
		}
	}},
	{"Replace", canRename, func(f *fixture) {
		// A name that is replaced is there all the time.
		f.mustCreate(f.root, "name", nil)
		var done atomic.Bool
		parallel(func(i int) {
			if i > 0 {
				for !done.Load() {
					if _, err := f.lookup(f.root, "name"); err != nil {
						f.Errorf("lookup: %v", err)
						return
					}
				}
				return
			}
			defer done.Store(true)
			for range 200 {
				if _, _, _, err := f.create(f.root, "new", vfs.CreateGuarded, [8]byte{}, *mode(0o644)); err != nil {
					f.Errorf("create: %v", err)
					return
				}
				if _, _, err := f.rename(f.root, "new", f.root, "name"); err != nil {
					f.Errorf("rename: %v", err)
					return
				}
			}
		})
	}},
	{"Tree", both(canRename, canRmdir), func(f *fixture) { f.storm() }},
}

// inTurn checks that changes of one object follow each other.
func (f *fixture) inTurn(all []vfs.Change) {
	f.Helper()
	slices.SortFunc(all, func(a, b vfs.Change) int {
		if a.Pre.Change < b.Pre.Change {
			return -1
		}
		return 1
	})
	for i, c := range all {
		if c.Post.Change <= c.Pre.Change {
			f.Errorf("change went from %d to %d", c.Pre.Change, c.Post.Change)
		}
		if i > 0 && c.Pre.Change < all[i-1].Post.Change {
			f.Errorf("one change from %d to %d, another from %d to %d", all[i-1].Pre.Change, all[i-1].Post.Change, c.Pre.Change, c.Post.Change)
		}
	}
}

// oneWins lets all workers create one name: one of them does.
func (f *fixture) oneWins(name string, how vfs.CreateMode) {
	f.Helper()
	var won atomic.Int32
	parallel(func(i int) {
		switch _, _, _, err := f.create(f.root, name, how, [8]byte{byte(i + 1)}, vfs.SetAttr{}); err {
		case nil:
			won.Add(1)
		case vfs.ErrExist:
		default:
			f.Errorf("create: %v", err)
		}
	})
	if n := won.Load(); n != 1 {
		f.Errorf("%s was created %d times", name, n)
	}
}

// storm changes names in all workers at once, directories above and below each
// other too, and looks whether a tree is left. Errors are expected; a call
// that never comes back is not.
func (f *fixture) storm() {
	dirs := []vfs.Object{f.root}
	for i := range 4 {
		dirs = append(dirs, f.mustMkdir(f.root, fmt.Sprintf("d%d", i)))
	}
	parallel(func(i int) {
		r := rand.New(rand.NewPCG(f.config.Seed, uint64(i)))
		name := func() string { return fmt.Sprintf("d%d", r.IntN(6)) }
		for range f.config.Steps / 4 {
			dir, to := dirs[r.IntN(len(dirs))], dirs[r.IntN(len(dirs))]
			switch r.IntN(6) {
			case 0:
				f.mkdir(dir, name())
			case 1:
				f.rmdir(dir, name())
			case 2:
				f.create(dir, name(), vfs.CreateUnchecked, [8]byte{}, *mode(0o644))
			case 3:
				f.names(dir)
				f.lookup(dir, "..")
			default:
				f.rename(dir, name(), to, name())
			}
		}
	})
	seen := map[vfs.Object]bool{}
	var walk func(dir, parent vfs.Object)
	walk = func(dir, parent vfs.Object) {
		if seen[dir] {
			f.Fatal("a directory has two names")
		}
		seen[dir] = true
		if up, err := f.lookup(dir, ".."); up != parent || err != nil {
			f.Errorf("a directory's parent is %v, %v, want %v", up, err, parent)
		}
		names, err := f.names(dir)
		f.must(err, "list")
		subdirs := uint32(0)
		for _, name := range names {
			o, err := f.lookup(dir, name)
			f.must(err, "lookup %s, which is listed", name)
			if f.mustGetattr(o).Type == vfs.TypeDirectory {
				subdirs++
				walk(o, dir)
			}
		}
		f.linkCount("a directory", dir, subdirs)
	}
	walk(f.root, f.root)
}
