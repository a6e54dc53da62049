package local

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"eddy.example/vfs"
)

// TestBehindOurBack changes the tree without the server, which sees it at the
// next call.
func TestBehindOurBack(t *testing.T) {
	dir := t.TempDir()
	f := open(t, Config{Root: dir})
	path := filepath.Join(dir, "file")
	noError(t, os.WriteFile(path, []byte("contents"), 0o644))
	o := lookup(t, f, f.root, "file")
	h := f.AppendHandle(nil, o)
	see := func(what string, want string, err error) {
		t.Helper()
		got, e := read(f, o)
		if e == vfs.ErrDelay {
			e = settle(f, func() error { got, e = read(f, o); return e })
		}
		if got != want || e != err {
			t.Errorf("%s: %q, %v, want %q, %v", what, got, e, want, err)
		}
		var a vfs.Attr
		if e := f.Getattr(root(), o, vfs.AttrBasic, &a); err == nil && (e != nil || int(a.Size) != len(want)) {
			t.Errorf("%s: size %d, %v, want %d", what, a.Size, e, len(want))
		}
	}
	see("at first", "contents", nil)
	noError(t, os.WriteFile(path, []byte("other contents"), 0o644))
	see("longer", "other contents", nil)
	noError(t, os.Truncate(path, 3))
	see("cut", "oth", nil)
	noError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	noError(t, os.Rename(path, filepath.Join(dir, "sub/renamed")))
	see("renamed", "oth", nil)
	noError(t, os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "bus")))
	see("its directory renamed", "oth", nil)
	if _, err := f.Lookup(root(), f.root, "file", nil); err != vfs.ErrNotExist {
		t.Errorf("the old name: %v", err)
	}
	noError(t, os.Rename(filepath.Join(dir, "bus/renamed"), path))
	noError(t, os.WriteFile(filepath.Join(dir, "new"), []byte("new"), 0o644))
	noError(t, os.Rename(filepath.Join(dir, "new"), path))
	see("replaced", "", vfs.ErrStale)
	if again := lookup(t, f, f.root, "file"); again == o {
		t.Error("what took its place is the same object")
	} else if got, err := read(f, again); got != "new" || err != nil {
		t.Errorf("what took its place: %q, %v", got, err)
	}
	noError(t, os.Remove(path))
	if _, err := f.Lookup(root(), f.root, "file", nil); err != vfs.ErrNotExist {
		t.Errorf("removed: %v", err)
	}
	err := settle(f, func() error {
		o, err := f.Resolve(root(), h)
		if err == nil {
			err = f.Getattr(root(), o, vfs.AttrBasic, new(vfs.Attr))
		}
		return err
	})
	if err != vfs.ErrStale {
		t.Errorf("the handle of a removed file: %v", err)
	}
}

// TestChange makes changes as fast as possible: each shows in the change
// attribute, also where two have one ctime.
func TestChange(t *testing.T) {
	f := open(t, Config{AsyncMetadata: true})
	o := create(t, f, f.root, "file", "")
	last := uint64(0)
	for n := range 1000 {
		var chg vfs.Change
		_, _, _, err := f.Write(root(), o, []byte{1}, uint64(n), vfs.Unstable, &chg)
		noError(t, err)
		if chg.Pre.Change < last || chg.Post.Change <= chg.Pre.Change {
			t.Fatalf("change %d, then %d and %d", last, chg.Pre.Change, chg.Post.Change)
		}
		if chg.Pre.Size != uint64(n) || chg.Post.Size != uint64(n+1) {
			t.Fatalf("size %d before and %d after, want %d and 1 more", chg.Pre.Size, chg.Post.Size, n)
		}
		last = chg.Post.Change
	}
}

func TestChangeOfEqualTicks(t *testing.T) {
	var x changes
	v := x.at(1000)
	if v != 1000 || x.at(1000) != v {
		t.Errorf("seen first: %d", v)
	}
	if v = x.after(1000, v); v != 1001 || x.at(1000) != v {
		t.Errorf("changed in one tick: %d", v)
	}
	if v = x.after(5000, v); v != 5000 {
		t.Errorf("changed later: %d", v)
	}
	if v = x.at(4000); v <= 5000 {
		t.Errorf("the clock was set back: %d", v)
	}
}

// forget makes the kernel forget the names it knows, where it may be told to: as
// after a start of the host, the kernel knows files by their handles then but
// not where they are.
func forget() { os.WriteFile("/proc/sys/vm/drop_caches", []byte("2"), 0) }

