package nfs3

import (
	"errors"
	"fmt"
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
)

// methods are all that a backend can be asked.
var methods = []vfstest.Method{
	vfstest.Resolve, vfstest.Lookup, vfstest.Getattr, vfstest.Read, vfstest.ReadDir, vfstest.ReadSegment, vfstest.Readlink,
	vfstest.Access, vfstest.Statfs, vfstest.Write, vfstest.Commit, vfstest.Setattr, vfstest.Create, vfstest.Mkdir,
	vfstest.Symlink, vfstest.Mknod, vfstest.Remove, vfstest.Rmdir, vfstest.Rename, vfstest.Link,
}

func asked(fs *vfstest.FaultFS) (n int) {
	for _, m := range methods {
		n += fs.Calls(m)
	}
	return n
}

// TestLost lets the backend say of each procedure's object that it is gone, in the
// procedure's own method and in those around it: nothing is asked after that.
func TestLost(t *testing.T) {
	for _, p := range failures {
		for _, m := range []vfstest.Method{vfstest.Resolve, vfstest.Getattr, p.method} {
			for _, lost := range []error{vfs.ErrStale, vfs.ErrBadHandle} {
				t.Run(fmt.Sprintf("%s: %s: %v", NFSV3ProcName(p.proc), m, lost), func(t *testing.T) {
					fs := vfstest.NewFaultFS(memfs.New(memfs.Config{RootMode: 0o777}))
					c := serve(t, memExport(fs)).client(&root)
					f := newFixture(c, "dir")
					fs.Fail(m, 1, fmt.Errorf("wrapped: %w", lost))
					stop := fs.Stop(m)
					defer stop.Release()
					done := make(chan error)
					go func() {
						_, err := p.call(c, f)
						done <- err
					}()
					select {
					case err := <-done:
						if err != nil || m == p.method {
							t.Errorf("not at all, %v", err)
						}
						return
					case <-stop.Entered():
					}
					before := asked(fs)
					stop.Release()
					err := <-done
					if !errors.Is(err, lost) && (m != vfstest.Getattr || err != nil) {
						t.Errorf("answer: %v", err)
					}
					if n := asked(fs) - before; n != 0 {
						t.Errorf("the backend was asked %d times more", n)
					}
				})
			}
		}
	}
}

// A directory that turns out to be gone when its attributes are wanted is not
// looked at again as the other one of a RENAME.
func TestLostOnce(t *testing.T) {
	fs := vfstest.NewFaultFS(memfs.New(memfs.Config{RootMode: 0o777}))
	c := serve(t, memExport(fs)).client(&root)
	f := newFixture(c, "dir")
	fs.Fail(vfstest.Rename, 1, vfs.ErrNotExist)
	fs.Fail(vfstest.Getattr, 1, vfs.ErrStale)
	before := fs.Calls(vfstest.Getattr)
	_, err := c.Rename(ctx, f.dir, "file", f.dir, "new")
	wantStatus(t, "RENAME", err, NFS3ERR_NOENT)
	if n := fs.Calls(vfstest.Getattr) - before; n != 1 {
		t.Errorf("%d looks at the attributes", n)
	}
}

// TestNoWaitAfterFailure lets each procedure fail while attributes are not to be had
// at once: the answer comes without.
func TestNoWaitAfterFailure(t *testing.T) {
	for _, p := range failures {
		switch p.proc {
		case NFSPROC3_GETATTR, NFSPROC3_ACCESS, NFSPROC3_READLINK, NFSPROC3_READDIR, NFSPROC3_READDIRPLUS:
			continue // they begin with the attributes
		}
		fs := vfstest.NewFaultFS(memfs.New(memfs.Config{RootMode: 0o777}))
		c := serve(t, memExport(fs)).client(&root)
		f := newFixture(c, "dir")
		fs.Fail(p.method, 1, vfs.ErrAccess)
		stop := fs.Stop(vfstest.Getattr)
		done := make(chan error)
		go func() {
			_, err := p.call(c, f)
			done <- err
		}()
		select {
		case err := <-done:
			wantStatus(t, NFSV3ProcName(p.proc), err, NFS3ERR_ACCES)
			stop.Release()
		case <-stop.Entered():
			stop.Release()
			t.Errorf("%s waits for attributes, then: %v", NFSV3ProcName(p.proc), <-done)
		}
	}
}
