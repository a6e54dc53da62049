package vfstest

import "eddy.example/vfs"

var accessCases = []testCase{
	{"Mode", enforced(canSetattr), func(f *fixture) {
		o := f.mustCreate(f.root, "file", nil)
		f.chown(o, 10, 20)
		const all = vfs.AccessRead | vfs.AccessLookup | vfs.AccessModify | vfs.AccessExtend | vfs.AccessDelete | vfs.AccessExecute
		const write = vfs.AccessModify | vfs.AccessExtend
		for _, tc := range []struct {
			mode     uint32
			as       *fixture
			may, not vfs.Access
		}{
			{0o400, f.as(10, 1), vfs.AccessRead, write | vfs.AccessExecute},
			{0o200, f.as(10, 1), write, vfs.AccessRead | vfs.AccessExecute},
			{0o100, f.as(10, 1), vfs.AccessExecute, vfs.AccessRead | write},
			{0o077, f.as(10, 20), 0, all},
			{0o040, f.as(11, 20), vfs.AccessRead, write | vfs.AccessExecute},
			{0o060, f.as(11, 1, 2, 20), vfs.AccessRead | write, vfs.AccessExecute},
			{0o707, f.as(11, 20), 0, all},
			{0o004, f.as(11, 1), vfs.AccessRead, write | vfs.AccessExecute},
			{0o770, f.as(11, 1, 2), 0, all},
			{0o000, f.as(0, 0), vfs.AccessRead | write, vfs.AccessExecute},
		} {
			_, err := f.setattr(o, *mode(tc.mode), nil)
			f.must(err, "chmod")
			got, err := tc.as.access(o, all)
			if err != nil || got&tc.may != tc.may || got&tc.not != 0 {
				f.Errorf("mode %o for %+v: %#x, %v, want %#x and not %#x", tc.mode, tc.as.cred, got, err, tc.may, tc.not)
			}
			if got, err := tc.as.access(o, vfs.AccessRead); err != nil || got&^vfs.AccessRead != 0 {
				f.Errorf("asked for reading alone: %#x, %v", got, err)
			}
		}
	}},
}

// access is ACCESS as a server answers it.
func (f *fixture) access(o vfs.Object, want vfs.Access) (got vfs.Access, err error) {
	err = f.try(func(c *vfs.Call) (err error) {
		if f.caps.Access != nil {
			got, err = f.caps.Access.Access(c, o, want)
			return err
		}
		var a vfs.Attr
		err = f.fs.Getattr(c, o, vfs.AttrBasic, &a)
		got = f.caps.DefaultAccess(&c.Cred, &a, want)
		return err
	})
	return got, err
}

func (f *fixture) chown(o vfs.Object, uid, gid uint32) {
	f.Helper()
	_, err := f.setattr(o, vfs.SetAttr{Mask: vfs.AttrUID | vfs.AttrGID, UID: uid, GID: gid}, nil)
	f.must(err, "chown")
}

func (f *fixture) chmod(o vfs.Object, m uint32) {
	f.Helper()
	_, err := f.setattr(o, *mode(m), nil)
	f.must(err, "chmod")
}

// denied is what a missing permission is answered with.
func (f *fixture) denied(err error, what string) {
	f.Helper()
	f.want(err, what, vfs.ErrAccess, vfs.ErrPerm)
}

