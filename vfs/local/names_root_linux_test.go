package local

import (
	"bytes"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// These tests need root: for handles of the file system's, and for mounting.

// withoutOpening lets do run while the process can open as many files as left says,
// and no more.
func withoutOpening(t *testing.T, left uint64, do func()) {
	t.Helper()
	lowest, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	noError(t, err)
	unix.Close(lowest)
	var was unix.Rlimit
	noError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &was))
	noError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(lowest) + left, Max: was.Max}))
	defer func() { noError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &was)) }()
	do()
}

// What was looked up before, and is in use, is found again without being opened.
func TestLookupOpensNothing(t *testing.T) {
	both(t, func(t *testing.T, f *FS, top string) {
		noError(t, os.Symlink("file", filepath.Join(top, "export/a/b/link")))
		dir := lookup(t, f, f.root, "a/b")
		loop := &vfs.Call{Context: root().Context}
		for _, tc := range []struct {
			dir  vfs.Object
			name string
		}{{f.root, "a"}, {dir, "file"}, {dir, "link"}} {
			want := lookup(t, f, tc.dir, tc.name)
			var got vfs.Object
			var attr, now vfs.Attr
			var err error
			withoutOpening(t, 0, func() { got, err = f.Lookup(loop, tc.dir, tc.name, &attr) })
			noError(t, f.Getattr(root(), want, vfs.AttrBasic, &now))
			if err != nil || got != want || attr != now {
				t.Errorf("%s: %v, %v with %+v, want %v with %+v", tc.name, err, got, attr, want, now)
			}
		}
	})
}

// The names that are remembered are bounded, and keep no inode in memory.
func TestNamesBounded(t *testing.T) {
	const files = 1000
	f := open(t, Config{MaxOpenFiles: 16})
	dir := f.root
	for n := range files {
		create(t, f, dir, fmt.Sprint(n), "")
	}
	for range 2 {
		for n := range files {
			o := lookup(t, f, dir, fmt.Sprint(n))
			var a vfs.Attr
			noError(t, f.Getattr(root(), o, vfs.AttrBasic, &a))
			if o.(*inode).place.Load().name.String() != fmt.Sprint(n) {
				t.Fatalf("%d: another object", n)
			}
		}
	}
	f.files.clear(f)
	runtime.GC()
	entries, held := 0, 0
	for n := range f.names.sets {
		for k := range f.names.sets[n] {
			if e := f.names.sets[n][k].Load(); e != nil {
				entries++
				if e.inode.Value() != nil {
					held++
				}
			}
		}
	}
	if entries == 0 || entries > 16*len(nameSet{}) || held > 1 {
		t.Errorf("%d names, %d inodes", entries, held)
	}
	for files, want := range map[int]int{1: 1, 2: 2, 3: 4, 4096: 4096, 1 << 30: maxNames / len(nameSet{})} {
		if got := len(makeNames(f.seed, files).sets); got != want {
			t.Errorf("%d sets for %d files, want %d", got, files, want)
		}
	}
}

