package vfstest

import (
	"slices"
	"strings"

	"eddy.example/vfs"
)

var createCases = []testCase{
	{"New", canCreate, func(f *fixture) {
		var made vfs.Object
		f.changes(f.root, "a new file", func() vfs.Change {
			o, a, chg, err := f.create(f.root, "file", vfs.CreateGuarded, [8]byte{}, *mode(0o640))
			f.must(err, "create")
			f.isNew(o, a, "file", vfs.TypeRegular, 0o640)
			if a.Size != 0 {
				f.Errorf("a new file of %d bytes", a.Size)
			}
			made = o
			return chg
		})
		if names, err := f.names(f.root); err != nil || !slices.Equal(names, []string{"file"}) {
			f.Errorf("the directory has %q, %v", names, err)
		}
		if o, err := f.lookup(f.root, "file"); o != made || err != nil {
			f.Errorf("lookup: %v, %v, want %v", o, err, made)
		}
	}},
	{"Sized", canCreate, func(f *fixture) {
		s := vfs.SetAttr{Mask: vfs.AttrMode | vfs.AttrSize, Mode: 0o600, Size: 5000}
		o, a, _, err := f.create(f.root, "file", vfs.CreateUnchecked, [8]byte{}, s)
		f.must(err, "create")
		if a.Size != 5000 || f.mustGetattr(o).Size != 5000 {
			f.Errorf("size %d, want 5000", a.Size)
		}
	}},
	{"Unchecked", canWrite, func(f *fixture) {
		o := f.mustCreate(f.root, "file", []byte("contents"))
		again, _, _, err := f.create(f.root, "file", vfs.CreateUnchecked, [8]byte{}, *mode(0o600))
		f.must(err, "create what is there")
		if again != o || string(f.mustRead(o)) != "contents" {
			f.Error("creating what is there made another file, or changed it")
		}
		again, a, _, err := f.create(f.root, "file", vfs.CreateUnchecked, [8]byte{}, sizeTo(3))
		f.must(err, "create what is there with a size")
		if again != o || string(f.mustRead(o)) != "con" || a.Size != 3 {
			f.Error("creating what is there with a size made another file, or did not cut it")
		}
	}},
	{"Guarded", canWrite, func(f *fixture) {
		o := f.mustCreate(f.root, "file", []byte("contents"))
		_, _, _, err := f.create(f.root, "file", vfs.CreateGuarded, [8]byte{}, sizeTo(0))
		f.want(err, "create what is there", vfs.ErrExist)
		if string(f.mustRead(o)) != "contents" {
			f.Error("a CREATE that was refused changed the file")
		}
	}},
	{"Exclusive", canWrite, func(f *fixture) {
		verf := [8]byte{1, 2, 3, 4, 5, 6, 7, 8}
		o, _, _, err := f.create(f.root, "file", vfs.CreateExclusive, verf, vfs.SetAttr{})
		f.must(err, "create")
		f.mustWrite(o, []byte("contents"), 0)
		again, _, _, err := f.create(f.root, "file", vfs.CreateExclusive, verf, vfs.SetAttr{})
		if again != o || err != nil {
			f.Errorf("the same CREATE again: %v, %v, want %v", again, err, o)
		}
		if string(f.mustRead(o)) != "contents" {
			f.Error("the same CREATE again changed the file")
		}
		for i := range verf {
			other := verf
			other[i] ^= 0x80
			_, _, _, err := f.create(f.root, "file", vfs.CreateExclusive, other, vfs.SetAttr{})
			f.want(err, "another verifier", vfs.ErrExist)
		}
		f.mustCreate(f.root, "plain", nil)
		_, _, _, err = f.create(f.root, "plain", vfs.CreateExclusive, [8]byte{}, vfs.SetAttr{})
		f.want(err, "an exclusive CREATE of a file made otherwise", vfs.ErrExist)
	}},
	{"ExclusiveSetattr", canSetattr, func(f *fixture) {
		// What a client does next: the attributes it could not send along.
		o, _, _, err := f.create(f.root, "file", vfs.CreateExclusive, [8]byte{1}, vfs.SetAttr{})
		f.must(err, "create")
		s := vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o640, SetMtime: vfs.TimeServer, SetAtime: vfs.TimeServer}
		_, err = f.setattr(o, s, nil)
		f.must(err, "setattr")
		if a := f.mustGetattr(o); a.Mode != 0o640 && !f.config.Permissive {
			f.Errorf("mode %o", a.Mode)
		}
	}},
	{"Existing", both(canCreate, canMkdir), func(f *fixture) {
		f.mustMkdir(f.root, "dir")
		for _, how := range []vfs.CreateMode{vfs.CreateUnchecked, vfs.CreateGuarded, vfs.CreateExclusive} {
			for _, name := range []string{"dir", ".", ".."} {
				_, _, _, err := f.create(f.root, name, how, [8]byte{}, vfs.SetAttr{})
				f.want(err, "create "+name, vfs.ErrExist, vfs.ErrIsDir, vfs.ErrInvalid)
			}
		}
	}},
	{"NotDir", canWrite, func(f *fixture) {
		file := f.mustCreate(f.root, "file", nil)
		_, _, _, err := f.create(file, "x", vfs.CreateGuarded, [8]byte{}, vfs.SetAttr{})
		f.want(err, "create in a file", vfs.ErrNotDir)
	}},
	{"Names", canWrite, func(f *fixture) {
		var made []string
		for _, name := range oddNames {
			o, _, _, err := f.create(f.root, name, vfs.CreateGuarded, [8]byte{}, *mode(0o644))
			if err != nil {
				f.want(err, name, vfs.ErrInvalid, vfs.ErrAccess, vfs.ErrNameTooLong, vfs.ErrNotExist)
				continue
			}
			made = append(made, name)
			f.mustWrite(o, []byte(name), 0)
		}
		slices.Sort(made)
		if names, err := f.names(f.root); err != nil || !slices.Equal(names, made) {
			f.Errorf("listed %q, %v, want %q", names, err, made)
		}
		for _, name := range made {
			if got := f.mustRead(f.mustLookup(name)); string(got) != name {
				f.Errorf("%q is %q", name, got)
			}
		}
		limit := int(f.caps.Limits.MaxName)
		_, _, _, err := f.create(f.root, strings.Repeat("m", limit), vfs.CreateGuarded, [8]byte{}, vfs.SetAttr{})
		f.must(err, "create a name of %d bytes", limit)
		_, _, _, err = f.create(f.root, strings.Repeat("m", limit+1), vfs.CreateGuarded, [8]byte{}, vfs.SetAttr{})
		f.want(err, "a name too long", vfs.ErrNameTooLong)
		if len(made) == 0 {
			f.Error("every odd name was refused")
		}
	}},
}

