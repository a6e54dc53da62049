package hostile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	eddy "eddy.example"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/vfstest"
)

// listed are the errors that RFC 1813 §3.3 lists for each procedure, besides those it
// lists for all: STALE, BADHANDLE and SERVERFAULT. JUKEBOX is for all by §2.6. ACCES is not listed
// for GETATTR, ACCESS, FSSTAT, FSINFO, PATHCONF and COMMIT, but is what there is to say to a
// client that an export does not admit. REMOVE says ISDIR, and COMMIT INVAL, NOSPC and DQUOT, where
// the lists have no word for it.
var listed = map[uint32][]nfs3.NFSStat3{
	nfs3.NFSPROC3_GETATTR:     {nfs3.NFS3ERR_IO},
	nfs3.NFSPROC3_SETATTR:     {nfs3.NFS3ERR_PERM, nfs3.NFS3ERR_IO, nfs3.NFS3ERR_INVAL, nfs3.NFS3ERR_NOSPC, nfs3.NFS3ERR_ROFS, nfs3.NFS3ERR_DQUOT, nfs3.NFS3ERR_NOT_SYNC},
	nfs3.NFSPROC3_LOOKUP:      {nfs3.NFS3ERR_IO, nfs3.NFS3ERR_NOENT, nfs3.NFS3ERR_NOTDIR, nfs3.NFS3ERR_NAMETOOLONG},
	nfs3.NFSPROC3_ACCESS:      {nfs3.NFS3ERR_IO},
	nfs3.NFSPROC3_READLINK:    {nfs3.NFS3ERR_IO, nfs3.NFS3ERR_INVAL, nfs3.NFS3ERR_NOTSUPP},
	nfs3.NFSPROC3_READ:        {nfs3.NFS3ERR_IO, nfs3.NFS3ERR_NXIO, nfs3.NFS3ERR_INVAL},
	nfs3.NFSPROC3_WRITE:       {nfs3.NFS3ERR_IO, nfs3.NFS3ERR_FBIG, nfs3.NFS3ERR_DQUOT, nfs3.NFS3ERR_NOSPC, nfs3.NFS3ERR_ROFS, nfs3.NFS3ERR_INVAL},
	nfs3.NFSPROC3_CREATE:      makes,
	nfs3.NFSPROC3_MKDIR:       makes,
	nfs3.NFSPROC3_SYMLINK:     makes,
	nfs3.NFSPROC3_MKNOD:       append([]nfs3.NFSStat3{nfs3.NFS3ERR_BADTYPE}, makes...),
	nfs3.NFSPROC3_REMOVE:      {nfs3.NFS3ERR_NOENT, nfs3.NFS3ERR_IO, nfs3.NFS3ERR_NOTDIR, nfs3.NFS3ERR_NAMETOOLONG, nfs3.NFS3ERR_ROFS, nfs3.NFS3ERR_ISDIR},
	nfs3.NFSPROC3_RMDIR:       {nfs3.NFS3ERR_NOENT, nfs3.NFS3ERR_IO, nfs3.NFS3ERR_EXIST, nfs3.NFS3ERR_INVAL, nfs3.NFS3ERR_NOTDIR, nfs3.NFS3ERR_NAMETOOLONG, nfs3.NFS3ERR_ROFS, nfs3.NFS3ERR_NOTEMPTY, nfs3.NFS3ERR_NOTSUPP},
	nfs3.NFSPROC3_RENAME:      {nfs3.NFS3ERR_NOENT, nfs3.NFS3ERR_IO, nfs3.NFS3ERR_EXIST, nfs3.NFS3ERR_XDEV, nfs3.NFS3ERR_NOTDIR, nfs3.NFS3ERR_ISDIR, nfs3.NFS3ERR_INVAL, nfs3.NFS3ERR_NOSPC, nfs3.NFS3ERR_ROFS, nfs3.NFS3ERR_MLINK, nfs3.NFS3ERR_NAMETOOLONG, nfs3.NFS3ERR_NOTEMPTY, nfs3.NFS3ERR_DQUOT, nfs3.NFS3ERR_NOTSUPP},
	nfs3.NFSPROC3_LINK:        {nfs3.NFS3ERR_IO, nfs3.NFS3ERR_EXIST, nfs3.NFS3ERR_XDEV, nfs3.NFS3ERR_NOTDIR, nfs3.NFS3ERR_INVAL, nfs3.NFS3ERR_NOSPC, nfs3.NFS3ERR_ROFS, nfs3.NFS3ERR_MLINK, nfs3.NFS3ERR_NAMETOOLONG, nfs3.NFS3ERR_DQUOT, nfs3.NFS3ERR_NOTSUPP},
	nfs3.NFSPROC3_READDIR:     {nfs3.NFS3ERR_IO, nfs3.NFS3ERR_NOTDIR, nfs3.NFS3ERR_BAD_COOKIE, nfs3.NFS3ERR_TOOSMALL},
	nfs3.NFSPROC3_READDIRPLUS: {nfs3.NFS3ERR_IO, nfs3.NFS3ERR_NOTDIR, nfs3.NFS3ERR_BAD_COOKIE, nfs3.NFS3ERR_TOOSMALL, nfs3.NFS3ERR_NOTSUPP},
	nfs3.NFSPROC3_FSSTAT:      {nfs3.NFS3ERR_IO},
	nfs3.NFSPROC3_FSINFO:      {},
	nfs3.NFSPROC3_PATHCONF:    {},
	nfs3.NFSPROC3_COMMIT:      {nfs3.NFS3ERR_IO, nfs3.NFS3ERR_INVAL, nfs3.NFS3ERR_NOSPC, nfs3.NFS3ERR_DQUOT},
}

