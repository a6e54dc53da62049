package clients

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"eddy.example/internal/netns"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/rpc/xdr"
)

// A session calls all that a server serves, one call at a time.
type session struct {
	*nfs3.Client
	t    *testing.T
	rpc  *rpc.Client
	dial func() net.Conn

	root []byte // of "/"
	max  int    // longest READ and WRITE
}

func newSession(t *testing.T, ns *netns.NS, network string, addr netip.AddrPort) *session {
	t.Helper()
	s := &session{t: t, max: nfs3.MaxTransfer}
	if network == "udp" {
		s.max = nfs3.MaxDatagramTransfer
	}
	s.dial = func() (conn net.Conn) {
		if err := ns.Do(func() (err error) {
			conn, err = net.Dial(network, addr.String())
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	// Each call has to be sent once.
	s.rpc = rpc.NewClient(s.dial(), rpc.ClientConfig{Retransmit: time.Hour})
	t.Cleanup(func() { s.rpc.Close() })
	s.Client = nfs3.NewClient(s.rpc, &rpc.Cred{Flavor: rpc.AUTH_SYS, GIDs: []uint32{1, 2, 3}, Machine: []byte("here")})
	return s
}

// ok is for a call that has to succeed.
func (s *session) ok(_ any, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Error(err)
	}
}

// fails is for a call that has to fail with want.
func (s *session) fails(want error) func(any, error) {
	return func(_ any, err error) {
		s.t.Helper()
		if !errors.Is(err, want) {
			s.t.Errorf("got %v, want %v", err, want)
		}
	}
}

func (s *session) run() {
	s.t.Helper()
	s.mount()
	dir, file := s.make()
	s.inspect(dir, file)
	s.transfer(dir, file)
	s.rename(dir, file)
	s.refuse()
}

// mount calls MOUNT.
func (s *session) mount() {
	ctx := s.t.Context()
	null := func(vers uint32) error {
		return s.rpc.Call(ctx, nfs3.MOUNT_PROGRAM, vers, nfs3.MOUNTPROC3_NULL, nil, nil, nil)
	}
	s.ok(nil, s.Null(ctx))
	s.ok(nil, null(nfs3.MOUNT_V3))
	var err error
	if s.root, err = s.Mount(ctx, "/"); err != nil {
		s.t.Fatal(err)
	}
	s.fails(nfs3.NFS3ERR_NOENT)(s.Mount(ctx, "/nowhere"))
	s.fails(nfs3.NFS3ERR_NOTDIR)(s.Mount(ctx, "/archive/7 bytes/file"))
	s.ok(s.Mount(ctx, "/archive"))
	s.ok(s.Mounts(ctx))
	s.ok(s.Exports(ctx))
	s.ok(nil, s.Unmount(ctx, "/archive"))

	// Version 1 has handles of 32 bytes only, such as those of paths of 7 bytes.
	s.ok(nil, null(nfs3.MOUNT_V1))
	v1 := func(proc uint32, path string, res rpc.Consumer) error {
		args := nfs3.Dirpath(path)
		return s.rpc.Call(ctx, nfs3.MOUNT_PROGRAM, nfs3.MOUNT_V1, proc, nil, &args, res)
	}
	for path, want := range map[string]uint32{
		"/archive/7 bytes": 0,
		"/":                uint32(nfs3.MNT3ERR_INVAL),
		"/nowhere":         uint32(nfs3.MNT3ERR_NOENT),
	} {
		var res nfs3.Fhstatus
		if err := v1(nfs3.MOUNTPROC_MNT, path, &res); err != nil || res.Status != want {
			s.t.Errorf("mounting %s by version 1: status %d (%v), want %d", path, res.Status, err, want)
		}
	}
	var mounts nfs3.Mountlist
	s.ok(nil, s.rpc.Call(ctx, nfs3.MOUNT_PROGRAM, nfs3.MOUNT_V1, nfs3.MOUNTPROC_DUMP, nil, nil, &mounts))
	var exports nfs3.Exports
	s.ok(nil, s.rpc.Call(ctx, nfs3.MOUNT_PROGRAM, nfs3.MOUNT_V1, nfs3.MOUNTPROC_EXPORT, nil, nil, &exports))
	s.ok(nil, v1(nfs3.MOUNTPROC_UMNT, "/archive/7 bytes", nil))
	s.ok(nil, s.rpc.Call(ctx, nfs3.MOUNT_PROGRAM, nfs3.MOUNT_V1, nfs3.MOUNTPROC_UMNTALL, nil, nil, nil))
	s.ok(nil, s.UnmountAll(ctx))
	s.ok(s.Mounts(ctx))
}

// make creates one of each.
func (s *session) make() (dir, file []byte) {
	ctx := s.t.Context()
	all := &nfs3.Sattr3{
		Mode:  nfs3.SetMode3{SetIt: true, Mode: 0o644},
		UID:   nfs3.SetUID3{SetIt: true, UID: 1000},
		GID:   nfs3.SetGID3{SetIt: true, GID: 100},
		Atime: nfs3.SetAtime{SetIt: nfs3.SET_TO_SERVER_TIME},
		Mtime: nfs3.SetMtime{SetIt: nfs3.SET_TO_CLIENT_TIME, Mtime: nfs3.NFSTime3{Seconds: 1e9, Nseconds: 5}},
	}
	made, err := s.Mkdir(ctx, s.root, "dir", &nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: 0o755}})
	if err != nil {
		s.t.Fatal(err)
	}
	dir = made.Resok.Obj.Handle.Data
	s.fails(nfs3.NFS3ERR_EXIST)(s.Mkdir(ctx, s.root, "dir", &nfs3.Sattr3{}))

	how := &nfs3.Createhow3{Mode: nfs3.UNCHECKED, ObjAttributes: *all}
	created, err := s.Create(ctx, dir, "file", how)
	if err != nil {
		s.t.Fatal(err)
	}
	file = created.Resok.Obj.Handle.Data
	how.Mode = nfs3.GUARDED
	s.fails(nfs3.NFS3ERR_EXIST)(s.Create(ctx, dir, "file", how))
	s.ok(s.Create(ctx, dir, "guarded", how))
	how = &nfs3.Createhow3{Mode: nfs3.EXCLUSIVE, Verf: nfs3.Createverf3{1, 2, 3, 4, 5, 6, 7, 8}}
	s.ok(s.Create(ctx, dir, "exclusive", how))
	how.Verf[7]++
	s.fails(nfs3.NFS3ERR_EXIST)(s.Create(ctx, dir, "exclusive", how))

	s.ok(s.Symlink(ctx, dir, "link", "../somewhere", all))
	s.fails(nfs3.NFS3ERR_EXIST)(s.Symlink(ctx, dir, "link", "../somewhere", &nfs3.Sattr3{}))
	special := nfs3.Devicedata3{DevAttributes: *all, Spec: nfs3.Specdata3{Specdata1: 8, Specdata2: 17}}
	for name, what := range map[string]*nfs3.Mknoddata3{
		"block": {Type: nfs3.NF3BLK, Device: special},
		"char":  {Type: nfs3.NF3CHR, Device: special},
		"sock":  {Type: nfs3.NF3SOCK, PipeAttributes: *all},
		"fifo":  {Type: nfs3.NF3FIFO},
	} {
		s.ok(s.Mknod(ctx, dir, name, what))
		s.fails(nfs3.NFS3ERR_EXIST)(s.Mknod(ctx, dir, name, what))
	}
	s.fails(nfs3.NFS3ERR_BADTYPE)(s.Mknod(ctx, dir, "regular", &nfs3.Mknoddata3{Type: nfs3.NF3REG}))

	s.ok(s.Setattr(ctx, file, all, nil))
	all.Size = nfs3.SetSize3{SetIt: true, Size: 5}
	s.fails(nfs3.NFS3ERR_NOT_SYNC)(s.Setattr(ctx, file, all, &nfs3.NFSTime3{Seconds: 1}))
	return dir, file
}