// isNew checks what a creating operation returned.
func (f *fixture) isNew(o vfs.Object, a vfs.Attr, name string, t vfs.Type, mode uint32) {
	f.Helper()
	f.checkAttr(name, a)
	f.sameAttr(name, a, f.mustGetattr(o))
	if a.Type != t {
		f.Errorf("%s: type %d, want %d", name, a.Type, t)
	}
	if a.Mode != mode && !f.config.Permissive {
		f.Errorf("%s: mode %o, want %o", name, a.Mode, mode)
	}
	if a.Has(vfs.AttrUID|vfs.AttrGID) && !f.config.Permissive && (a.UID != f.cred.UID || a.GID != f.cred.GID) {
		f.Errorf("%s belongs to %d:%d, want %d:%d", name, a.UID, a.GID, f.cred.UID, f.cred.GID)
	}
}

// linkCount checks a directory's count of links, if it is one: its name, its
// "." and the ".." of each directory in it.
func (f *fixture) linkCount(what string, dir vfs.Object, subdirs uint32) {
	f.Helper()
	a := f.mustGetattr(dir)
	if a.Has(vfs.AttrNlink) && a.Nlink != 1 && a.Nlink != 2+subdirs {
		f.Errorf("%s: %d links with %d subdirectories", what, a.Nlink, subdirs)
	}
}

var mkdirCases = []testCase{
	{"New", canMkdir, func(f *fixture) {
		var dir vfs.Object
		f.changes(f.root, "a new directory", func() vfs.Change {
			o, a, chg, err := f.mkdir(f.root, "dir")
			f.must(err, "mkdir")
			f.isNew(o, a, "dir", vfs.TypeDirectory, 0o755)
			dir = o
			return chg
		})
		f.linkCount("a new directory", dir, 0)
		f.linkCount("its parent", f.root, 1)
		if names, err := f.names(dir); err != nil || len(names) != 0 {
			f.Errorf("a new directory has %q, %v", names, err)
		}
		if o, err := f.lookup(dir, ".."); o != f.root || err != nil {
			f.Errorf("its parent is %v, %v", o, err)
		}
	}},
	{"Existing", both(canMkdir, canWrite), func(f *fixture) {
		f.mustMkdir(f.root, "dir")
		f.mustCreate(f.root, "file", nil)
		_, _, _, err := f.mkdir(f.root, "file")
		f.want(err, "mkdir file", vfs.ErrExist)
		for _, name := range []string{"dir", ".", ".."} {
			_, _, _, err := f.mkdir(f.root, name)
			f.want(err, "mkdir "+name, vfs.ErrExist, vfs.ErrInvalid)
		}
	}},
}