var (
	makes  = []nfs3.NFSStat3{nfs3.NFS3ERR_IO, nfs3.NFS3ERR_EXIST, nfs3.NFS3ERR_NOTDIR, nfs3.NFS3ERR_NOSPC, nfs3.NFS3ERR_ROFS, nfs3.NFS3ERR_NAMETOOLONG, nfs3.NFS3ERR_DQUOT, nfs3.NFS3ERR_NOTSUPP}
	forAll = []nfs3.NFSStat3{nfs3.NFS3ERR_STALE, nfs3.NFS3ERR_BADHANDLE, nfs3.NFS3ERR_SERVERFAULT, nfs3.NFS3ERR_JUKEBOX, nfs3.NFS3ERR_ACCES}
)

// faults are what a backend may fail with, and what that is on the wire where the procedure may say it.
var faults = []struct {
	err  error
	want nfs3.NFSStat3
}{
	{vfs.ErrPerm, nfs3.NFS3ERR_PERM},
	{vfs.ErrNotExist, nfs3.NFS3ERR_NOENT},
	{vfs.ErrIO, nfs3.NFS3ERR_IO},
	{vfs.ErrNXIO, nfs3.NFS3ERR_NXIO},
	{vfs.ErrAccess, nfs3.NFS3ERR_ACCES},
	{vfs.ErrExist, nfs3.NFS3ERR_EXIST},
	{vfs.ErrCrossDevice, nfs3.NFS3ERR_XDEV},
	{vfs.ErrNotDir, nfs3.NFS3ERR_NOTDIR},
	{vfs.ErrIsDir, nfs3.NFS3ERR_ISDIR},
	{vfs.ErrInvalid, nfs3.NFS3ERR_INVAL},
	{vfs.ErrFileTooBig, nfs3.NFS3ERR_FBIG},
	{vfs.ErrNoSpace, nfs3.NFS3ERR_NOSPC},
	{vfs.ErrReadOnly, nfs3.NFS3ERR_ROFS},
	{vfs.ErrTooManyLinks, nfs3.NFS3ERR_MLINK},
	{vfs.ErrNameTooLong, nfs3.NFS3ERR_NAMETOOLONG},
	{vfs.ErrNotEmpty, nfs3.NFS3ERR_NOTEMPTY},
	{vfs.ErrQuota, nfs3.NFS3ERR_DQUOT},
	{vfs.ErrStale, nfs3.NFS3ERR_STALE},
	{vfs.ErrBadHandle, nfs3.NFS3ERR_BADHANDLE},
	{vfs.ErrNotSync, nfs3.NFS3ERR_NOT_SYNC},
	{vfs.ErrBadCookie, nfs3.NFS3ERR_BAD_COOKIE},
	{vfs.ErrNotSupported, nfs3.NFS3ERR_NOTSUPP},
	{vfs.ErrBadType, nfs3.NFS3ERR_BADTYPE},
	{vfs.ErrDelay, nfs3.NFS3ERR_JUKEBOX},

	{fmt.Errorf("wrapped: %w", vfs.ErrNoSpace), nfs3.NFS3ERR_NOSPC},
	{&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, nfs3.NFS3ERR_NOENT},
	{fs.ErrPermission, nfs3.NFS3ERR_ACCES},
	{syscall.EIO, nfs3.NFS3ERR_IO},
	{syscall.EMFILE, nfs3.NFS3ERR_JUKEBOX},
	{errors.New("what nobody knows"), nfs3.NFS3ERR_IO},
	{context.DeadlineExceeded, nfs3.NFS3ERR_JUKEBOX},
	{context.Canceled, nfs3.NFS3ERR_JUKEBOX},
}

