package nfs3

import (
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
)

// leavingFS leaves in vfs.Call.Attr what it knows of it, which is less than all if
// unknown says so, and answers LOOKUP with err if there is one.
type leavingFS struct {
	*vfstest.FaultFS
	mem     *memfs.FS
	unknown vfs.AttrMask
	err     error
}

func (l *leavingFS) leave(c *vfs.Call, o vfs.Object) {
	if l.mem.Getattr(c, o, vfs.AttrBasic, c.Attr) == nil {
		c.Attr.Mask &^= l.unknown
	}
}

func (l *leavingFS) Lookup(c *vfs.Call, dir vfs.Object, name string, attr *vfs.Attr) (vfs.Object, error) {
	if c.Attr != nil { // else it is MOUNT
		l.leave(c, dir)
	}
	if l.err != nil {
		return nil, l.err
	}
	return l.FaultFS.Lookup(c, dir, name, attr)
}

func (l *leavingFS) Read(c *vfs.Call, o vfs.Object, p []byte, off uint64) (int, bool, error) {
	l.leave(c, o)
	return l.FaultFS.Read(c, o, p, off)
}

func (l *leavingFS) Readlink(c *vfs.Call, o vfs.Object) (string, error) {
	l.leave(c, o)
	return l.mem.Readlink(c, o)
}

func (l *leavingFS) Access(c *vfs.Call, o vfs.Object, want vfs.Access) (vfs.Access, error) {
	l.leave(c, o)
	return l.mem.Access(c, o, want)
}

// What the backend has left of the attributes is not asked for again, unless some
// of them are missing, or it has failed in a way that says nothing about the object.
func TestLeftAttributes(t *testing.T) {
	mem := memfs.New(memfs.Config{RootMode: 0o777})
	fs := &leavingFS{FaultFS: vfstest.NewFaultFS(mem), mem: mem}
	c := serve(t, memExport(fs)).client(&root)
	f := newFixture(c, "dir")
	link := mustLookup(c, f.dir, "link")
	file := mustLookup(c, f.dir, "file")
	buf := make([]byte, 100)
	for _, tc := range []struct {
		name    string
		unknown vfs.AttrMask
		err     error
		about   []byte
		call    func() (PostOpAttr, error)
		status  NFSStat3
		asks    int
	}{
		{"READ", 0, nil, file, func() (PostOpAttr, error) {
			r, err := c.Read(ctx, file, buf, 0)
			return r.Resok.FileAttributes, err
		}, NFS3_OK, 0},
		{"READ, size unknown", vfs.AttrSize, nil, file, func() (PostOpAttr, error) {
			r, err := c.Read(ctx, file, buf, 0)
			return r.Resok.FileAttributes, err
		}, NFS3_OK, 1},
		{"READ of a directory", 0, nil, f.dir, func() (PostOpAttr, error) {
			r, err := c.Read(ctx, f.dir, buf, 0)
			return r.Resfail.FileAttributes, err
		}, NFS3ERR_INVAL, 1},
		{"READLINK", 0, nil, link, func() (PostOpAttr, error) {
			r, err := c.Readlink(ctx, link)
			return r.Resok.SymlinkAttributes, err
		}, NFS3_OK, 0},
		{"ACCESS", 0, nil, file, func() (PostOpAttr, error) {
			r, err := c.Access(ctx, file, 0x3f)
			return r.Resok.ObjAttributes, err
		}, NFS3_OK, 0},
		{"LOOKUP", 0, nil, f.dir, func() (PostOpAttr, error) {
			r, err := c.Lookup(ctx, f.dir, "file")
			return r.Resok.DirAttributes, err
		}, NFS3_OK, 0},
		{"LOOKUP, mode unknown", vfs.AttrMode, nil, f.dir, func() (PostOpAttr, error) {
			r, err := c.Lookup(ctx, f.dir, "file")
			return r.Resok.DirAttributes, err
		}, NFS3_OK, 1},
		{"LOOKUP of nothing", 0, vfs.ErrNotExist, f.dir, func() (PostOpAttr, error) {
			r, err := c.Lookup(ctx, f.dir, "no")
			return r.Resfail.DirAttributes, err
		}, NFS3ERR_NOENT, 0},
		{"LOOKUP that fails", 0, vfs.ErrIO, f.dir, func() (PostOpAttr, error) {
			r, err := c.Lookup(ctx, f.dir, "file")
			return r.Resfail.DirAttributes, err
		}, NFS3ERR_IO, 1},
	} {
		fs.unknown, fs.err = tc.unknown, tc.err
		before := fs.Calls(vfstest.Getattr)
		got, err := tc.call()
		asked := fs.Calls(vfstest.Getattr) - before
		wantStatus(t, tc.name, err, tc.status)
		wantAfter(t, tc.name, c, tc.about, got)
		if asked != tc.asks {
			t.Errorf("%s: the backend was asked %d times for attributes, want %d", tc.name, asked, tc.asks)
		}
	}
	fs.err = vfs.ErrStale
	r, err := c.Lookup(ctx, f.dir, "file")
	wantStatus(t, "LOOKUP of what is gone", err, NFS3ERR_STALE)
	if r.Resfail.DirAttributes.AttributesFollow {
		t.Error("something that is gone has attributes")
	}
}