var symlinkCases = []testCase{
	{"New", canSymlink, func(f *fixture) {
		f.changes(f.root, "a new link", func() vfs.Change {
			o, a, chg, err := f.symlink(f.root, "link", "some/where")
			f.must(err, "symlink")
			if a.Type != vfs.TypeSymlink || a.Size != uint64(len("some/where")) {
				f.Errorf("type %d, size %d", a.Type, a.Size)
			}
			f.sameAttr("link", a, f.mustGetattr(o))
			return chg
		})
		_, _, _, err := f.symlink(f.root, "link", "elsewhere")
		f.want(err, "a link where one is", vfs.ErrExist)
	}},
	{"Targets", canSymlink, func(f *fixture) {
		for i, target := range []string{".", "..", "/", "/etc/passwd", "a//b/", "ünï", "\xff\xfe", "a b\nc", strings.Repeat("t/", 511) + "t"} {
			o, _, _, err := f.symlink(f.root, string(rune('a'+i)), target)
			if err != nil {
				f.want(err, target, vfs.ErrInvalid, vfs.ErrNameTooLong, vfs.ErrAccess)
				continue
			}
			if got, err := f.readlink(o); err != nil || got != target {
				f.Errorf("%q: %q, %v", target, got, err)
			}
		}
	}},
}

var mknodCases = []testCase{
	{"Types", canMknod, func(f *fixture) {
		for _, t := range []vfs.Type{vfs.TypeFIFO, vfs.TypeSocket, vfs.TypeChar, vfs.TypeBlock} {
			name := string(rune('0' + t))
			var o vfs.Object
			var a vfs.Attr
			err := f.try(func(c *vfs.Call) (err error) {
				o, err = f.caps.Mknod.Mknod(c, f.root, name, t, 7, 300, mode(0o600), &a, nil)
				return err
			})
			if err != nil {
				f.want(err, "mknod "+name, vfs.ErrPerm, vfs.ErrAccess, vfs.ErrBadType, vfs.ErrNotSupported)
				continue
			}
			f.isNew(o, a, name, t, 0o600)
			device := t == vfs.TypeChar || t == vfs.TypeBlock
			if device && a.Has(vfs.AttrRdev) && (a.RdevMajor != 7 || a.RdevMinor != 300) {
				f.Errorf("device %d, %d", a.RdevMajor, a.RdevMinor)
			}
			_, _, err = f.read(o, 0, 10)
			f.want(err, "read it", vfs.ErrInvalid, vfs.ErrAccess)
		}
	}},
	{"BadType", canMknod, func(f *fixture) {
		for _, t := range []vfs.Type{0, vfs.TypeRegular, vfs.TypeDirectory, vfs.TypeSymlink, 8} {
			err := f.try(func(c *vfs.Call) error {
				_, err := f.caps.Mknod.Mknod(c, f.root, "x", t, 0, 0, mode(0o600), nil, nil)
				return err
			})
			f.want(err, "mknod with a type that is none", vfs.ErrBadType, vfs.ErrInvalid)
		}
	}},
}