var methods = []vfstest.Method{
	vfstest.Resolve, vfstest.Lookup, vfstest.Getattr, vfstest.Read, vfstest.ReadDir, vfstest.Readlink, vfstest.Access,
	vfstest.Statfs, vfstest.Write, vfstest.Commit, vfstest.Setattr, vfstest.Create, vfstest.Mkdir, vfstest.Symlink,
	vfstest.Mknod, vfstest.Remove, vfstest.Rmdir, vfstest.Rename, vfstest.Link,
}

// operation is a procedure, ready to be called any number of times with success.
type operation struct {
	proc    uint32
	args    func(n int) rpc.Appender
	prepare func(c *nfs3.Client, name string)
}

func operations(h handles) []operation {
	name := func(n int) nfs3.Diropargs3 { return at(h.dir, fmt.Sprint("n", n)) }
	same := func(args rpc.Appender) func(int) rpc.Appender {
		return func(int) rpc.Appender { return args }
	}
	file := func(c *nfs3.Client, name string) {
		must(c.Create(ctx, h.dir.Data, name, &nfs3.Createhow3{Mode: nfs3.GUARDED}))
	}
	dir := func(c *nfs3.Client, name string) {
		must(c.Mkdir(ctx, h.dir.Data, name, new(nfs3.Sattr3)))
	}
	size := nfs3.Sattr3{Size: nfs3.SetSize3{SetIt: true, Size: 10000}}
	return []operation{
		{proc: nfs3.NFSPROC3_GETATTR, args: same(&nfs3.GETATTR3args{Object: h.file})},
		{proc: nfs3.NFSPROC3_SETATTR, args: same(&nfs3.SETATTR3args{Object: h.file, NewAttributes: size})},
		{proc: nfs3.NFSPROC3_LOOKUP, args: same(&nfs3.LOOKUP3args{What: at(h.dir, "file")})},
		{proc: nfs3.NFSPROC3_ACCESS, args: same(&nfs3.ACCESS3args{Object: h.file, Access: 0x3f})},
		{proc: nfs3.NFSPROC3_READLINK, args: same(&nfs3.READLINK3args{Symlink: h.link})},
		{proc: nfs3.NFSPROC3_READ, args: same(&nfs3.READ3args{File: h.file, Count: 4096})},
		{proc: nfs3.NFSPROC3_WRITE, args: same(&nfs3.WRITE3args{File: h.file, Count: 4, Data: []byte("1234")})},
		{proc: nfs3.NFSPROC3_CREATE, args: func(n int) rpc.Appender {
			return &nfs3.CREATE3args{Where: name(n), How: nfs3.Createhow3{Mode: nfs3.GUARDED}}
		}},
		{proc: nfs3.NFSPROC3_MKDIR, args: func(n int) rpc.Appender { return &nfs3.MKDIR3args{Where: name(n)} }},
		{proc: nfs3.NFSPROC3_SYMLINK, args: func(n int) rpc.Appender {
			return &nfs3.SYMLINK3args{Where: name(n), Symlink: nfs3.Symlinkdata3{SymlinkData: nfs3.NFSPath3("text")}}
		}},
		{proc: nfs3.NFSPROC3_MKNOD, args: func(n int) rpc.Appender {
			return &nfs3.MKNOD3args{Where: name(n), What: nfs3.Mknoddata3{Type: nfs3.NF3FIFO}}
		}},
		{proc: nfs3.NFSPROC3_REMOVE, prepare: file, args: func(n int) rpc.Appender { return &nfs3.REMOVE3args{Object: name(n)} }},
		{proc: nfs3.NFSPROC3_RMDIR, prepare: dir, args: func(n int) rpc.Appender { return &nfs3.RMDIR3args{Object: name(n)} }},
		{proc: nfs3.NFSPROC3_RENAME, prepare: file, args: func(n int) rpc.Appender {
			return &nfs3.RENAME3args{From: name(n), To: at(h.sub, fmt.Sprint("renamed", n))}
		}},
		{proc: nfs3.NFSPROC3_LINK, args: func(n int) rpc.Appender { return &nfs3.LINK3args{File: h.file, Link: name(n)} }},
		{proc: nfs3.NFSPROC3_READDIR, args: same(&nfs3.READDIR3args{Dir: h.sub, Count: 4096})},
		{proc: nfs3.NFSPROC3_READDIRPLUS, args: same(&nfs3.READDIRPLUS3args{Dir: h.sub, Dircount: 4096, Maxcount: 4096})},
		{proc: nfs3.NFSPROC3_FSSTAT, args: same(&nfs3.FSSTAT3args{Fsroot: h.root})},
		{proc: nfs3.NFSPROC3_FSINFO, args: same(&nfs3.FSINFO3args{Fsroot: h.root})},
		{proc: nfs3.NFSPROC3_PATHCONF, args: same(&nfs3.PATHCONF3args{Object: h.root})},
		{proc: nfs3.NFSPROC3_COMMIT, args: same(&nfs3.COMMIT3args{File: h.file})},
	}
}

