package hostile

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"testing"

	eddy "eddy.example"
	"eddy.example/nfs3"
	"eddy.example/vfs/memfs"
)

// serveTree starts a server of a tree.
func serveTree(t testing.TB, s *eddy.Server) (w *world, h handles, fs *memfs.FS) {
	t.Helper()
	fs = newMem()
	plant(t, fs)
	if s.Exports == nil {
		s.Exports = open(fs)
	}
	w = start(t, s)
	return w, w.visit(), fs
}

// getattr is a call of GETATTR for any bytes.
func getattr(xid uint32, fh []byte) []byte {
	return nfsCall(xid, nfs3.NFSPROC3_GETATTR, raw(opaque(fh)))
}

// TestForgedHandles changes handles in every byte, and makes them up.
func TestForgedHandles(t *testing.T) {
	w, h, _ := serveTree(t, new(eddy.Server))
	p := w.peer("pipe")
	defer p.Close()
	xid := uint32(0)
	bad := func(name string, fh []byte) {
		t.Helper()
		xid++
		p.expect(name, getattr(xid, fh), "NFS3ERR_BADHANDLE")
	}
	good := h.file.Data
	for i := range good {
		for bit := range 8 {
			fh := bytes.Clone(good)
			fh[i] ^= 1 << bit
			bad(fmt.Sprintf("bit %d of byte %d", bit, i), fh)
		}
		for _, v := range []byte{0, 0xff} {
			if fh := bytes.Clone(good); fh[i] != v {
				fh[i] = v
				bad(fmt.Sprintf("byte %d is %#x", i, v), fh)
			}
		}
		bad(fmt.Sprintf("%d bytes", i), good[:i])
		bad(fmt.Sprintf("from byte %d", i+1), good[i+1:])
	}
	for n := len(good) + 1; n <= nfs3.NFS3_FHSIZE; n++ {
		bad(fmt.Sprintf("%d bytes", n), append(bytes.Clone(good), make([]byte, n-len(good))...))
	}
	for n := range nfs3.NFS3_FHSIZE + 1 {
		fh := make([]byte, n)
		bad(fmt.Sprintf("%d zeros", n), fh)
		rand.Read(fh)
		bad(fmt.Sprintf("%d random bytes", n), fh)
		copy(fh, good[:8])
		bad(fmt.Sprintf("%d random bytes with a good head", n), fh)
	}
	xid++
	p.expect("65 bytes", getattr(xid, make([]byte, 65)), "GARBAGE_ARGS")
	xid++
	p.expect("good", getattr(xid, good), "NFS3_OK")
}

// TestHandlesOfOthers uses handles of another server, which may have the same key.
func TestHandlesOfOthers(t *testing.T) {
	key := eddy.Key{1, 2, 3}
	other := &eddy.Server{HandleKey: key}
	_, foreign, otherFS := serveTree(t, other)
	for _, tt := range []struct {
		name string
		s    *eddy.Server
		want string
	}{
		{"another key", &eddy.Server{HandleKey: eddy.Key{1, 2, 4}}, "NFS3ERR_BADHANDLE"},
		{"a random key", new(eddy.Server), "NFS3ERR_BADHANDLE"},
		{"the same key, another file system", &eddy.Server{HandleKey: key}, "NFS3ERR_STALE"},
		{"the same key, not this export", &eddy.Server{HandleKey: key, Exports: []eddy.Export{
			{Path: "/", FSID: 4711, FS: otherFS, Squash: squashNone, InsecurePorts: true},
		}}, "NFS3ERR_STALE"},
		{"the same in all", &eddy.Server{HandleKey: key, Exports: open(otherFS)}, "NFS3_OK"},
	} {
		if tt.s.Exports == nil {
			fs := newMem()
			plant(t, fs)
			tt.s.Exports = open(fs)
		}
		w := start(t, tt.s)
		for _, transport := range transports {
			p := w.peer(transport)
			p.expect(tt.name+" over "+transport, getattr(1, foreign.file.Data), tt.want)
			p.Close()
		}
		w.idle()
	}
}