// TestRestart opens a directory again: handles are good, and an exclusive
// CREATE that comes again finds its file.
func TestRestart(t *testing.T) {
	for _, handles := range []Handles{HandlesAuto, HandlesMap} {
		t.Run(handles.String(), func(t *testing.T) {
			c := Config{Root: t.TempDir(), State: t.TempDir(), Handles: handles, AsyncMetadata: true}
			f, err := Open(c)
			noError(t, err)
			a := mkdir(t, f, f.root, "a")
			file := f.AppendHandle(nil, create(t, f, mkdir(t, f, a, "b"), "file", "contents"))
			verf := [8]byte{0xff, 2, 3, 4, 0x85, 6, 7, 8}
			o, err := f.Create(root(), a, "exclusive", vfs.CreateExclusive, verf, new(vfs.SetAttr), nil, nil)
			noError(t, err)
			exclusive := f.AppendHandle(nil, o)
			noError(t, f.Rename(root(), f.root, "a", f.root, "renamed", nil, nil))
			verifier := f.currentVerifier()
			noError(t, f.Close())
			forget()

			f = open(t, c)
			if f.currentVerifier() == verifier {
				t.Error("the write verifier is the same after a restart")
			}
			served(t, f, "after a rename of its directory's and a restart", file)
			dir := lookup(t, f, f.root, "renamed")
			o, err = f.Create(root(), dir, "exclusive", vfs.CreateExclusive, verf, new(vfs.SetAttr), nil, nil)
			if err != nil || string(f.AppendHandle(nil, o)) != string(exclusive) {
				t.Errorf("the exclusive CREATE again: %v", err)
			}
			for n := range verf {
				other := verf
				other[n] ^= 0x80
				if _, err := f.Create(root(), dir, "exclusive", vfs.CreateExclusive, other, new(vfs.SetAttr), nil, nil); vfs.Cause(err) != vfs.ErrExist {
					t.Errorf("with another verifier: %v", err)
				}
			}
			noError(t, f.Setattr(root(), o, &vfs.SetAttr{SetAtime: vfs.TimeServer, SetMtime: vfs.TimeServer}, nil, nil))
			if _, err := f.Create(root(), dir, "exclusive", vfs.CreateExclusive, verf, new(vfs.SetAttr), nil, nil); vfs.Cause(err) != vfs.ErrExist {
				t.Errorf("after a SETATTR: %v", err)
			}
		})
	}
}

// TestMovedWhileAway renames behind the back of a server that does not run:
// then there is a search, one for all.
func TestMovedWhileAway(t *testing.T) {
	for _, handles := range []Handles{HandlesAuto, HandlesMap} {
		t.Run(handles.String(), func(t *testing.T) {
			c := Config{Root: t.TempDir(), State: t.TempDir(), Handles: handles, AsyncMetadata: true}
			f, err := Open(c)
			noError(t, err)
			moved := f.AppendHandle(nil, create(t, f, mkdir(t, f, f.root, "a"), "file", "contents"))
			gone := f.AppendHandle(nil, create(t, f, f.root, "gone", "contents"))
			noError(t, f.Close())
			noError(t, os.Rename(filepath.Join(c.Root, "a"), filepath.Join(c.Root, "z")))
			noError(t, os.Rename(filepath.Join(c.Root, "z/file"), filepath.Join(c.Root, "z/elsewhere")))
			noError(t, os.Remove(filepath.Join(c.Root, "gone")))
			forget()

			f = open(t, c)
			passes := 0
			f.search.begin = func() { passes++ }
			served(t, f, "moved while nobody looked", moved)
			o, err := f.Resolve(root(), moved)
			if err != nil || o != lookup(t, f, f.root, "z/elsewhere") {
				t.Errorf("another object: %v, %v", o, err)
			}
			err = settle(f, func() error {
				o, err := f.Resolve(root(), gone)
				if err == nil {
					err = f.Getattr(root(), o, vfs.AttrBasic, new(vfs.Attr))
				}
				return err
			})
			if err != vfs.ErrStale {
				t.Errorf("removed while nobody looked: %v", err)
			}
			f.search.wg.Wait()
			if passes > 4 {
				t.Errorf("%d passes", passes)
			}
		})
	}
}