// inspect looks at what is there.
func (s *session) inspect(dir, file []byte) {
	ctx := s.t.Context()
	forged := make([]byte, nfs3.NFS3_FHSIZE)
	s.ok(s.Getattr(ctx, file))
	s.fails(nfs3.NFS3ERR_BADHANDLE)(s.Getattr(ctx, forged))
	s.ok(s.Lookup(ctx, dir, "file"))
	s.ok(s.Lookup(ctx, dir, ".."))
	s.fails(nfs3.NFS3ERR_NOENT)(s.Lookup(ctx, dir, "missing"))
	s.ok(s.Access(ctx, dir, 0x3f))
	s.fails(nfs3.NFS3ERR_BADHANDLE)(s.Access(ctx, forged, 0x3f))
	link, err := s.Lookup(ctx, dir, "link")
	s.ok(nil, err)
	s.ok(s.Readlink(ctx, link.Resok.Object.Data))
	s.fails(nfs3.NFS3ERR_INVAL)(s.Readlink(ctx, file))
	s.ok(s.Fsstat(ctx, s.root))
	s.fails(nfs3.NFS3ERR_BADHANDLE)(s.Fsstat(ctx, forged))
	s.ok(s.Fsinfo(ctx, s.root))
	s.fails(nfs3.NFS3ERR_BADHANDLE)(s.Fsinfo(ctx, forged))
	s.ok(s.Pathconf(ctx, file))
	s.fails(nfs3.NFS3ERR_BADHANDLE)(s.Pathconf(ctx, forged))

	var verf nfs3.Cookieverf3
	for cookie, pages := uint64(0), 1; ; pages++ {
		res, err := s.Readdir(ctx, dir, cookie, verf, 256)
		if s.ok(nil, err); err != nil || res.Resok.Reply.Eof {
			if pages == 1 {
				s.t.Error("READDIR: the listing has one page only")
			}
			break
		}
		verf = res.Resok.Cookieverf
		cookie = res.Resok.Reply.Entries[len(res.Resok.Reply.Entries)-1].Cookie
	}
	s.fails(nfs3.NFS3ERR_NOTDIR)(s.Readdir(ctx, file, 0, nfs3.Cookieverf3{}, 4096))
	s.fails(nfs3.NFS3ERR_TOOSMALL)(s.Readdir(ctx, dir, 0, nfs3.Cookieverf3{}, 8))
	verf = nfs3.Cookieverf3{}
	for cookie, pages := uint64(0), 1; ; pages++ {
		res, err := s.Readdirplus(ctx, dir, cookie, verf, 512, 1024)
		if s.ok(nil, err); err != nil || res.Resok.Reply.Eof {
			if pages == 1 {
				s.t.Error("READDIRPLUS: the listing has one page only")
			}
			break
		}
		verf = res.Resok.Cookieverf
		cookie = res.Resok.Reply.Entries[len(res.Resok.Reply.Entries)-1].Cookie
	}
	s.fails(nfs3.NFS3ERR_NOTDIR)(s.Readdirplus(ctx, file, 0, nfs3.Cookieverf3{}, 4096, 8192))
}

