package memfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"eddy.example/vfs"
)

// call is a call of root that may not wait: nothing here needs to.
func call() *vfs.Call { return &vfs.Call{Context: context.Background()} }

// open finds what a path names.
func open(t testing.TB, fs *FS, names ...string) *inode {
	t.Helper()
	o := fs.root
	for _, name := range names {
		var err error
		if o, err = o.lookup(call(), name); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// write makes a file in the root.
func write(t testing.TB, fs *FS, name string, size int) *inode {
	t.Helper()
	if err := fs.WriteFile(name, make([]byte, size), 0o644); err != nil {
		t.Fatal(err)
	}
	return open(t, fs, name)
}

func TestHandles(t *testing.T) {
	fs, other := New(Config{}), New(Config{})
	i := write(t, fs, "file", 10)
	h := fs.AppendHandle(nil, i)
	if len(h) != handleSize {
		t.Errorf("%d bytes", len(h))
	}
	for _, tc := range []struct {
		name string
		fs   *FS
		h    []byte
		want error
	}{
		{"good", fs, h, nil},
		{"of another FS", other, h, vfs.ErrStale},
		{"short", fs, h[:15], vfs.ErrBadHandle},
		{"long", fs, append(bytes.Clone(h), 0), vfs.ErrBadHandle},
		{"never given out", fs, append([]byte{1}, h[1:]...), vfs.ErrStale},
	} {
		if _, err := tc.fs.Resolve(call(), tc.h); err != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}

	if err := fs.Remove(call(), fs.root, "file", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Resolve(call(), h); err != vfs.ErrStale {
		t.Errorf("after the removal: %v, want %v", err, vfs.ErrStale)
	}
	if again := write(t, fs, "file", 10); again.attr.FileID == i.attr.FileID {
		t.Error("an inode number was used again")
	}
	// Who found the inode before it was removed has it no longer.
	var a vfs.Attr
	if err := fs.Getattr(call(), i, vfs.AttrBasic, &a); err != vfs.ErrStale {
		t.Errorf("Getattr: %v", err)
	}
	if _, _, err := fs.Read(call(), i, make([]byte, 1), 0); err != vfs.ErrStale {
		t.Errorf("Read: %v", err)
	}
	if _, _, _, err := fs.Write(call(), i, []byte("x"), 0, vfs.Unstable, nil); err != vfs.ErrStale {
		t.Errorf("Write: %v", err)
	}
	if err := fs.Link(call(), i, fs.root, "link", nil, nil); err != vfs.ErrStale {
		t.Errorf("Link: %v", err)
	}
}

func TestVerifier(t *testing.T) {
	fs, other := New(Config{}), New(Config{})
	i := write(t, fs, "file", 0)
	_, did, v, err := fs.Write(call(), i, []byte("x"), 0, vfs.Unstable, nil)
	if err != nil || did != vfs.Unstable {
		t.Errorf("stability %d, %v", did, err)
	}
	if committed, err := fs.Commit(call(), i, 0, 0, nil); err != nil || committed != v {
		t.Errorf("COMMIT %x, %v, WRITE %x", committed, err, v)
	}
	if v == other.verifier {
		t.Error("two FS have one verifier")
	}
}

// The verifier of an exclusive CREATE is a client's until it has set the
// attributes.
func TestExclusiveVerifierEnds(t *testing.T) {
	fs := New(Config{})
	create := func() (vfs.Object, error) {
		return fs.Create(call(), fs.root, "file", vfs.CreateExclusive, [8]byte{7}, new(vfs.SetAttr), nil, nil)
	}
	o, err := create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create(); err != nil {
		t.Fatal(err)
	}
	if err := fs.Setattr(call(), o, &vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o600}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := create(); err != vfs.ErrExist {
		t.Errorf("%v, want %v", err, vfs.ErrExist)
	}
}

func TestTimes(t *testing.T) {
	now := time.Unix(1000, 500)
	fs := New(Config{Now: func() time.Time { return now }})
	i := write(t, fs, "file", 0)
	created := i.attr
	if want := (vfs.Time{Sec: 1000, Nsec: 500}); created.Btime != want || created.Atime != want {
		t.Errorf("born %v, read %v, want %v", created.Btime, created.Atime, want)
	}
	step := func(what string, do func() error, wantM, wantC vfs.Time) {
		t.Helper()
		change := i.attr.Change
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if i.attr.Mtime != wantM || i.attr.Ctime != wantC {
			t.Errorf("%s: mtime %v, ctime %v, want %v, %v", what, i.attr.Mtime, i.attr.Ctime, wantM, wantC)
		}
		if i.attr.Change != change+1 {
			t.Errorf("%s: change went from %d to %d", what, change, i.attr.Change)
		}
	}
	data := func() error { _, _, _, err := fs.Write(call(), i, []byte("x"), 0, vfs.Unstable, nil); return err }
	attr := func(s vfs.SetAttr) func() error {
		return func() error { return fs.Setattr(call(), i, &s, nil, nil) }
	}
	at := func(sec int64, ns uint32) vfs.Time { return vfs.Time{Sec: sec, Nsec: ns} }

	now = time.Unix(2000, 0)
	step("a write", data, at(2000, 0), at(2000, 0))
	step("a write at the same time", data, at(2000, 1), at(2000, 1))
	now = time.Unix(1500, 0)
	step("a write with the clock set back", data, at(2000, 2), at(2000, 2))
	now = time.Unix(3000, 0)
	step("a mode", attr(vfs.SetAttr{Mask: vfs.AttrMode}), at(2000, 2), at(3000, 0))
	step("a size", attr(vfs.SetAttr{Mask: vfs.AttrSize, Size: 5}), at(3000, 1), at(3000, 1))
	step("a time", attr(vfs.SetAttr{SetMtime: vfs.TimeGiven, Mtime: at(7, 8)}), at(7, 8), at(3000, 2))
	step("the server's time", attr(vfs.SetAttr{SetMtime: vfs.TimeServer}), at(3000, 3), at(3000, 3))
	now = time.Unix(3999, 999999999)
	step("the last moment of a second", data, at(3999, 999999999), at(3999, 999999999))
	step("the moment after", data, at(4000, 0), at(4000, 0))

	before := i.attr
	if _, _, err := fs.Read(call(), i, make([]byte, 5), 0); err != nil {
		t.Fatal(err)
	}
	if i.attr != before {
		t.Error("reading changed the attributes")
	}
}

func TestSpace(t *testing.T) {
	const limit = 1 << 20
	fs := New(Config{Bytes: limit})
	statfs := func() (s vfs.Statfs) {
		if err := fs.Statfs(call(), fs.root, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := statfs(); s.TotalBytes != limit || s.FreeBytes != limit || s.AvailBytes != limit {
		t.Errorf("%+v", s)
	}

	i := write(t, fs, "file", 0)
	n, _, _, err := fs.Write(call(), i, make([]byte, 2*limit), 0, vfs.Unstable, nil)
	if err != nil || n == 0 || n >= limit || n%pageSize != 0 {
		t.Errorf("a write of twice the limit: %d, %v", n, err)
	}
	if i.attr.Size != uint64(n) || i.attr.Used != uint64(n) {
		t.Errorf("size %d, used %d, want %d", i.attr.Size, i.attr.Used, n)
	}
	if n, _, _, err := fs.Write(call(), i, []byte("x"), uint64(n), vfs.Unstable, nil); n != 0 || err != vfs.ErrNoSpace {
		t.Errorf("a write without space: %d, %v", n, err)
	}
	if n, _, _, err := fs.Write(call(), i, []byte("x"), 0, vfs.Unstable, nil); n != 1 || err != nil {
		t.Errorf("a write in place: %d, %v", n, err)
	}
	for k := 0; err == nil; k++ {
		_, err = fs.Mkdir(call(), fs.root, fmt.Sprint(k), new(vfs.SetAttr), nil, nil)
	}
	if err != vfs.ErrNoSpace {
		t.Errorf("directories until there is no space: %v", err)
	}
	err = nil
	for k := 0; err == nil; k++ {
		err = fs.Link(call(), i, fs.root, fmt.Sprint("link", k), nil, nil)
	}
	if err != vfs.ErrNoSpace {
		t.Errorf("links until there is no space: %v", err)
	}
	if err := fs.WriteFile("other", nil, 0o644); !errors.Is(err, vfs.ErrNoSpace) {
		t.Errorf("a file: %v", err)
	}
	if err := fs.Rename(call(), fs.root, "file", fs.root, "a longer name", nil, nil); err != nil {
		t.Errorf("a rename: %v", err)
	}
	if s := statfs(); s.FreeBytes >= 2*pageSize || s.FreeFiles >= 2*pageSize/inodeCost {
		t.Errorf("full, but %+v", s)
	}

	// Everything comes back.
	if err := fs.Setattr(call(), i, &vfs.SetAttr{Mask: vfs.AttrSize, Size: 1}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if s := statfs(); s.FreeBytes < uint64(n)-2*pageSize {
		t.Errorf("after a cut %d are free", s.FreeBytes)
	}
	var names []string
	fs.ReadDir(call(), fs.root, 0, 0, func(e *vfs.DirEntry) bool { names = append(names, e.Name); return true })
	for _, name := range names {
		if err := fs.Remove(call(), fs.root, name, nil); err != nil {
			if err := fs.Rmdir(call(), fs.root, name, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s := statfs(); s.FreeBytes != limit {
		t.Errorf("with nothing left %d of %d are free", s.FreeBytes, limit)
	}
	if fs.root.attr.Size != 0 || fs.root.attr.Nlink != 2 {
		t.Errorf("the root has %d bytes, %d links", fs.root.attr.Size, fs.root.attr.Nlink)
	}
}

// A gigabyte of hole, with a page at either end.
func TestSparse(t *testing.T) {
	fs := New(Config{Bytes: 1 << 20})
	i := write(t, fs, "file", 1)
	if _, _, _, err := fs.Write(call(), i, []byte("x"), 1<<30, vfs.Unstable, nil); err != nil {
		t.Fatal(err)
	}
	if i.attr.Used != 2*pageSize || i.attr.Size != 1<<30+1 {
		t.Errorf("used %d, size %d", i.attr.Used, i.attr.Size)
	}
	if err := fs.Setattr(call(), i, &vfs.SetAttr{Mask: vfs.AttrSize, Size: 1 << 29}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if i.attr.Used != pageSize || len(i.data.chunks) != 1 {
		t.Errorf("after the cut: used %d, %d chunks", i.attr.Used, len(i.data.chunks))
	}
}

func TestTooManyLinks(t *testing.T) {
	fs := New(Config{})
	i := write(t, fs, "file", 0)
	for k := 1; k < maxLink; k++ {
		if err := fs.Link(call(), i, fs.root, fmt.Sprint(k), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := fs.Link(call(), i, fs.root, "one more", nil, nil); err != vfs.ErrTooManyLinks {
		t.Errorf("%v, want %v", err, vfs.ErrTooManyLinks)
	}
	if i.attr.Nlink != maxLink {
		t.Errorf("%d links", i.attr.Nlink)
	}
}

// Writes, cuts and removals of the same files at once leave nothing behind.
func TestSpaceUnderConcurrency(t *testing.T) {
	fs := New(Config{Bytes: 4 << 20})
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for k := range 300 {
				name := fmt.Sprint(k % 3)
				o, err := fs.Create(call(), fs.root, name, vfs.CreateUnchecked, [8]byte{}, new(vfs.SetAttr), nil, nil)
				if err != nil {
					t.Error(err)
					return
				}
				fs.Write(call(), o, make([]byte, 20000), uint64(k*1000), vfs.Unstable, nil)
				switch (k + g) % 3 {
				case 0:
					fs.Remove(call(), fs.root, name, nil)
				case 1:
					fs.Setattr(call(), o, &vfs.SetAttr{Mask: vfs.AttrSize, Size: 5000}, nil, nil)
				}
			}
		})
	}
	wg.Wait()
	for k := range 3 {
		fs.Remove(call(), fs.root, fmt.Sprint(k), nil)
	}
	if used := fs.space.used.Load(); used != 0 {
		t.Errorf("%d bytes are used by nothing", used)
	}
}

func TestPopulate(t *testing.T) {
	fs := New(Config{})
	if err := fs.WriteFile("/a/b/../b/file", []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := fs.WriteFile("a/b/file", []byte("2"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 10)
	i := open(t, fs, "a", "b", "file")
	if n, eof, err := fs.Read(call(), i, p, 0); string(p[:n]) != "2" || !eof || err != nil {
		t.Errorf("%q, %v, %v", p[:n], eof, err)
	}
	if i.attr.Mode != 0o640 {
		t.Errorf("mode %o: that of an existing file stays", i.attr.Mode)
	}
	if err := fs.MkdirAll("/a/b", 0o700); err != nil {
		t.Error(err)
	}
	if err := fs.MkdirAll("/", 0o700); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"a file on the way":     fs.MkdirAll("/a/b/file/more", 0o700),
		"a file where it ends":  fs.MkdirAll("/a/b/file", 0o700),
		"writing below a file":  fs.WriteFile("/a/b/file/x", nil, 0o600),
		"writing a directory":   fs.WriteFile("/a/b", nil, 0o600),
		"writing the directory": fs.WriteFile("/", nil, 0o600),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
