package nfs3

import (
	"strings"
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
)

// vagueFS is a backend that does not know all attributes, and not what its
// changes change.
type vagueFS struct {
	vfs.FS
	vfs.Waiter
	mem     *memfs.FS
	unknown vfs.AttrMask
}

func (v *vagueFS) Getattr(c *vfs.Call, o vfs.Object, want vfs.AttrMask, attr *vfs.Attr) error {
	err := v.FS.Getattr(c, o, want, attr)
	attr.Mask &^= v.unknown
	return err
}

func (v *vagueFS) Lookup(c *vfs.Call, dir vfs.Object, name string, attr *vfs.Attr) (vfs.Object, error) {
	o, err := v.FS.Lookup(c, dir, name, attr)
	attr.Mask = vfs.AttrFileID
	return o, err
}

func (v *vagueFS) ReadDir(c *vfs.Call, dir vfs.Object, after vfs.Cookie, want vfs.AttrMask, fill func(*vfs.DirEntry) bool) (bool, error) {
	return v.FS.ReadDir(c, dir, after, 0, fill)
}

func (v *vagueFS) Mkdir(c *vfs.Call, dir vfs.Object, name string, s *vfs.SetAttr, _ *vfs.Attr, _ *vfs.Change) (vfs.Object, error) {
	return v.mem.Mkdir(c, dir, name, s, nil, nil)
}

func (v *vagueFS) Readlink(*vfs.Call, vfs.Object) (string, error) {
	return strings.Repeat("l", maxLink+1), nil
}

// What a backend does not know is not made up: it is asked for where that is
// no lie, and else left out.
func TestUnknownAttributes(t *testing.T) {
	mem := memfs.New(memfs.Config{RootMode: 0o777})
	fs := &vagueFS{FS: mem, Waiter: mem, mem: mem}
	c := serve(t, memExport(fs)).client(&root)
	dir := mustMount(c, "/")

	made := must(c.Mkdir(ctx, dir, "a", &Sattr3{})).Resok
	if made.DirWcc.Before.AttributesFollow {
		t.Error("the attributes before a change are known")
	}
	wantAfter(t, "directory", c, dir, made.DirWcc.After)
	wantAfter(t, "object", c, made.Obj.Handle.Data, made.ObjAttributes)
	found := must(c.Lookup(ctx, dir, "a")).Resok
	wantAfter(t, "what was found", c, found.Object.Data, found.ObjAttributes)

	fs.unknown = vfs.AttrUsed
	_, err := c.Getattr(ctx, dir)
	wantStatus(t, "GETATTR", err, NFS3ERR_SERVERFAULT)
	made = must(c.Mkdir(ctx, dir, "b", &Sattr3{})).Resok
	found = must(c.Lookup(ctx, dir, "b")).Resok
	if made.DirWcc.After.AttributesFollow || made.ObjAttributes.AttributesFollow || found.ObjAttributes.AttributesFollow || found.DirAttributes.AttributesFollow {
		t.Errorf("unknown attributes: %+v, %+v", made, found)
	}
	fs.unknown = 0
	for _, e := range readAll(t, listers["READDIRPLUS"], c, dir, 4096)[2:] {
		if e.Fileid == 0 || e.NameAttributes.AttributesFollow || e.NameHandle.HandleFollows {
			t.Errorf("%+v", e)
		}
	}
	if _, err := mem.Symlink(&vfs.Call{Context: ctx}, must(mem.Resolve(nil, nil)), "l", "x", &vfs.SetAttr{}, nil, nil); err != nil {
		t.Fatal(err)
	}
	_, err = c.Readlink(ctx, mustLookup(c, dir, "l"))
	wantStatus(t, "a text that is too long", err, NFS3ERR_SERVERFAULT)
}

// A backend without an opinion on ACCESS grants what its mode bits and its
// methods allow.
func TestDefaultAccess(t *testing.T) {
	mem := memfs.New(memfs.Config{RootMode: 0o777})
	c := serve(t, memExport(readOnlyFS{mem, mem})).client(&root)
	dir := mustMount(c, "/")
	res := must(c.Access(ctx, dir, 0x3f))
	if want := uint32(ACCESS3_READ | ACCESS3_LOOKUP); res.Resok.Access != want {
		t.Errorf("%#x, want %#x", res.Resok.Access, want)
	}
	wantAfter(t, "ACCESS", c, dir, res.Resok.ObjAttributes)
}
