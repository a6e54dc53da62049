package pathfs

import (
	"errors"
	"io/fs"
	"testing"

	"eddy.example/vfs"
)

// plain is a Store that can do no more than it must.
type plain struct{ Store }

func TestPlainStore(t *testing.T) {
	u := user{t, New(plain{newDirStore(t)}, Config{})}
	root := u.fs.table.root
	set := vfs.SetAttr{Mask: vfs.AttrMode | vfs.AttrSize, Mode: 0o640, Size: 10, SetMtime: vfs.TimeGiven, Mtime: vfs.Time{Sec: 5}}
	var a vfs.Attr
	o, err := u.fs.Create(u.call(), root, "file", vfs.CreateUnchecked, [8]byte{}, &set, &a, nil)
	if err != nil || a.Size != 10 || a.Mtime.Sec == 5 {
		t.Fatalf("create: %+v, %v", a, err)
	}
	for what, s := range map[string]vfs.SetAttr{
		"mode":  {Mask: vfs.AttrMode, Mode: 0o600},
		"mtime": {SetMtime: vfs.TimeGiven},
	} {
		if err := u.fs.Setattr(u.call(), o, &s, nil, nil); err != vfs.ErrNotSupported {
			t.Errorf("set %s: %v", what, err)
		}
	}
	if err := u.fs.Setattr(u.call(), o, &vfs.SetAttr{Mask: vfs.AttrUID}, nil, nil); err != vfs.ErrPerm {
		t.Errorf("set the owner: %v", err)
	}
	if err := u.fs.Setattr(u.call(), o, &vfs.SetAttr{Mask: vfs.AttrSize, Size: 3}, nil, nil); err != nil {
		t.Errorf("set the size: %v", err)
	}
	if _, err := u.fs.Symlink(u.call(), root, "link", "file", new(vfs.SetAttr), nil, nil); err != vfs.ErrNotSupported {
		t.Errorf("symlink: %v", err)
	}
}

// syncing counts what is synced, and fails once fail is set.
type syncing struct {
	Store
	synced map[string]int
	fail   error
}

func (s *syncing) Sync(name string) error {
	s.synced[name]++
	return s.fail
}

func TestSync(t *testing.T) {
	store := &syncing{Store: newDirStore(t), synced: map[string]int{}}
	u := user{t, New(store, Config{})}
	o := u.create(u.fs.table.root, "file", "")
	clear(store.synced)
	verf := u.fs.verifier()
	for i, how := range []vfs.Stability{vfs.Unstable, vfs.DataSync, vfs.FileSync} {
		n, did, v, err := u.fs.Write(u.call(), o, []byte("x"), uint64(i), how, nil)
		if n != 1 || did != how || v != verf || err != nil || store.synced["file"] != i {
			t.Errorf("stability %d: %d, %d, %v, %d syncs", how, n, did, err, store.synced["file"])
		}
	}
	if v, err := u.fs.Commit(u.call(), o, 0, 0, nil); v != verf || err != nil || store.synced["file"] != 3 {
		t.Errorf("commit: %v, %d syncs", err, store.synced["file"])
	}
	store.fail = fs.ErrPermission
	if _, _, _, err := u.fs.Write(u.call(), o, []byte("x"), 0, vfs.FileSync, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a write whose sync failed: %v", err)
	}
	if _, err := u.fs.Commit(u.call(), o, 0, 0, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a commit whose sync failed: %v", err)
	}
	store.fail = nil
	if v, err := u.fs.Commit(u.call(), o, 0, 0, nil); v == verf || err != nil {
		t.Errorf("the verifier is still %x, %v", v, err)
	}
}
