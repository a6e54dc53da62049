package iofs

import (
	"embed"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"eddy.example/vfs"
)

//go:embed doc.go
var embedded embed.FS

func TestEmbed(t *testing.T) {
	born := time.Unix(1234, 0)
	f := New(embedded, Config{UID: 5, GID: 6, ModTime: born})
	o := lookup(t, f, "doc.go")
	var a vfs.Attr
	if err := f.Getattr(call(), o, vfs.AttrBasic, &a); err != nil {
		t.Fatal(err)
	}
	if want := (vfs.Time{Sec: 1234}); a.Mtime != want || a.Ctime != want || a.Mode != 0o444 || a.UID != 5 || a.GID != 6 {
		t.Errorf("%+v", a)
	}
	if got := read(t, f, o, 0, 20); got != "// Package iofs serv" {
		t.Errorf("%q", got)
	}
}

func TestAttributes(t *testing.T) {
	mtime := time.Unix(1e9, 5)
	for _, tc := range []struct {
		mode     fs.FileMode
		wantType vfs.Type
		wantMode uint32
	}{
		{0o640, vfs.TypeRegular, 0o640},
		{0, vfs.TypeRegular, 0o444},
		{fs.ModeSetuid | fs.ModeSetgid | 0o755, vfs.TypeRegular, 0o6755},
		{fs.ModeDir | 0o750, vfs.TypeDirectory, 0o750},
		{fs.ModeDir | fs.ModeSticky | 0o777, vfs.TypeDirectory, 0o1777},
		{fs.ModeDir, vfs.TypeDirectory, 0o555},
		{fs.ModeSymlink | 0o777, vfs.TypeSymlink, 0o777},
		{fs.ModeNamedPipe | 0o600, vfs.TypeFIFO, 0o600},
		{fs.ModeSocket | 0o600, vfs.TypeSocket, 0o600},
		{fs.ModeDevice | 0o600, vfs.TypeBlock, 0o600},
		{fs.ModeDevice | fs.ModeCharDevice | 0o600, vfs.TypeChar, 0o600},
		{fs.ModeIrregular | 0o600, vfs.TypeChar, 0o600},
	} {
		f := New(fstest.MapFS{"x": {Mode: tc.mode, ModTime: mtime, Data: []byte("data")}}, Config{})
		var a vfs.Attr
		if err := f.Getattr(call(), object("x"), vfs.AttrBasic, &a); err != nil {
			t.Fatal(err)
		}
		if a.Type != tc.wantType || a.Mode != tc.wantMode {
			t.Errorf("%v: type %d, mode %o, want %d, %o", tc.mode, a.Type, a.Mode, tc.wantType, tc.wantMode)
		}
		if want := (vfs.Time{Sec: 1e9, Nsec: 5}); a.Mtime != want {
			t.Errorf("%v: mtime %v", tc.mode, a.Mtime)
		}
	}
}

// Nobody but root needs to be let in by more than the mode.
func TestPermissions(t *testing.T) {
	f := New(fstest.MapFS{
		"secret":       {Mode: 0o600, Data: []byte("x")},
		"private":      {Mode: fs.ModeDir | 0o700},
		"private/file": {Mode: 0o644},
	}, Config{})
	user := call()
	user.Cred = vfs.Cred{UID: 1000, GID: 1000}
	if _, _, err := f.Read(user, object("secret"), make([]byte, 1), 0); err != vfs.ErrAccess {
		t.Errorf("read: %v", err)
	}
	if _, err := f.Lookup(user, object("private"), "file", nil); err != vfs.ErrAccess {
		t.Errorf("lookup: %v", err)
	}
	if _, err := f.ReadDir(user, object("private"), 0, 0, nil); err != vfs.ErrAccess {
		t.Errorf("list: %v", err)
	}
	if got, err := f.Access(call(), object("secret"), vfs.AccessRead|vfs.AccessModify|vfs.AccessExtend); got != vfs.AccessRead || err != nil {
		t.Errorf("root's access: %#x, %v", got, err)
	}
}

func TestListings(t *testing.T) {
	old := time.Unix(1e9, 0)
	counting := &countingFS{MapFS: fstest.MapFS{
		"dir":      {Mode: fs.ModeDir | 0o755, ModTime: old},
		"dir/file": {},
	}}
	f := New(counting, Config{})
	names := func() (all string) {
		if _, err := f.ReadDir(call(), object("dir"), 0, 0, func(e *vfs.DirEntry) bool {
			all += e.Name + " "
			return true
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	for range 3 {
		if got := names(); got != "file " {
			t.Errorf("%q", got)
		}
	}
	if n := counting.lists["dir"]; n != 1 {
		t.Errorf("the directory was read %d times", n)
	}
	counting.MapFS["dir/more"] = new(fstest.MapFile)
	counting.MapFS["dir"].ModTime = old.Add(time.Second)
	if got := names(); got != "file more " {
		t.Errorf("with a new time: %q", got)
	}
	counting.MapFS["dir/third"] = new(fstest.MapFile)
	f.Invalidate(object("dir"))
	if got := names(); got != "file more third " {
		t.Errorf("after Invalidate: %q", got)
	}

	// A change right after may leave the time as it is: nothing is remembered.
	counting.MapFS["dir"].ModTime = time.Now().Add(time.Hour)
	names()
	counting.MapFS["dir/zero"] = new(fstest.MapFile)
	if got := names(); got != "file more third zero " {
		t.Errorf("with a time not yet settled: %q", got)
	}
}

// A name that no path of an fs.FS can have is not listed: nobody could look it
// up.
func TestImpossibleNames(t *testing.T) {
	f := New(impossible{fstest.MapFS{}}, Config{})
	var names []string
	if _, err := f.ReadDir(call(), root, 0, 0, func(e *vfs.DirEntry) bool {
		names = append(names, e.Name)
		return true
	}); err != nil || len(names) != 1 || names[0] != "good" {
		t.Errorf("%q, %v", names, err)
	}
}

type impossible struct{ fstest.MapFS }

func (impossible) ReadDir(string) (list []fs.DirEntry, err error) {
	for _, name := range []string{"", ".", "..", "a/b", "good", "\xff"} {
		list = append(list, fs.FileInfoToDirEntry(namedInfo{name: name}))
	}
	return list, nil
}

type namedInfo struct {
	fs.FileInfo
	name string
}

func (i namedInfo) Name() string      { return i.name }
func (i namedInfo) Mode() fs.FileMode { return 0o444 }