var permissionCases = []testCase{
	{"Data", enforced(canSetattr), func(f *fixture) {
		owner, group, other := f.as(10, 1), f.as(11, 20), f.as(12, 1)
		o := f.mustCreate(f.root, "file", []byte("contents"))
		f.chown(o, 10, 20)
		f.chmod(o, 0)
		// The owner may: there is no open that could have checked the mode
		// while it still allowed this.
		if got, _, err := owner.read(o, 0, 8); err != nil || string(got) != "contents" {
			f.Errorf("the owner reads %q, %v", got, err)
		}
		_, _, err := owner.write(o, []byte("CONTENTS"), 0)
		f.must(err, "the owner writes")
		_, _, err = group.read(o, 0, 8)
		f.denied(err, "the group reads a file of mode 0")
		_, _, err = group.write(o, []byte("x"), 0)
		f.denied(err, "the group writes a file of mode 0")
		f.chmod(o, 0o062)
		_, _, err = group.write(o, []byte("x"), 0)
		f.must(err, "the group writes a file of mode 062")
		_, _, err = other.write(o, []byte("y"), 0)
		f.must(err, "others write a file of mode 062")
		_, _, err = other.read(o, 0, 8)
		f.denied(err, "others read a file of mode 062")
		f.chmod(o, 0o001)
		_, _, err = other.read(o, 0, 8)
		f.must(err, "others read a file they may execute")
	}},
	{"Directory", enforced(both(canSetattr, canMkdir)), func(f *fixture) {
		user := f.as(10, 20)
		dir := f.mustMkdir(f.root, "dir")
		f.mustCreate(dir, "file", nil)
		f.chmod(dir, 0o704)
		_, err := user.lookup(dir, "file")
		f.denied(err, "lookup without search permission")
		if names, err := user.names(dir); err != nil || len(names) != 1 {
			f.Errorf("list with read permission: %q, %v", names, err)
		}
		f.chmod(dir, 0o701)
		_, err = user.lookup(dir, "file")
		f.must(err, "lookup with search permission")
		_, err = user.names(dir)
		f.denied(err, "list without read permission")
		f.chmod(dir, 0o705)
		_, _, _, err = user.create(dir, "new", vfs.CreateGuarded, [8]byte{}, *mode(0o600))
		f.denied(err, "create without write permission")
		f.chmod(dir, 0o703)
		_, a, _, err := user.create(dir, "new", vfs.CreateGuarded, [8]byte{}, *mode(0o600))
		f.must(err, "create with write permission")
		if a.UID != 10 || a.GID != 20 {
			f.Errorf("a new file belongs to %d:%d", a.UID, a.GID)
		}
	}},
	{"Setattr", enforced(canSetattr), func(f *fixture) {
		owner, other := f.as(10, 20, 30), f.as(11, 20)
		o := f.mustCreate(f.root, "file", []byte("contents"))
		f.chown(o, 10, 20)
		f.chmod(o, 0o666)
		for what, s := range map[string]vfs.SetAttr{
			"mode":      *mode(0o777),
			"owner":     {Mask: vfs.AttrUID, UID: 11},
			"group":     {Mask: vfs.AttrGID, GID: 20},
			"times":     {SetMtime: vfs.TimeGiven},
			"all times": {SetMtime: vfs.TimeServer, SetAtime: vfs.TimeGiven},
		} {
			_, err := other.setattr(o, s, nil)
			f.denied(err, "not the owner sets "+what)
		}
		_, err := other.setattr(o, vfs.SetAttr{Mask: vfs.AttrSize, Size: 4}, nil)
		f.must(err, "who may write sets the size")
		_, err = other.setattr(o, vfs.SetAttr{SetMtime: vfs.TimeServer, SetAtime: vfs.TimeServer}, nil)
		f.must(err, "who may write sets the times to now")
		_, err = owner.setattr(o, vfs.SetAttr{Mask: vfs.AttrUID, UID: 11}, nil)
		f.denied(err, "the owner gives the file away")
		_, err = owner.setattr(o, vfs.SetAttr{Mask: vfs.AttrGID, GID: 99}, nil)
		f.denied(err, "the owner sets a group of others")
		_, err = owner.setattr(o, vfs.SetAttr{Mask: vfs.AttrGID, GID: 30}, nil)
		f.must(err, "the owner sets an own group")
		f.chmod(o, 0o444)
		_, err = other.setattr(o, vfs.SetAttr{Mask: vfs.AttrSize, Size: 0}, nil)
		f.denied(err, "who may not write sets the size")
		_, err = owner.setattr(o, vfs.SetAttr{Mask: vfs.AttrSize, Size: 0}, nil)
		f.must(err, "the owner sets the size of a file of mode 0444")
	}},
	{"Remove", enforced(both(canSetattr, both(canMkdir, canRemove))), func(f *fixture) {
		user := f.as(10, 20)
		dir := f.mustMkdir(f.root, "dir")
		o := f.mustCreate(dir, "file", nil)
		f.chown(o, 10, 20)
		f.chmod(dir, 0o705)
		_, err := user.remove(dir, "file")
		f.denied(err, "remove without write permission")
		f.chmod(dir, 0o702)
		_, err = user.remove(dir, "file")
		f.denied(err, "remove without search permission")
		f.chmod(dir, 0o703)
		_, err = user.remove(dir, "file")
		f.must(err, "remove with both")
	}},
	{"Sticky", enforced(both(canSetattr, both(canRename, canRemove))), func(f *fixture) {
		mine, other := f.as(10, 1), f.as(11, 1)
		dir := f.mustMkdir(f.root, "tmp")
		f.chmod(dir, 0o1777)
		_, _, _, err := mine.create(dir, "mine", vfs.CreateGuarded, [8]byte{}, *mode(0o666))
		f.must(err, "create")
		_, _, _, err = other.create(dir, "other", vfs.CreateGuarded, [8]byte{}, *mode(0o666))
		f.must(err, "create")
		_, err = other.remove(dir, "mine")
		f.denied(err, "remove another's file from a sticky directory")
		_, _, err = other.rename(dir, "mine", dir, "renamed")
		f.denied(err, "rename another's file in a sticky directory")
		_, _, err = other.rename(dir, "other", dir, "mine")
		f.denied(err, "replace another's file in a sticky directory")
		_, _, err = mine.rename(dir, "mine", dir, "renamed")
		f.must(err, "rename the own file")
		_, err = mine.remove(dir, "renamed")
		f.must(err, "remove the own file")
	}},
	{"SetID", enforced(canSetattr), func(f *fixture) {
		for what, change := range map[string]func(o vfs.Object) error{
			"a write by others": func(o vfs.Object) error {
				_, _, err := f.as(11, 1).write(o, []byte("x"), 0)
				return err
			},
			"a cut by others": func(o vfs.Object) error {
				_, err := f.as(11, 1).setattr(o, sizeTo(0), nil)
				return err
			},
			"another owner": func(o vfs.Object) error {
				_, err := f.setattr(o, vfs.SetAttr{Mask: vfs.AttrUID, UID: 12}, nil)
				return err
			},
		} {
			o := f.mustCreate(f.root, what, []byte("contents"))
			f.chown(o, 10, 20)
			f.chmod(o, 0o6777)
			f.must(change(o), what)
			if a := f.mustGetattr(o); a.Mode != 0o777 {
				f.Errorf("mode %o after %s", a.Mode, what)
			}
		}
		o := f.mustCreate(f.root, "group", nil)
		f.chown(o, 10, 20)
		_, err := f.as(10, 1).setattr(o, *mode(0o2777), nil)
		f.must(err, "chmod")
		if a := f.mustGetattr(o); a.Mode != 0o777 {
			f.Errorf("who is not in the group set mode %o", a.Mode)
		}
	}},
	{"InheritedGroup", enforced(both(canSetattr, canMkdir)), func(f *fixture) {
		dir := f.mustMkdir(f.root, "dir")
		f.chown(dir, 0, 77)
		f.chmod(dir, 0o2777)
		user := f.as(10, 20)
		_, a, _, err := user.create(dir, "file", vfs.CreateGuarded, [8]byte{}, *mode(0o644))
		f.must(err, "create")
		if a.GID != 77 {
			f.Errorf("the file's group is %d, want the directory's", a.GID)
		}
		_, a, _, err = user.mkdir(dir, "sub")
		f.must(err, "mkdir")
		if a.GID != 77 || a.Mode&0o2000 == 0 {
			f.Errorf("the subdirectory has group %d, mode %o", a.GID, a.Mode)
		}
	}},
}
