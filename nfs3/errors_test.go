package nfs3

import (
	"errors"
	"fmt"
	"testing"

	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
)

// failures are the procedures, each with the backend's method that does its
// work and a call of it. It reports whether the reply had attributes of all
// objects that have a place in it.
var failures = []struct {
	proc   uint32
	method vfstest.Method
	call   func(c *Client, f *fixture) (attrs bool, err error)
}{
	{NFSPROC3_GETATTR, vfstest.Getattr, func(c *Client, f *fixture) (bool, error) {
		_, err := c.Getattr(ctx, f.file)
		return true, err
	}},
	{NFSPROC3_SETATTR, vfstest.Setattr, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Setattr(ctx, f.file, &Sattr3{Mode: SetMode3{true, 0}}, nil)
		return res.Resfail.ObjWcc.After.AttributesFollow, err
	}},
	{NFSPROC3_LOOKUP, vfstest.Lookup, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Lookup(ctx, f.dir, "file")
		return res.Resfail.DirAttributes.AttributesFollow, err
	}},
	{NFSPROC3_ACCESS, vfstest.Access, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Access(ctx, f.file, ACCESS3_READ)
		return res.Resfail.ObjAttributes.AttributesFollow, err
	}},
	{NFSPROC3_READLINK, vfstest.Readlink, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Readlink(ctx, f.link)
		return res.Resfail.SymlinkAttributes.AttributesFollow, err
	}},
	{NFSPROC3_READ, vfstest.Read, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Read(ctx, f.file, make([]byte, 10), 0)
		return res.Resfail.FileAttributes.AttributesFollow, err
	}},
	{NFSPROC3_WRITE, vfstest.Write, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Write(ctx, f.file, make([]byte, 10), 0, UNSTABLE)
		return res.Resfail.FileWcc.After.AttributesFollow, err
	}},
	{NFSPROC3_CREATE, vfstest.Create, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Create(ctx, f.dir, "new", &Createhow3{})
		return res.Resfail.DirWcc.After.AttributesFollow, err
	}},
	{NFSPROC3_MKDIR, vfstest.Mkdir, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Mkdir(ctx, f.dir, "new", &Sattr3{})
		return res.Resfail.DirWcc.After.AttributesFollow, err
	}},
	{NFSPROC3_SYMLINK, vfstest.Symlink, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Symlink(ctx, f.dir, "new", "text", &Sattr3{})
		return res.Resfail.DirWcc.After.AttributesFollow, err
	}},
	{NFSPROC3_MKNOD, vfstest.Mknod, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Mknod(ctx, f.dir, "new", &Mknoddata3{Type: NF3FIFO})
		return res.Resfail.DirWcc.After.AttributesFollow, err
	}},
	{NFSPROC3_REMOVE, vfstest.Remove, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Remove(ctx, f.dir, "file")
		return res.Resfail.DirWcc.After.AttributesFollow, err
	}},
	{NFSPROC3_RMDIR, vfstest.Rmdir, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Rmdir(ctx, f.dir, "sub")
		return res.Resfail.DirWcc.After.AttributesFollow, err
	}},
	{NFSPROC3_RENAME, vfstest.Rename, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Rename(ctx, f.dir, "file", f.sub, "new")
		return res.Resfail.FromdirWcc.After.AttributesFollow && res.Resfail.TodirWcc.After.AttributesFollow, err
	}},
	{NFSPROC3_LINK, vfstest.Link, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Link(ctx, f.file, f.sub, "new")
		return res.Resfail.FileAttributes.AttributesFollow && res.Resfail.LinkdirWcc.After.AttributesFollow, err
	}},
	{NFSPROC3_READDIR, vfstest.ReadDir, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Readdir(ctx, f.dir, 0, Cookieverf3{}, 4096)
		return res.Resfail.DirAttributes.AttributesFollow, err
	}},
	{NFSPROC3_READDIRPLUS, vfstest.ReadDir, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Readdirplus(ctx, f.dir, 0, Cookieverf3{}, 0, 4096)
		return res.Resfail.DirAttributes.AttributesFollow, err
	}},
	{NFSPROC3_FSSTAT, vfstest.Statfs, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Fsstat(ctx, f.dir)
		return res.Resfail.ObjAttributes.AttributesFollow, err
	}},
	{NFSPROC3_FSINFO, vfstest.Resolve, func(c *Client, f *fixture) (bool, error) {
		_, err := c.Fsinfo(ctx, f.dir)
		return true, err
	}},
	{NFSPROC3_PATHCONF, vfstest.Resolve, func(c *Client, f *fixture) (bool, error) {
		_, err := c.Pathconf(ctx, f.dir)
		return true, err
	}},
	{NFSPROC3_COMMIT, vfstest.Commit, func(c *Client, f *fixture) (bool, error) {
		res, err := c.Commit(ctx, f.file, 0, 0)
		return res.Resfail.FileWcc.After.AttributesFollow, err
	}},
}