// Whatever takes a name behind the server's back is seen at once, also if it has
// the inode number of what was there.
func TestNameTaken(t *testing.T) {
	kinds := map[string]func(path, contents string) error{
		"removed and made again": func(path, contents string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.WriteFile(path, []byte(contents), 0o644)
		},
		"renamed over": func(path, contents string) error {
			if err := os.WriteFile(path+".new", []byte(contents), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
	}
	for _, at := range []string{os.TempDir(), "/dev/shm"} {
		for kind, replace := range kinds {
			for _, handles := range []Handles{HandlesKernel, HandlesMap} {
				t.Run(fmt.Sprint(at, ", ", kind, ", ", handles), func(t *testing.T) {
					dir, err := os.MkdirTemp(at, "names")
					noError(t, err)
					t.Cleanup(func() { os.RemoveAll(dir) })
					f := open(t, Config{Root: dir, Handles: handles})
					path := filepath.Join(dir, "file")
					noError(t, os.WriteFile(path, []byte("first"), 0o644))
					seen := map[string]bool{string(f.AppendHandle(nil, lookup(t, f, f.root, "file"))): true}
					for n := range 200 {
						if n%2 == 1 {
							f.files.clear(f) // so that the number can be used again
						}
						contents := fmt.Sprint("contents ", n)
						noError(t, replace(path, contents))
						o := lookup(t, f, f.root, "file")
						h := string(f.AppendHandle(nil, o))
						if seen[h] {
							t.Fatalf("round %d: a handle of before", n)
						}
						seen[h] = true
						if got, err := read(f, o); got != contents || err != nil {
							t.Fatalf("round %d: %q, %v", n, got, err)
						}
						if again := lookup(t, f, f.root, "file"); again != o {
							t.Fatalf("round %d: two objects", n)
						}
					}
				})
			}
		}
	}
}

func TestNamesOfOneFile(t *testing.T) {
	both(t, func(t *testing.T, f *FS, top string) {
		dir := filepath.Join(top, "export/a/b")
		noError(t, os.Link(filepath.Join(dir, "file"), filepath.Join(dir, "other")))
		b := lookup(t, f, f.root, "a/b")
		file := lookup(t, f, b, "file")
		for range 3 {
			for _, name := range []string{"other", "file"} {
				if o := lookup(t, f, b, name); o != file {
					t.Fatalf("%s is another object", name)
				}
			}
		}
		noError(t, f.Remove(root(), b, "other", nil))
		if _, err := f.Lookup(root(), b, "other", nil); err != vfs.ErrNotExist {
			t.Errorf("a name that was removed: %v", err)
		}
		noError(t, os.Rename(filepath.Join(dir, "file"), filepath.Join(dir, "third")))
		noError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
		if o := lookup(t, f, b, "file"); o == file {
			t.Error("the name of a file that was renamed still leads there")
		}
		if o := lookup(t, f, b, "third"); o != file {
			t.Error("the new name leads to another object")
		}
	})
}

// A name that something is mounted on is not that of what lies below, and also not
// if that is the same.
func TestMountedOn(t *testing.T) {
	both(t, func(t *testing.T, f *FS, top string) {
		b := filepath.Join(top, "export/a/b")
		dir := lookup(t, f, f.root, "a")
		was := lookup(t, f, dir, "b")
		for _, how := range []struct {
			from, kind string
			flags      uintptr
		}{{"tmpfs", "tmpfs", 0}, {b, "", unix.MS_BIND}} {
			noError(t, unix.Mount(how.from, b, how.kind, how.flags, ""))
			_, err := f.Lookup(root(), dir, "b", nil)
			noError(t, unix.Unmount(b, unix.MNT_DETACH))
			if err != vfs.ErrAccess {
				t.Errorf("with %s mounted: %v", how.from, err)
			}
			if o := lookup(t, f, dir, "b"); o != was {
				t.Errorf("after %s was mounted: another object", how.from)
			}
		}
	})
}

// Files take turns with a name while it is looked up.
func TestLookupDuringRenames(t *testing.T) {
	f := open(t, Config{})
	dir := f.root.mount.root
	x, y := create(t, f, f.root, "x", "x"), create(t, f, f.root, "y", "y")
	handles := [][]byte{f.AppendHandle(nil, x), f.AppendHandle(nil, y)}
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if err := unix.Renameat2(dir, "x", dir, "y", unix.RENAME_EXCHANGE); err != nil {
					t.Errorf("exchange: %v", err)
					return
				}
			}
		}
	})
	var lookers sync.WaitGroup
	for _, name := range []string{"x", "y"} {
		lookers.Go(func() {
			for range 2000 {
				var a vfs.Attr
				o, err := f.Lookup(root(), f.root, name, &a)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				h := f.AppendHandle(nil, o)
				if !bytes.Equal(h, handles[0]) && !bytes.Equal(h, handles[1]) || a.FileID != o.(*inode).ino {
					t.Errorf("%s: another object, %x", name, h)
				}
			}
		})
	}
	lookers.Wait()
	close(stop)
	others.Wait()
}

// What a call that changes nothing has seen of its object it leaves.
func TestLeaves(t *testing.T) {
	both(t, func(t *testing.T, f *FS, top string) {
		noError(t, os.Symlink("file", filepath.Join(top, "export/a/b/link")))
		noError(t, os.Truncate(filepath.Join(top, "export/a/b/file"), 64<<10))
		dir := lookup(t, f, f.root, "a/b")
		file, link := lookup(t, f, dir, "file"), lookup(t, f, dir, "link")
		f.SetReadSource(ReadMapped)
		buf := make([]byte, 64<<10)
		for _, tc := range []struct {
			name string
			o    vfs.Object
			call func(c *vfs.Call) error
		}{
			{"Lookup", dir, func(c *vfs.Call) error { _, err := f.Lookup(c, dir, "file", nil); return err }},
			{"Read", file, func(c *vfs.Call) error { _, _, err := f.Read(c, file, buf, 0); return err }},
			{"ReadSegment", file, func(c *vfs.Call) error {
				s, _, err := f.ReadSegment(c, file, 0, len(buf))
				if err == nil {
					s.Owner.Release()
				}
				return err
			}},
			{"Access", file, func(c *vfs.Call) error { _, err := f.Access(c, file, vfs.AccessRead); return err }},
			{"Readlink", link, func(c *vfs.Call) error { _, err := f.Readlink(c, link); return err }},
		} {
			if tc.name == "ReadSegment" && bits.UintSize < 64 {
				continue // there are none
			}
			var got, want vfs.Attr
			c := root()
			c.Attr, c.KernelSends = &got, true
			noError(t, tc.call(c))
			noError(t, f.Getattr(root(), tc.o, vfs.AttrBasic, &want))
			got.Atime, want.Atime = vfs.Time{}, vfs.Time{}
			if got != want {
				t.Errorf("%s has left %+v, want %+v", tc.name, got, want)
			}
		}
	})
}
