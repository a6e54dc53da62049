package export_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
)

var local = &export.Caller{Local: true}

func call() *vfs.Call { return &vfs.Call{Context: context.Background(), MayWait: true} }

func newFS(t *testing.T, paths ...string) *memfs.FS {
	t.Helper()
	fs := memfs.New(memfs.Config{})
	for _, p := range paths {
		if err := fs.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

func newTable(t *testing.T, exports ...export.Export) *export.Table {
	t.Helper()
	table, err := export.NewTable(export.Key{1}, exports...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// handleOf is the handle a client gets for path.
func handleOf(t *testing.T, table *export.Table, path string) []byte {
	t.Helper()
	e, o, err := table.Mount(call(), path, local)
	if err != nil {
		t.Fatal(err)
	}
	return table.AppendHandle(nil, e, o)
}

func TestTableErrors(t *testing.T) {
	fs := newFS(t)
	for _, tc := range []struct {
		name    string
		exports []export.Export
		message string
	}{
		{"relative path", []export.Export{{Path: "data", FS: fs}}, "path"},
		{"path with ..", []export.Export{{Path: "/a/../b", FS: fs}}, "path"},
		{"path with NUL", []export.Export{{Path: "/a\x00", FS: fs}}, "path"},
		{"path too long", []export.Export{{Path: "/" + strings.Repeat("a", export.MaxPath), FS: fs}}, "path"},
		{"no FS", []export.Export{{Path: "/"}}, "no FS"},
		{"invalid network", []export.Export{{Path: "/", FS: fs, Networks: []netip.Prefix{{}}}}, "network"},
		{"half a network of IPv4 in IPv6", []export.Export{{Path: "/", FS: fs, Networks: []netip.Prefix{netip.MustParsePrefix("::ffff:0.0.0.0/95")}}}, "network"},
		{"unknown squash", []export.Export{{Path: "/", FS: fs, Squash: 9}}, "squash"},
		{"one path twice", []export.Export{{Path: "/a", FS: fs}, {Path: "/a/", FS: fs, FSID: 9}}, "two"},
		{"one id twice", []export.Export{{Path: "/a", FS: fs, FSID: 9}, {Path: "/b", FS: fs, FSID: 9}}, "same id"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := export.NewTable(export.NewKey(), tc.exports...)
			if err == nil || !strings.Contains(err.Error(), tc.message) {
				t.Errorf("%v, want something about %q", err, tc.message)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	fs := newFS(t, "/dir/file")
	table := newTable(t, export.Export{Path: "/", FS: fs}, export.Export{Path: "/other", FS: newFS(t)})
	h := handleOf(t, table, "/dir")

	e, o, err := table.Resolve(call(), h, local)
	if err != nil {
		t.Fatal(err)
	}
	if e.Path != "/" || e.FS != vfs.FS(fs) || e.Caps.Write == nil {
		t.Errorf("entry %q, caps %+v", e.Path, e.Caps)
	}
	if _, err := fs.Lookup(call(), o, "file", nil); err != nil {
		t.Error(err)
	}
	if got := table.AppendHandle(nil, e, o); string(got) != string(h) {
		t.Errorf("the object's handle is %x, it came from %x", got, h)
	}

	t.Run("another table's handle", func(t *testing.T) {
		foreign, err := export.NewTable(export.Key{2}, export.Export{Path: "/", FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := foreign.Resolve(call(), h, local); err != vfs.ErrBadHandle {
			t.Errorf("%v, want %v", err, vfs.ErrBadHandle)
		}
	})
	t.Run("another process, the same key", func(t *testing.T) {
		again := newTable(t, export.Export{Path: "/new", FS: newFS(t)}, export.Export{Path: "/", FS: fs})
		if _, got, err := again.Resolve(call(), h, local); err != nil || got != o {
			t.Errorf("%v, %v", got, err)
		}
	})
	t.Run("a caller who may not", func(t *testing.T) {
		e, _, err := table.Resolve(call(), h, &export.Caller{Addr: netip.MustParseAddrPort("192.0.2.1:700")})
		if e != nil || err != vfs.ErrAccess {
			t.Errorf("%v, %v, want %v", e, err, vfs.ErrAccess)
		}
	})
	t.Run("an object that is gone", func(t *testing.T) {
		h := handleOf(t, table, "/dir")
		root, _ := fs.Resolve(call(), nil)
		if err := fs.Remove(call(), o, "file", nil); err != nil {
			t.Fatal(err)
		}
		if err := fs.Rmdir(call(), root, "dir", nil); err != nil {
			t.Fatal(err)
		}
		if e, _, err := table.Resolve(call(), h, local); e == nil || err != vfs.ErrStale {
			t.Errorf("%v, %v, want %v", e, err, vfs.ErrStale)
		}
	})
}

// blocking hides that memfs never waits.
type blocking struct{ vfs.FS }

func TestResolveWouldBlock(t *testing.T) {
	table := newTable(t, export.Export{Path: "/", FS: blocking{newFS(t)}})
	h := handleOf(t, table, "/")
	e, _, err := table.Resolve(&vfs.Call{}, h, local)
	if e == nil || err != vfs.ErrWouldBlock {
		t.Errorf("Resolve: %v, %v, want %v", e, err, vfs.ErrWouldBlock)
	}
	if _, _, err := table.Mount(&vfs.Call{}, "/", local); err != vfs.ErrWouldBlock {
		t.Errorf("Mount: %v, want %v", err, vfs.ErrWouldBlock)
	}
}

func TestMount(t *testing.T) {
	outer, inner := newFS(t, "/a/b/file", "/inner/hidden"), newFS(t, "/x/file")
	root, _ := outer.Resolve(call(), nil)
	if _, err := outer.Symlink(call(), root, "link", "/a", &vfs.SetAttr{}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := outer.MkdirAll("/private/below", 0o700); err != nil {
		t.Fatal(err)
	}
	exports := []export.Export{{Path: "/srv", FS: outer}, {Path: "/srv/inner", FS: inner}}
	for _, tc := range []struct {
		path string
		fs   vfs.FS
		err  error
	}{
		{"/srv", outer, nil},
		{"/srv/", outer, nil},
		{"//srv//a/./b/", outer, nil},
		{"/srv/inner", inner, nil},
		{"/srv/inner/x", inner, nil},
		{"/srv/inner/hidden", nil, vfs.ErrNotExist},
		{"/srvx", nil, vfs.ErrNotExist},
		{"/", nil, vfs.ErrNotExist},
		{"/elsewhere", nil, vfs.ErrNotExist},
		{"/srv/nothing", nil, vfs.ErrNotExist},
		{"/srv/a/b/file", nil, vfs.ErrNotDir},
		{"/srv/a/b/file/more", nil, vfs.ErrNotDir},
		{"/srv/link", nil, vfs.ErrNotDir},
		{"/srv/link/b", nil, vfs.ErrNotDir},
		{"/srv/a/..", nil, vfs.ErrInvalid},
		{"/srv/private/below", nil, vfs.ErrAccess},
		{"/srv/" + strings.Repeat("n", 256), nil, vfs.ErrNameTooLong},
		{"/srv/" + strings.Repeat("n/", 600), nil, vfs.ErrInvalid},
		{"srv", nil, vfs.ErrInvalid},
		{"", nil, vfs.ErrNotExist}, // the same as "/"
	} {
		t.Run(fmt.Sprintf("%.20q", tc.path), func(t *testing.T) {
			table := newTable(t, exports...)
			e, o, err := table.Mount(call(), tc.path, &export.Caller{Local: true, Cred: vfs.Cred{UID: 1000, GID: 1000}})
			if !errors.Is(err, tc.err) {
				t.Fatalf("%v, want %v", err, tc.err)
			}
			if err == nil && (e.FS != tc.fs || o == nil) {
				t.Errorf("export %s", e.Path)
			}
		})
	}
	t.Run("not admitted", func(t *testing.T) {
		table := newTable(t, exports...)
		if _, _, err := table.Mount(call(), "/srv", new(export.Caller)); err != vfs.ErrAccess {
			t.Errorf("%v, want %v", err, vfs.ErrAccess)
		}
	})
	t.Run("everything is below /", func(t *testing.T) {
		table := newTable(t, export.Export{Path: "/", FS: outer}, export.Export{Path: "/a", FS: inner})
		for path, fs := range map[string]vfs.FS{"": outer, "/": outer, "/inner": outer, "/a": inner, "/a/x": inner} {
			if e, _, err := table.Mount(call(), path, local); err != nil || e.FS != fs {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
}

func TestAddRemoveReload(t *testing.T) {
	fs := newFS(t, "/dir/file")
	table := newTable(t, export.Export{Path: "/a", FS: fs})
	h := handleOf(t, table, "/a/dir")
	check := func(want error) {
		t.Helper()
		if _, _, err := table.Resolve(call(), h, local); err != want {
			t.Errorf("%v, want %v", err, want)
		}
	}
	paths := func() (s string) {
		for _, e := range table.Entries() {
			s += e.Path + " "
		}
		return s
	}

	if err := table.Add(export.Export{Path: "/Z", FS: newFS(t)}); err != nil {
		t.Fatal(err)
	}
	if got, want := paths(), "/Z /a "; got != want {
		t.Errorf("exports %q, want %q", got, want)
	}
	if err := table.Add(export.Export{Path: "/a", FS: fs}); !errors.Is(err, vfs.ErrExist) {
		t.Errorf("added twice: %v", err)
	}
	check(nil)

	if err := table.Remove("/a/"); err != nil {
		t.Fatal(err)
	}
	check(vfs.ErrStale)
	if err := table.Remove("/a"); !errors.Is(err, vfs.ErrNotExist) {
		t.Errorf("removed twice: %v", err)
	}
	if err := table.Add(export.Export{Path: "/a", FS: fs}); err != nil {
		t.Fatal(err)
	}
	check(nil)

	before := table.Entries()[1]
	if err := table.Reload(export.Export{Path: "/a", FS: fs, ReadOnly: true}, export.Export{Path: "/b", FS: fs}); err != nil {
		t.Fatal(err)
	}
	check(nil)
	now, other := table.Entries()[0], table.Entries()[1]
	if !now.ReadOnly || now == before || !now.Same(before) {
		t.Error("the entry after a Reload is not the same export with other terms")
	}
	if now.Same(other) {
		t.Error("two exports are the same")
	}
	if err := table.Reload(export.Export{Path: "/a", FS: newFS(t)}); err != nil {
		t.Fatal(err)
	}
	if table.Entries()[0].Same(before) {
		t.Error("another FS at the same path is the same")
	}
	if err := table.Reload(export.Export{Path: "bad", FS: fs}); err == nil || paths() != "/a " {
		t.Errorf("a bad Reload: %v, exports now %q", err, paths())
	}
}

// An FS may be of a type that can't be compared.
func TestReloadUncomparable(t *testing.T) {
	type list struct {
		vfs.FS
		_ []int
	}
	// outer is of a type that can be compared, with a value in it that can't.
	outer := blocking{list{FS: newFS(t)}}
	for _, fs := range []vfs.FS{outer.FS, outer} {
		table := newTable(t, export.Export{Path: "/", FS: fs})
		if err := table.Reload(export.Export{Path: "/", FS: fs}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConcurrentReload(t *testing.T) {
	fs := newFS(t, "/dir/file")
	table := newTable(t, export.Export{Path: "/a", FS: fs})
	h := handleOf(t, table, "/a/dir")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				if _, _, err := table.Resolve(call(), h, local); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 500 {
		if err := table.Reload(export.Export{Path: "/a", FS: fs, ReadOnly: i%2 == 0}); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}

func TestKeyIsNotPrinted(t *testing.T) {
	k := export.NewKey()
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		plain := fmt.Sprintf(format, [16]byte(k))
		if got := fmt.Sprintf(format, k); strings.Contains(got, plain) {
			t.Errorf("%s prints %s", format, got)
		}
	}
	if k == export.NewKey() {
		t.Error("two new keys are equal")
	}
}