// fixture is a directory with file, link and sub in it.
type fixture struct{ dir, file, link, sub []byte }

func newFixture(c *Client, name string) *fixture {
	f := new(fixture)
	f.dir = mustMkdir(c, mustMount(c, "/"), name)
	f.file = mustCreate(c, f.dir, "file", []byte("data"))
	f.link = must(c.Symlink(ctx, f.dir, "link", "text", &Sattr3{})).Resok.Obj.Handle.Data
	f.sub = mustMkdir(c, f.dir, "sub")
	return f
}

// TestBackendErrors lets each procedure's backend fail in every way: the answer
// is a status that the procedure has, with the attributes if the object is not
// gone.
func TestBackendErrors(t *testing.T) {
	fs := vfstest.NewFaultFS(memfs.New(memfs.Config{RootMode: 0o777}))
	c := serve(t, memExport(fs.Waiter())).client(&root)
	f := newFixture(c, "dir")
	for _, p := range failures {
		for _, known := range statuses[1:] {
			name := fmt.Sprintf("%s: %v", NFSV3ProcName(p.proc), known.err)
			fs.Fail(p.method, 1, fmt.Errorf("wrapped: %w", known.err))
			attrs, err := p.call(c, f)
			var e *Error
			switch {
			case !errors.As(err, &e):
				t.Errorf("%s: %v", name, err)
			case mayAnswer(p.proc, known.status) && e.Status != known.status:
				t.Errorf("%s: %v, want %v", name, e.Status, known.status)
			case !mayAnswer(p.proc, e.Status):
				t.Errorf("%s: %v, which the procedure does not have", name, e.Status)
			case !attrs && known.err != vfs.ErrStale && known.err != vfs.ErrBadHandle:
				t.Errorf("%s: no attributes", name)
			}
		}
	}
}

// TestWouldBlock lets methods of the backend refuse to work on the event loop:
// the call comes again where it may wait, and is answered as if nothing had
// been.
func TestWouldBlock(t *testing.T) {
	fs := vfstest.NewFaultFS(memfs.New(memfs.Config{RootMode: 0o777}))
	c := serve(t, memExport(fs.Waiter())).client(&root)
	for _, p := range failures {
		for i, m := range []vfstest.Method{vfstest.Resolve, vfstest.Getattr, p.method} {
			name := fmt.Sprintf("%s, %d: %s would block", NFSV3ProcName(p.proc), i, m)
			f := newFixture(c, name)
			stop := fs.Stop(m)
			done := make(chan error)
			go func() {
				_, err := p.call(c, f)
				done <- err
			}()
			select {
			case <-stop.Entered():
				stop.Release()
				if err := <-done; err != nil {
					t.Errorf("%s: %v", name, err)
				}
			case err := <-done:
				stop.Release()
				if err != nil || m == p.method {
					t.Errorf("%s: not at all, %v", name, err)
				}
			}
		}
	}
}