// transfer reads and writes, with all that padding can be and with the longest
// of records.
func (s *session) transfer(dir, file []byte) {
	ctx := s.t.Context()
	data, p := random(s.max), make([]byte, s.max)
	for i, n := range []int{1, 2, 3, 4, 511, 4095, 4097, 47008, s.max} {
		n = min(n, s.max)
		s.ok(s.Write(ctx, file, data[:n], uint64(i), nfs3.StableHow(i%3)))
		s.ok(s.Read(ctx, file, p[:n], uint64(i)))
		if string(p[:n]) != string(data[:n]) {
			s.t.Errorf("%d bytes come back as others", n)
		}
	}
	s.ok(s.Read(ctx, file, p[:4096], uint64(s.max))) // the end lies in it
	s.ok(s.Read(ctx, file, p[:4096], 1<<40))
	s.ok(s.Write(ctx, file, nil, 0, nfs3.UNSTABLE))
	s.ok(s.Commit(ctx, file, 0, 0))
	forged := make([]byte, 28)
	s.fails(nfs3.NFS3ERR_BADHANDLE)(s.Read(ctx, forged, p[:100], 0))
	s.fails(nfs3.NFS3ERR_INVAL)(s.Read(ctx, dir, p[:100], 0))
	s.fails(nfs3.NFS3ERR_BADHANDLE)(s.Write(ctx, forged, data[:5], 0, nfs3.FILE_SYNC))
	s.fails(nfs3.NFS3ERR_BADHANDLE)(s.Commit(ctx, forged, 0, 0))
}