var removeCases = []testCase{
	{"File", canRemove, func(f *fixture) {
		f.mustCreate(f.root, "stays", nil)
		f.mustCreate(f.root, "goes", []byte("contents"))
		f.changes(f.root, "a removal", func() vfs.Change {
			chg, err := f.remove(f.root, "goes")
			f.must(err, "remove")
			return chg
		})
		_, err := f.lookup(f.root, "goes")
		f.want(err, "lookup", vfs.ErrNotExist)
		if names, err := f.names(f.root); err != nil || !slices.Equal(names, []string{"stays"}) {
			f.Errorf("left are %q, %v", names, err)
		}
	}},
	{"Missing", canRemove, func(f *fixture) {
		_, err := f.remove(f.root, "nothing")
		f.want(err, "remove", vfs.ErrNotExist)
		file := f.mustCreate(f.root, "file", nil)
		_, err = f.remove(file, "x")
		f.want(err, "remove in a file", vfs.ErrNotDir)
	}},
	{"Directory", both(canRemove, canMkdir), func(f *fixture) {
		f.mustMkdir(f.root, "dir")
		for _, name := range []string{"dir", ".", ".."} {
			_, err := f.remove(f.root, name)
			f.want(err, "remove "+name, vfs.ErrIsDir, vfs.ErrPerm, vfs.ErrInvalid, vfs.ErrExist, vfs.ErrNotEmpty, vfs.ErrAccess)
		}
		f.mustLookup("dir")
	}},
	{"Link", both(canSymlink, canRemove), func(f *fixture) {
		f.mustCreate(f.root, "file", nil)
		_, _, _, err := f.symlink(f.root, "link", "file")
		f.must(err, "symlink")
		_, err = f.remove(f.root, "link")
		f.must(err, "remove")
		f.mustLookup("file")
	}},
}

var rmdirCases = []testCase{
	{"Empty", canRmdir, func(f *fixture) {
		f.mustMkdir(f.root, "dir")
		f.changes(f.root, "a removal", func() vfs.Change {
			chg, err := f.rmdir(f.root, "dir")
			f.must(err, "rmdir")
			return chg
		})
		_, err := f.lookup(f.root, "dir")
		f.want(err, "lookup", vfs.ErrNotExist)
		f.linkCount("the parent", f.root, 0)
	}},
	{"Errors", canRmdir, func(f *fixture) {
		dir := f.mustMkdir(f.root, "dir")
		f.mustCreate(dir, "file", nil)
		_, err := f.rmdir(f.root, "dir")
		f.want(err, "rmdir of one with a file", vfs.ErrNotEmpty, vfs.ErrExist)
		_, err = f.rmdir(f.root, "nothing")
		f.want(err, "rmdir of nothing", vfs.ErrNotExist)
		_, err = f.rmdir(dir, "file")
		f.want(err, "rmdir of a file", vfs.ErrNotDir)
		_, err = f.rmdir(dir, ".")
		f.want(err, "rmdir .", vfs.ErrInvalid)
		_, err = f.rmdir(dir, "..")
		f.want(err, "rmdir ..", vfs.ErrInvalid, vfs.ErrNotEmpty, vfs.ErrExist)
	}},
}

var linkCases = []testCase{
	{"File", canLink, func(f *fixture) {
		o := f.mustCreate(f.root, "one", []byte("contents"))
		one := f.mustGetattr(o)
		f.changes(f.root, "a new link", func() vfs.Change {
			a, chg, err := f.link(o, f.root, "two")
			f.must(err, "link")
			f.sameAttr("link", a, f.mustGetattr(o))
			if a.FileID != one.FileID || a.Has(vfs.AttrNlink) && a.Nlink != 2 {
				f.Errorf("fileid %d, %d links, want %d and 2", a.FileID, a.Nlink, one.FileID)
			}
			return chg
		})
		if two := f.mustLookup("two"); two != o {
			f.Error("the new name is another object")
		}
		f.mustWrite(o, []byte("CON"), 0)
		if got := f.mustRead(f.mustLookup("two")); string(got) != "CONtents" {
			f.Errorf("by the other name: %q", got)
		}
		if f.caps.Remove == nil {
			return
		}
		_, err := f.remove(f.root, "one")
		f.must(err, "remove")
		if a := f.mustGetattr(o); a.Has(vfs.AttrNlink) && a.Nlink != 1 {
			f.Errorf("%d links after one was removed", a.Nlink)
		}
	}},
	{"Errors", canLink, func(f *fixture) {
		o := f.mustCreate(f.root, "file", nil)
		for _, name := range []string{"file", ".", ".."} {
			_, _, err := f.link(o, f.root, name)
			f.want(err, "link to "+name, vfs.ErrExist, vfs.ErrInvalid)
		}
		_, _, err := f.link(o, o, "x")
		f.want(err, "link in a file", vfs.ErrNotDir)
		_, _, err = f.link(f.root, f.root, "x")
		f.want(err, "link a directory", vfs.ErrIsDir, vfs.ErrPerm, vfs.ErrInvalid, vfs.ErrNotSupported, vfs.ErrAccess)
	}},
}
