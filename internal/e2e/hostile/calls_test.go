package hostile

import (
	"fmt"
	"testing"

	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/rpc/rpcbind"
	"eddy.example/rpc/xdr"
	"eddy.example/vfs/memfs"
)

// handles are those of a tree that [plant] makes.
type handles struct {
	root, dir, file, link, sub nfs3.NFSFh3
}

// plant makes a directory d with a file, a link and a directory in it, and big,
// a file of 2 MiB.
func plant(t testing.TB, fs *memfs.FS) {
	t.Helper()
	if err := fs.MkdirAll("/d/sub", 0o777); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"/d/file": 10000, "/big": 2 << 20} {
		if err := fs.WriteFile(name, content(n), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// content is what is in a file of n bytes.
func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// visit returns the handles of what [plant] has made, and makes the link.
func (w *world) visit() (h handles) {
	w.t.Helper()
	c := w.client("tcp")
	defer c.Close()
	top := must(c.Mount(ctx, "/"))
	find := func(dir []byte, name string) nfs3.NFSFh3 { return must(c.Lookup(ctx, dir, name)).Resok.Object }
	h.root.Data = top
	h.dir = find(top, "d")
	h.file = find(h.dir.Data, "file")
	h.sub = find(h.dir.Data, "sub")
	must(c.Symlink(ctx, h.dir.Data, "link", "file", new(nfs3.Sattr3)))
	h.link = find(h.dir.Data, "link")
	return h
}

// call is a valid call.
type call struct {
	prog, vers, proc uint32
	args             rpc.Appender
}

func (c call) name() string {
	if c.prog == nfs3.MOUNT_PROGRAM {
		return fmt.Sprintf("MOUNT %d.%d", c.vers, c.proc)
	}
	return nfs3.NFSV3ProcName(c.proc)
}

func (c call) message(xid uint32) []byte {
	return callMessage(xid, c.prog, c.vers, c.proc, &user, c.args)
}

// at is a name in a directory.
func at(dir nfs3.NFSFh3, name string) nfs3.Diropargs3 {
	return nfs3.Diropargs3{Dir: dir, Name: nfs3.Filename3(name)}
}

// everyAttr sets every attribute there is.
func everyAttr() nfs3.Sattr3 {
	then := nfs3.NFSTime3{Seconds: 1e9, Nseconds: 999_999_999}
	return nfs3.Sattr3{
		Mode:  nfs3.SetMode3{SetIt: true, Mode: 0o666},
		UID:   nfs3.SetUID3{SetIt: true, UID: 1000},
		GID:   nfs3.SetGID3{SetIt: true, GID: 100},
		Size:  nfs3.SetSize3{SetIt: true, Size: 5000},
		Atime: nfs3.SetAtime{SetIt: nfs3.SET_TO_CLIENT_TIME, Atime: then},
		Mtime: nfs3.SetMtime{SetIt: nfs3.SET_TO_CLIENT_TIME, Mtime: then},
	}
}

// changeable is what may be set of a new object that is no file.
func changeable() nfs3.Sattr3 {
	a := everyAttr()
	a.Size.SetIt = false
	return a
}

// calls is a call of every procedure, most with everything in it that is optional.
func (h *handles) calls() []call {
	nfs := func(proc uint32, args rpc.Appender) call {
		return call{nfs3.NFS_PROGRAM, nfs3.NFS_V3, proc, args}
	}
	mount := func(vers, proc uint32, args rpc.Appender) call {
		return call{nfs3.MOUNT_PROGRAM, vers, proc, args}
	}
	guard := nfs3.Sattrguard3{Check: true, ObjCtime: nfs3.NFSTime3{Seconds: 1, Nseconds: 2}}
	guarded := nfs3.Createhow3{Mode: nfs3.GUARDED, ObjAttributes: everyAttr()}
	exclusive := nfs3.Createhow3{Mode: nfs3.EXCLUSIVE, Verf: nfs3.Createverf3{1, 2, 3, 4, 5, 6, 7, 8}}
	device := nfs3.Mknoddata3{Type: nfs3.NF3CHR, Device: nfs3.Devicedata3{DevAttributes: changeable(), Spec: nfs3.Specdata3{Specdata1: 1, Specdata2: 3}}}
	fifo := nfs3.Mknoddata3{Type: nfs3.NF3FIFO, PipeAttributes: changeable()}
	path := nfs3.Dirpath("/d")
	return []call{
		nfs(0, raw{}),
		nfs(nfs3.NFSPROC3_GETATTR, &nfs3.GETATTR3args{Object: h.file}),
		nfs(nfs3.NFSPROC3_SETATTR, &nfs3.SETATTR3args{Object: h.file, NewAttributes: everyAttr()}),
		nfs(nfs3.NFSPROC3_SETATTR, &nfs3.SETATTR3args{Object: h.file, NewAttributes: everyAttr(), Guard: guard}),
		nfs(nfs3.NFSPROC3_LOOKUP, &nfs3.LOOKUP3args{What: at(h.dir, "file")}),
		nfs(nfs3.NFSPROC3_ACCESS, &nfs3.ACCESS3args{Object: h.file, Access: 0x3f}),
		nfs(nfs3.NFSPROC3_READLINK, &nfs3.READLINK3args{Symlink: h.link}),
		nfs(nfs3.NFSPROC3_READ, &nfs3.READ3args{File: h.file, Offset: 100, Count: 4097}),
		nfs(nfs3.NFSPROC3_WRITE, &nfs3.WRITE3args{File: h.file, Offset: 100, Count: 5, Stable: nfs3.FILE_SYNC, Data: []byte("12345")}),
		nfs(nfs3.NFSPROC3_CREATE, &nfs3.CREATE3args{Where: at(h.dir, "created"), How: guarded}),
		nfs(nfs3.NFSPROC3_CREATE, &nfs3.CREATE3args{Where: at(h.dir, "exclusive"), How: exclusive}),
		nfs(nfs3.NFSPROC3_MKDIR, &nfs3.MKDIR3args{Where: at(h.dir, "made"), Attributes: changeable()}),
		nfs(nfs3.NFSPROC3_SYMLINK, &nfs3.SYMLINK3args{Where: at(h.dir, "symlink"), Symlink: nfs3.Symlinkdata3{SymlinkAttributes: changeable(), SymlinkData: nfs3.NFSPath3("target")}}),
		nfs(nfs3.NFSPROC3_MKNOD, &nfs3.MKNOD3args{Where: at(h.dir, "device"), What: device}),
		nfs(nfs3.NFSPROC3_MKNOD, &nfs3.MKNOD3args{Where: at(h.dir, "fifo"), What: fifo}),
		nfs(nfs3.NFSPROC3_REMOVE, &nfs3.REMOVE3args{Object: at(h.dir, "created")}),
		nfs(nfs3.NFSPROC3_RMDIR, &nfs3.RMDIR3args{Object: at(h.dir, "made")}),
		nfs(nfs3.NFSPROC3_RENAME, &nfs3.RENAME3args{From: at(h.dir, "exclusive"), To: at(h.sub, "renamed")}),
		nfs(nfs3.NFSPROC3_LINK, &nfs3.LINK3args{File: h.file, Link: at(h.sub, "linked")}),
		nfs(nfs3.NFSPROC3_READDIR, &nfs3.READDIR3args{Dir: h.dir, Count: 4096}),
		nfs(nfs3.NFSPROC3_READDIRPLUS, &nfs3.READDIRPLUS3args{Dir: h.dir, Dircount: 4096, Maxcount: 8192}),
		nfs(nfs3.NFSPROC3_FSSTAT, &nfs3.FSSTAT3args{Fsroot: h.root}),
		nfs(nfs3.NFSPROC3_FSINFO, &nfs3.FSINFO3args{Fsroot: h.root}),
		nfs(nfs3.NFSPROC3_PATHCONF, &nfs3.PATHCONF3args{Object: h.root}),
		nfs(nfs3.NFSPROC3_COMMIT, &nfs3.COMMIT3args{File: h.file, Offset: 0, Count: 4096}),
		mount(3, 0, raw{}),
		mount(1, nfs3.MOUNTPROC3_MNT, path),
		mount(3, nfs3.MOUNTPROC3_MNT, path),
		mount(3, nfs3.MOUNTPROC3_DUMP, raw{}),
		mount(3, nfs3.MOUNTPROC3_EXPORT, raw{}),
		mount(3, nfs3.MOUNTPROC3_UMNT, path),
		mount(3, nfs3.MOUNTPROC3_UMNTALL, raw{}),
	}
}

// newResults is what the results of a procedure are decoded into: nil for one that has
// none, and for a procedure that does not exist.
func newResults(prog, vers, proc uint32) rpc.Consumer {
	if prog == nfs3.MOUNT_PROGRAM {
		switch proc {
		case nfs3.MOUNTPROC3_MNT:
			if vers < 3 {
				return new(nfs3.Fhstatus)
			}
			return new(nfs3.Mountres3)
		case nfs3.MOUNTPROC3_DUMP:
			return new(nfs3.Mountlist)
		case nfs3.MOUNTPROC3_EXPORT:
			return new(nfs3.Exports)
		}
		return nil
	}
	switch proc {
	case nfs3.NFSPROC3_GETATTR:
		return new(nfs3.GETATTR3res)
	case nfs3.NFSPROC3_SETATTR:
		return new(nfs3.SETATTR3res)
	case nfs3.NFSPROC3_LOOKUP:
		return new(nfs3.LOOKUP3res)
	case nfs3.NFSPROC3_ACCESS:
		return new(nfs3.ACCESS3res)
	case nfs3.NFSPROC3_READLINK:
		return new(nfs3.READLINK3res)
	case nfs3.NFSPROC3_READ:
		return new(nfs3.READ3res)
	case nfs3.NFSPROC3_WRITE:
		return new(nfs3.WRITE3res)
	case nfs3.NFSPROC3_CREATE:
		return new(nfs3.CREATE3res)
	case nfs3.NFSPROC3_MKDIR:
		return new(nfs3.MKDIR3res)
	case nfs3.NFSPROC3_SYMLINK:
		return new(nfs3.SYMLINK3res)
	case nfs3.NFSPROC3_MKNOD:
		return new(nfs3.MKNOD3res)
	case nfs3.NFSPROC3_REMOVE:
		return new(nfs3.REMOVE3res)
	case nfs3.NFSPROC3_RMDIR:
		return new(nfs3.RMDIR3res)
	case nfs3.NFSPROC3_RENAME:
		return new(nfs3.RENAME3res)
	case nfs3.NFSPROC3_LINK:
		return new(nfs3.LINK3res)
	case nfs3.NFSPROC3_READDIR:
		return new(nfs3.READDIR3res)
	case nfs3.NFSPROC3_READDIRPLUS:
		return new(nfs3.READDIRPLUS3res)
	case nfs3.NFSPROC3_FSSTAT:
		return new(nfs3.FSSTAT3res)
	case nfs3.NFSPROC3_FSINFO:
		return new(nfs3.FSINFO3res)
	case nfs3.NFSPROC3_PATHCONF:
		return new(nfs3.PATHCONF3res)
	case nfs3.NFSPROC3_COMMIT:
		return new(nfs3.COMMIT3res)
	}
	return nil
}

// wellFormed returns what is wrong with a reply to a message, as the message
// came: nil if it is a reply that its sender can read to the end.
func wellFormed(message, reply []byte) error {
	m, r := reader{b: message}, reader{b: reply}
	xid, _, _ := m.word(), m.word(), m.word()
	prog, vers, proc := m.word(), m.word(), m.word()
	if got := r.word(); got != xid {
		return fmt.Errorf("XID %#x, want %#x", got, xid)
	}
	if kind := r.word(); kind != 1 {
		return fmt.Errorf("message type %d", kind)
	}
	switch stat := r.word(); stat {
	case 0:
		if flavor, n := r.word(), r.word(); flavor != 0 || n != 0 {
			return fmt.Errorf("verifier of flavour %d, %d bytes", flavor, n)
		}
		switch stat := rpc.AcceptStat(r.word()); stat {
		case rpc.SUCCESS:
			if prog == rpcbind.RPCBPROG {
				return nil // a change has led to what rpc/rpcbind tests itself
			}
			if res := newResults(prog, vers, proc); res != nil && r.err == nil {
				r.b, r.err = res.ConsumeXDR(r.b)
			}
		case rpc.PROG_MISMATCH:
			r.word()
			r.word()
		case rpc.PROG_UNAVAIL, rpc.PROC_UNAVAIL, rpc.GARBAGE_ARGS:
		default:
			return fmt.Errorf("accept_stat %v", stat)
		}
	case 1:
		if r.word() == 0 {
			r.word()
		}
		r.word()
	default:
		return fmt.Errorf("reply_stat %d", stat)
	}
	if r.err != nil {
		return fmt.Errorf("%w in a reply of %d bytes", r.err, len(reply))
	}
	if len(r.b) > 0 {
		return fmt.Errorf("%d bytes follow the results", len(r.b))
	}
	return nil
}

// lying is variable-length opaque data that says to be of n bytes.
func lying(n uint32, data []byte) []byte {
	return append(words(n), data...)
}

// opaque is variable-length opaque data as it should be.
func opaque(data []byte) []byte { return xdr.AppendOpaque(nil, data) }

// cat joins pieces.
func cat(pieces ...[]byte) (all []byte) {
	for _, p := range pieces {
		all = append(all, p...)
	}
	return all
}