// rename gives things other names, and none.
func (s *session) rename(dir, file []byte) {
	ctx := s.t.Context()
	s.ok(s.Link(ctx, file, s.root, "second"))
	s.fails(nfs3.NFS3ERR_EXIST)(s.Link(ctx, file, dir, "file"))
	s.ok(s.Rename(ctx, dir, "file", s.root, "moved"))
	s.fails(nfs3.NFS3ERR_NOENT)(s.Rename(ctx, dir, "file", s.root, "again"))
	s.ok(s.Remove(ctx, s.root, "second"))
	s.fails(nfs3.NFS3ERR_NOENT)(s.Remove(ctx, s.root, "second"))
	s.fails(nfs3.NFS3ERR_NOTEMPTY)(s.Rmdir(ctx, s.root, "dir"))
	s.ok(s.Mkdir(ctx, dir, "empty", &nfs3.Sattr3{}))
	s.ok(s.Rmdir(ctx, dir, "empty"))
}

// refuse makes calls that come to no procedure.
func (s *session) refuse() {
	ctx := s.t.Context()
	call := func(prog, vers, proc uint32) error { return s.rpc.Call(ctx, prog, vers, proc, nil, nil, nil) }
	s.fails(rpc.ErrProgUnavail)(nil, call(nfsACL, 3, 0))
	s.fails(rpc.ErrProgMismatch)(nil, call(nfs3.NFS_PROGRAM, 4, 0))
	s.fails(rpc.ErrProgMismatch)(nil, call(nfs3.MOUNT_PROGRAM, 4, 0))
	s.fails(rpc.ErrProcUnavail)(nil, call(nfs3.NFS_PROGRAM, nfs3.NFS_V3, 22))
	long := nfs3.Dirpath(make([]byte, nfs3.MNTPATHLEN+1))
	s.fails(rpc.ErrGarbageArgs)(nil, s.rpc.Call(ctx, nfs3.MOUNT_PROGRAM, nfs3.MOUNT_V3, nfs3.MOUNTPROC3_MNT, nil, &long, nil))

	// A client of package rpc makes no such calls.
	for what, m := range map[string]struct{ vers, flavor uint32 }{
		"another RPC":     {3, rpc.AUTH_NONE},
		"another flavour": {2, rpc.AUTH_DH},
	} {
		var b []byte
		for _, v := range []uint32{7, 0, m.vers, nfs3.NFS_PROGRAM, nfs3.NFS_V3, nfs3.NFSPROC3_GETATTR, m.flavor, 0, rpc.AUTH_NONE, 0} {
			b = xdr.AppendUint32(b, v)
		}
		b = xdr.AppendOpaque(b, s.root)
		if reply := s.exchange(b); len(reply) < 12 || binary.BigEndian.Uint32(reply[8:]) != 1 {
			s.t.Errorf("%s is not denied: %x", what, reply)
		}
	}
}

// exchange sends one message over a connection of its own and returns the reply.
func (s *session) exchange(message []byte) []byte {
	conn := s.dial()
	defer conn.Close()
	if s.max == nfs3.MaxDatagramTransfer {
		if _, err := conn.Write(message); err != nil {
			s.t.Fatal(err)
		}
		reply := make([]byte, 1024)
		n, err := conn.Read(reply)
		if err != nil {
			s.t.Fatal(err)
		}
		return reply[:n]
	}
	const last = 1 << 31 // fragment
	if _, err := conn.Write(append(xdr.AppendUint32(nil, last|uint32(len(message))), message...)); err != nil {
		s.t.Fatal(err)
	}
	var mark [4]byte
	if _, err := io.ReadFull(conn, mark[:]); err != nil {
		s.t.Fatal(err)
	}
	reply := make([]byte, binary.BigEndian.Uint32(mark[:])&^last)
	if _, err := io.ReadFull(conn, reply); err != nil {
		s.t.Fatal(err)
	}
	return reply
}