// auxiliary reports whether a procedure can do without what the method was called for: attributes for
// the reply, or the parent of a directory that is listed.
func auxiliary(proc uint32, m vfstest.Method, n int) bool {
	switch proc {
	case nfs3.NFSPROC3_GETATTR:
		return false
	case nfs3.NFSPROC3_READDIR, nfs3.NFSPROC3_READDIRPLUS:
		return m == vfstest.Getattr && n > 1 || m == vfstest.Lookup
	}
	return m == vfstest.Getattr
}

// caller makes calls with faults.
type caller struct {
	*world
	f   *vfstest.FaultFS
	c   *nfs3.Client // that prepares what is called
	p   *peer
	run int
}

func newCaller(w *world, f *vfstest.FaultFS) *caller {
	return &caller{world: w, f: f, c: w.client("tcp"), p: w.peer("tcp")}
}

func (c *caller) close() {
	c.c.Close()
	c.p.Close()
}

// call calls an operation, the n-th call of m in which fails with err; 0 is none.
func (c *caller) call(o operation, m vfstest.Method, n int, err error) (reply []byte) {
	c.t.Helper()
	c.run++
	if o.prepare != nil {
		o.prepare(c.c, fmt.Sprint("n", c.run))
	}
	before := c.f.Calls(m)
	if n > 0 {
		c.f.Fail(m, n, err)
	}
	message := nfsCall(uint32(c.run), o.proc, o.args(c.run))
	c.p.send(message)
	reply = c.p.receive()
	what := fmt.Sprintf("%s with call %d of %s failing with %v", nfs3.NFSV3ProcName(o.proc), n, m, err)
	if err := wellFormed(message, reply); err != nil {
		c.t.Errorf("%s: %v", what, err)
	}
	if got := c.f.Calls(m) - before; got < n {
		c.t.Fatalf("%s: there were %d", what, got)
	}
	return reply
}

// each calls do for each call of each method that an operation makes.
func (c *caller) each(o operation, do func(m vfstest.Method, n int)) {
	c.t.Helper()
	for _, m := range methods {
		c.run++
		if o.prepare != nil {
			o.prepare(c.c, fmt.Sprint("n", c.run))
		}
		before := c.f.Calls(m)
		c.p.send(nfsCall(uint32(c.run), o.proc, o.args(c.run)))
		if got := outcome(c.p.receive()); got != "NFS3_OK" {
			c.t.Errorf("%s without a fault: %s", nfs3.NFSV3ProcName(o.proc), got)
		}
		for n := range c.f.Calls(m) - before {
			do(m, n+1)
		}
	}
}

// TestFaults has each method of the backend fail once in each procedure that calls it, with each error.
func TestFaults(t *testing.T) {
	for name, as := range backends {
		t.Run(name, func(t *testing.T) {
			w, h, f := stoppableAs(t, new(eddy.Server), as)
			c := newCaller(w, f)
			defer c.close()
			for _, o := range operations(h) {
				may := append(slices.Clone(forAll), listed[o.proc]...)
				c.each(o, func(m vfstest.Method, n int) {
					for _, fault := range faults {
						got := outcome(c.call(o, m, n, fault.err))
						what := fmt.Sprintf("%s with call %d of %s failing with %v", nfs3.NFSV3ProcName(o.proc), n, m, fault.err)
						switch {
						case auxiliary(o.proc, m, n):
							if got != "NFS3_OK" {
								t.Errorf("%s: %s, want NFS3_OK", what, got)
							}
						case slices.Contains(may, fault.want):
							if got != fault.want.String() {
								t.Errorf("%s: %s, want %v", what, got, fault.want)
							}
						case !slices.ContainsFunc(may, func(s nfs3.NFSStat3) bool { return s.String() == got }):
							t.Errorf("%s: %s, which the procedure does not say", what, got)
						}
					}
				})
			}
			c.close()
			w.idle()
		})
	}
}

// TestWouldBlockAnywhere has each method say once that it would have to wait: the call comes again
// where it may, and the client sees nothing of it.
func TestWouldBlockAnywhere(t *testing.T) {
	w, h, f := stoppable(t, new(eddy.Server))
	c := newCaller(w, f)
	defer c.close()
	for _, o := range operations(h) {
		c.each(o, func(m vfstest.Method, n int) {
			if got := outcome(c.call(o, m, n, vfs.ErrWouldBlock)); got != "NFS3_OK" {
				t.Errorf("%s with call %d of %s that would block: %s", nfs3.NFSV3ProcName(o.proc), n, m, got)
			}
		})
	}
	c.close()
	w.idle()
}