// A backend that would block even where it may wait has failed.
func TestWouldBlockForEver(t *testing.T) {
	fs := vfstest.NewFaultFS(memfs.New(memfs.Config{RootMode: 0o777}))
	c := serve(t, memExport(fs)).client(&root)
	f := newFixture(c, "dir")
	for _, p := range failures {
		fs.Fail(p.method, 1, vfs.ErrWouldBlock)
		_, err := p.call(c, f)
		var e *Error
		if !errors.As(err, &e) || e.Status != NFS3ERR_IO && e.Status != NFS3ERR_SERVERFAULT {
			t.Errorf("%s: %v", NFSV3ProcName(p.proc), err)
		}
	}
}

// TestArgumentsCutOff sends every prefix of every procedure's arguments.
func TestArgumentsCutOff(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&root)
	f := newFixture(c, "dir")
	where := Diropargs3{NFSFh3{f.dir}, Filename3("cut")}
	for proc, args := range map[uint32]rpc.Appender{
		NFSPROC3_GETATTR:     &GETATTR3args{NFSFh3{f.file}},
		NFSPROC3_SETATTR:     &SETATTR3args{Object: NFSFh3{f.file}},
		NFSPROC3_LOOKUP:      &LOOKUP3args{where},
		NFSPROC3_ACCESS:      &ACCESS3args{Object: NFSFh3{f.file}},
		NFSPROC3_READLINK:    &READLINK3args{NFSFh3{f.link}},
		NFSPROC3_READ:        &READ3args{File: NFSFh3{f.file}},
		NFSPROC3_WRITE:       &WRITE3args{File: NFSFh3{f.file}, Count: 8, Data: make([]byte, 8)},
		NFSPROC3_CREATE:      &CREATE3args{Where: where},
		NFSPROC3_MKDIR:       &MKDIR3args{Where: where},
		NFSPROC3_SYMLINK:     &SYMLINK3args{where, Symlinkdata3{SymlinkData: NFSPath3("text")}},
		NFSPROC3_MKNOD:       &MKNOD3args{where, Mknoddata3{Type: NF3FIFO}},
		NFSPROC3_REMOVE:      &REMOVE3args{where},
		NFSPROC3_RMDIR:       &RMDIR3args{where},
		NFSPROC3_RENAME:      &RENAME3args{where, where},
		NFSPROC3_LINK:        &LINK3args{NFSFh3{f.file}, where},
		NFSPROC3_READDIR:     &READDIR3args{Dir: NFSFh3{f.dir}},
		NFSPROC3_READDIRPLUS: &READDIRPLUS3args{Dir: NFSFh3{f.dir}},
		NFSPROC3_FSSTAT:      &FSSTAT3args{NFSFh3{f.dir}},
		NFSPROC3_FSINFO:      &FSINFO3args{NFSFh3{f.dir}},
		NFSPROC3_PATHCONF:    &PATHCONF3args{NFSFh3{f.dir}},
		NFSPROC3_COMMIT:      &COMMIT3args{File: NFSFh3{f.file}},
	} {
		b := args.AppendXDR(nil)
		for n := range len(b) {
			err := c.rpc.Call(ctx, NFS_PROGRAM, NFS_V3, proc, &root, rawXDR(b[:n]), new(GETATTR3res))
			if !errors.Is(err, rpc.ErrGarbageArgs) {
				t.Errorf("%s, %d bytes of %d: %v", NFSV3ProcName(proc), n, len(b), err)
			}
		}
	}
	if err := c.rpc.Call(ctx, NFS_PROGRAM, NFS_V3, NFSPROC3_COMMIT+1, &root, nil, nil); !errors.Is(err, rpc.ErrProcUnavail) {
		t.Errorf("procedure 22: %v", err)
	}
	for _, vers := range []uint32{2, 4} {
		err := c.rpc.Call(ctx, NFS_PROGRAM, vers, 0, nil, nil, nil)
		var m *rpc.MismatchError
		if !errors.As(err, &m) || m.Low != 3 || m.High != 3 {
			t.Errorf("version %d: %v", vers, err)
		}
	}
	if _, err := c.Lookup(ctx, f.dir, "cut"); !errors.Is(err, NFS3ERR_NOENT) {
		t.Errorf("something was made of nothing: %v", err)
	}
}
