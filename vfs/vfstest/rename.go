package vfstest

import (
	"slices"

	"eddy.example/vfs"
)

var renameCases = []testCase{
	{"Within", canRename, func(f *fixture) {
		o := f.mustCreate(f.root, "old", []byte("contents"))
		f.changes(f.root, "a rename", func() vfs.Change {
			chg, _, err := f.rename(f.root, "old", f.root, "new")
			f.must(err, "rename")
			return chg
		})
		if got, err := f.lookup(f.root, "new"); got != o || err != nil {
			f.Errorf("the new name: %v, %v, want %v", got, err, o)
		}
		_, err := f.lookup(f.root, "old")
		f.want(err, "the old name", vfs.ErrNotExist)
		if names, _ := f.names(f.root); !slices.Equal(names, []string{"new"}) {
			f.Errorf("names %q", names)
		}
	}},
	{"Across", canRename, func(f *fixture) {
		a, b := f.mustMkdir(f.root, "a"), f.mustMkdir(f.root, "b")
		dir := f.mustMkdir(a, "dir")
		f.mustCreate(dir, "file", nil)
		f.changes(a, "a move, the old directory", func() (chg vfs.Change) {
			f.changes(b, "a move, the new directory", func() vfs.Change {
				from, to, err := f.rename(a, "dir", b, "moved")
				f.must(err, "rename")
				chg = from
				return to
			})
			return chg
		})
		f.linkCount("the old parent", a, 0)
		f.linkCount("the new parent", b, 1)
		f.mustLookup("b/moved/file")
		if o, err := f.lookup(dir, ".."); o != b || err != nil {
			f.Errorf("its parent is %v, %v, want %v", o, err, b)
		}
	}},
	{"Replace", canRename, func(f *fixture) {
		new := f.mustCreate(f.root, "new", []byte("new"))
		old := f.mustCreate(f.root, "old", []byte("old"))
		h := f.handle(old)
		_, _, err := f.rename(f.root, "new", f.root, "old")
		f.must(err, "rename")
		if o, err := f.lookup(f.root, "old"); o != new || err != nil {
			f.Errorf("the name is %v, %v, want %v", o, err, new)
		}
		if names, _ := f.names(f.root); !slices.Equal(names, []string{"old"}) {
			f.Errorf("names %q", names)
		}
		f.staleOr(h, old)

		full, empty := f.mustMkdir(f.root, "full"), f.mustMkdir(f.root, "empty")
		f.mustCreate(full, "file", nil)
		h = f.handle(empty)
		_, _, err = f.rename(f.root, "full", f.root, "empty")
		f.must(err, "rename over an empty directory")
		f.mustLookup("empty/file")
		f.staleOr(h, empty)
		f.linkCount("the parent", f.root, 1)
	}},
	{"Incompatible", canRename, func(f *fixture) {
		f.mustCreate(f.root, "file", []byte("contents"))
		f.mustMkdir(f.root, "empty")
		full := f.mustMkdir(f.root, "full")
		f.mustCreate(full, "x", nil)
		for _, tc := range []struct {
			from, to string
			errs     []error
		}{
			{"file", "empty", []error{vfs.ErrIsDir, vfs.ErrExist}},
			{"file", "full", []error{vfs.ErrIsDir, vfs.ErrExist, vfs.ErrNotEmpty}},
			{"empty", "file", []error{vfs.ErrNotDir, vfs.ErrExist}},
			{"empty", "full", []error{vfs.ErrNotEmpty, vfs.ErrExist}},
			{"nothing", "file", []error{vfs.ErrNotExist}},
			{"nothing", "nowhere", []error{vfs.ErrNotExist}},
			{".", "x", []error{vfs.ErrInvalid, vfs.ErrIsDir, vfs.ErrExist, vfs.ErrAccess}},
			{"..", "x", []error{vfs.ErrInvalid, vfs.ErrIsDir, vfs.ErrExist, vfs.ErrAccess}},
			{"file", ".", []error{vfs.ErrInvalid, vfs.ErrIsDir, vfs.ErrExist, vfs.ErrAccess}},
			{"empty", "..", []error{vfs.ErrInvalid, vfs.ErrNotEmpty, vfs.ErrExist, vfs.ErrAccess}},
		} {
			_, _, err := f.rename(f.root, tc.from, f.root, tc.to)
			f.want(err, tc.from+" to "+tc.to, tc.errs...)
		}
		if names, _ := f.names(f.root); !slices.Equal(names, []string{"empty", "file", "full"}) {
			f.Errorf("refused renames left %q", names)
		}
	}},
	{"IntoItself", canRename, func(f *fixture) {
		a := f.mustMkdir(f.root, "a")
		b := f.mustMkdir(a, "b")
		c := f.mustMkdir(b, "c")
		for _, to := range []vfs.Object{a, b, c} {
			_, _, err := f.rename(f.root, "a", to, "loop")
			f.want(err, "a directory below itself", vfs.ErrInvalid)
		}
		_, _, err := f.rename(b, "c", f.root, "a")
		f.want(err, "over the directory above", vfs.ErrNotEmpty, vfs.ErrExist, vfs.ErrInvalid)
		f.mustLookup("a/b/c")
	}},
	{"ToItself", canRename, func(f *fixture) {
		o := f.mustCreate(f.root, "file", []byte("contents"))
		_, _, err := f.rename(f.root, "file", f.root, "file")
		f.must(err, "rename to itself")
		if f.caps.Link != nil {
			_, _, err := f.link(o, f.root, "other")
			f.must(err, "link")
			_, _, err = f.rename(f.root, "file", f.root, "other")
			f.must(err, "rename to another name of the same file")
			f.mustLookup("other")
		}
		if got := f.mustRead(f.mustLookup("file")); string(got) != "contents" {
			f.Errorf("it has %q", got)
		}
	}},
	{"NotDir", canRename, func(f *fixture) {
		file := f.mustCreate(f.root, "file", nil)
		_, _, err := f.rename(file, "x", f.root, "y")
		f.want(err, "from a file", vfs.ErrNotDir)
		_, _, err = f.rename(f.root, "file", file, "y")
		f.want(err, "into a file", vfs.ErrNotDir)
	}},
}