// TestOneSearch asks for several objects while a search is stopped.
func TestOneSearch(t *testing.T) {
	c := Config{Root: t.TempDir(), Handles: HandlesMap, AsyncMetadata: true}
	f, err := Open(c)
	noError(t, err)
	var handles [][]byte
	for _, name := range []string{"a", "b", "c"} {
		handles = append(handles, f.AppendHandle(nil, create(t, f, f.root, name, "contents")))
	}
	noError(t, f.Close())

	f = open(t, c)
	begin, passes := make(chan struct{}), 0
	f.search.begin = func() { <-begin; passes++ }
	for range 5 {
		for _, h := range handles {
			if _, err := f.Resolve(root(), h); err != vfs.ErrDelay {
				t.Errorf("while there is a search: %v", err)
			}
		}
	}
	close(begin)
	f.search.wg.Wait()
	if passes != 2 {
		t.Errorf("%d passes, want one, and one look for more", passes)
	}
	for _, h := range handles {
		served(t, f, "found by a search", h)
	}
}

// A search for files is none for their directory: of that nobody asks for the end, and
// what was not found would be news to whoever asks when it is back.
func TestSearchForChildren(t *testing.T) {
	c := Config{Root: filepath.Join(t.TempDir(), "export"), State: t.TempDir(), AsyncMetadata: true}
	noError(t, os.Mkdir(c.Root, 0o755))
	f, err := Open(c)
	noError(t, err)
	dir := mkdir(t, f, f.root, "a")
	var handles [][]byte
	for _, name := range []string{"b", "c"} {
		handles = append(handles, f.AppendHandle(nil, create(t, f, dir, name, "contents")))
		// The kernel does not tell all names of a file.
		noError(t, os.Link(filepath.Join(c.Root, "a", name), filepath.Join(c.Root, "a", name+" too")))
	}
	noError(t, f.Close())
	noError(t, os.Rename(filepath.Join(c.Root, "a"), filepath.Join(c.Root, "../outside")))
	forget()

	f = open(t, c)
	for _, want := range []error{vfs.ErrDelay, vfs.ErrStale} {
		for _, h := range handles {
			o, err := f.Resolve(root(), h)
			if err == nil {
				err = f.Getattr(root(), o, vfs.AttrBasic, new(vfs.Attr))
			}
			if err != want {
				t.Errorf("a file outside: %v, want %v", err, want)
			}
		}
		f.search.wg.Wait()
	}
	for k := range f.search.gone {
		t.Errorf("nobody knows that %v was not found", k)
	}
}

// What is above an object is not searched for before the object: the second time that
// this is asked for there is an answer.
func TestSearchWithoutDescriptors(t *testing.T) {
	c := Config{Root: filepath.Join(t.TempDir(), "export"), Handles: HandlesMap, AsyncMetadata: true}
	noError(t, os.Mkdir(c.Root, 0o755))
	f := open(t, c)
	dir := mkdir(t, f, f.root, "dir").(*inode)
	sub := mkdir(t, f, dir, "sub").(*inode)
	for _, i := range []*inode{dir, sub} {
		if h := i.file.Swap(nil); h != nil {
			h.release()
		}
	}
	noError(t, os.Rename(filepath.Join(c.Root, "dir"), filepath.Join(c.Root, "../outside")))
	for _, want := range []error{vfs.ErrDelay, vfs.ErrStale} {
		if err := f.Getattr(root(), sub, vfs.AttrBasic, new(vfs.Attr)); err != want {
			t.Errorf("outside: %v, want %v", err, want)
		}
		f.search.wg.Wait()
	}
	noError(t, os.Rename(filepath.Join(c.Root, "../outside"), filepath.Join(c.Root, "back")))
	for _, i := range []*inode{dir, sub} {
		if err := settle(f, func() error { return f.Getattr(root(), i, vfs.AttrBasic, new(vfs.Attr)) }); err != nil {
			t.Errorf("back: %v", err)
		}
	}
}

func TestGuardedByItsCtime(t *testing.T) {
	f := open(t, Config{AsyncMetadata: true, Clock: stopped{}})
	o := create(t, f, f.root, "file", "contents")
	var a vfs.Attr
	noError(t, f.Getattr(root(), o, vfs.AttrBasic, &a))
	guard := a.Ctime
	guard.Nsec ^= 1
	if err := f.Setattr(root(), o, &vfs.SetAttr{Mask: vfs.AttrSize}, &guard, nil); err != vfs.ErrNotSync {
		t.Errorf("another ctime: %v", err)
	}
	noError(t, f.Setattr(root(), o, &vfs.SetAttr{Mask: vfs.AttrSize}, &a.Ctime, nil))
}

// stopped is a clock by which nothing settles.
type stopped struct{}

func (stopped) Now() time.Time { return time.Unix(0, 0) }