// TestHandleLengths has every procedure get handles of odd lengths and of others.
func TestHandleLengths(t *testing.T) {
	w, h, _ := serveTree(t, new(eddy.Server))
	_, foreign, _ := serveTree(t, new(eddy.Server))
	flipped := bytes.Clone(h.file.Data)
	flipped[len(flipped)-1] ^= 1
	xid := uint32(0)
	for _, transport := range transports {
		p := w.peer(transport)
		for _, c := range h.calls() {
			if c.prog != nfs3.NFS_PROGRAM || c.proc == 0 {
				continue
			}
			args := c.args.AppendXDR(nil)
			behind := args[len(opaque(h.file.Data)):]
			for _, tt := range []struct {
				name string
				fh   []byte
				want string
			}{
				{"no bytes", opaque(nil), "NFS3ERR_BADHANDLE"},
				{"1 byte", opaque([]byte{1}), "NFS3ERR_BADHANDLE"},
				{"63 bytes", opaque(make([]byte, 63)), "NFS3ERR_BADHANDLE"},
				{"64 bytes", opaque(make([]byte, 64)), "NFS3ERR_BADHANDLE"},
				{"flipped", opaque(flipped), "NFS3ERR_BADHANDLE"},
				{"foreign", opaque(foreign.dir.Data), "NFS3ERR_BADHANDLE"},
				{"65 bytes", opaque(make([]byte, 65)), "GARBAGE_ARGS"},
				{"400 bytes", opaque(make([]byte, 400)), "GARBAGE_ARGS"},
				{"2^31 bytes", lying(1<<31, h.file.Data), "GARBAGE_ARGS"},
				{"2^32-1 bytes", lying(maxUint32, h.file.Data), "GARBAGE_ARGS"},
				{"2^32-4 bytes", lying(maxUint32-3, h.file.Data), "GARBAGE_ARGS"},
			} {
				xid++
				message := call{c.prog, c.vers, c.proc, raw(cat(tt.fh, behind))}.message(xid)
				p.expect(fmt.Sprintf("%s with a handle of %s over %s", c.name(), tt.name, transport), message, tt.want)
			}
		}
		p.Close()
	}
	// The second handle.
	dir, name := opaque(h.dir.Data), opaque([]byte("file"))
	for _, c := range []struct {
		proc uint32
		args []byte
	}{
		{nfs3.NFSPROC3_RENAME, cat(dir, name)},
		{nfs3.NFSPROC3_LINK, opaque(h.file.Data)},
	} {
		p := w.peer("tcp")
		for _, tt := range []struct {
			fh   []byte
			want string
		}{
			{opaque(nil), "NFS3ERR_BADHANDLE"},
			{opaque(flipped), "NFS3ERR_BADHANDLE"},
			{opaque(foreign.dir.Data), "NFS3ERR_BADHANDLE"},
			{opaque(make([]byte, 65)), "GARBAGE_ARGS"},
			{lying(maxUint32, h.dir.Data), "GARBAGE_ARGS"},
		} {
			xid++
			p.expect(nfs3.NFSV3ProcName(c.proc), nfsCall(xid, c.proc, raw(cat(c.args, tt.fh, name))), tt.want)
		}
		p.Close()
	}
	c := w.client("tcp")
	defer c.Close()
	must(c.Lookup(ctx, h.dir.Data, "file")) // nothing has been changed
}

// setattr is a call of SETATTR, which runs to its end whatever becomes of its connection.
func setattr(xid uint32, h handles) []byte {
	size := nfs3.Sattr3{Size: nfs3.SetSize3{SetIt: true, Size: 10000}}
	return nfsCall(xid, nfs3.NFSPROC3_SETATTR, &nfs3.SETATTR3args{Object: h.file, NewAttributes: size})
}
