package nfs3

import (
	"encoding/binary"
	"io"
	"net"
	"testing"

	"eddy.example/rpc"
	"eddy.example/rpc/xdr"
	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
	"eddy.example/xprt"
)

// ended is an rpc.Observer that tells of the end of calls.
type ended chan rpc.Header

func (ended) Begin(*rpc.Call) int64 { return 0 }

func (e ended) End(h *rpc.Call, _ int64, _ rpc.Status) {
	if h.Prog == NFS_PROGRAM && procedures[h.Proc].Cached {
		e <- h.Header
	}
}

// TestReplay loses the connection when a call has been executed, and sends the
// same call from another port: it is answered as the first time, and not
// executed again. The same call by somebody else is another call.
func TestReplay(t *testing.T) {
	mem := memfs.New(memfs.Config{RootMode: 0o777})
	fs := vfstest.NewFaultFS(mem)
	ends := make(ended, 1)
	w := serveWith(t, &rpc.Server{Observer: ends}, xprt.Config{Workers: 2}, memExport(fs.Waiter()))
	addr := w.listen()
	dir, err := mem.Resolve(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	fh := NFSFh3{w.table.AppendHandle(nil, w.table.Entries()[0], dir)}
	for _, name := range []string{"remove", "rename", "link"} {
		if err := mem.WriteFile("/"+name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file, err := mem.Lookup(&vfs.Call{}, dir, "link", nil)
	if err != nil {
		t.Fatal(err)
	}
	fileFh := NFSFh3{w.table.AppendHandle(nil, w.table.Entries()[0], file)}

	for i, tt := range []struct {
		proc   uint32
		method vfstest.Method
		args   rpc.Appender
		others NFSStat3 // what somebody else is answered
	}{
		{NFSPROC3_REMOVE, vfstest.Remove, &REMOVE3args{Diropargs3{fh, Filename3("remove")}}, NFS3ERR_NOENT},
		{NFSPROC3_RENAME, vfstest.Rename, &RENAME3args{Diropargs3{fh, Filename3("rename")}, Diropargs3{fh, Filename3("renamed")}}, NFS3ERR_NOENT},
		{NFSPROC3_MKDIR, vfstest.Mkdir, &MKDIR3args{Where: Diropargs3{fh, Filename3("mkdir")}}, NFS3ERR_EXIST},
		{NFSPROC3_LINK, vfstest.Link, &LINK3args{fileFh, Diropargs3{fh, Filename3("linked")}}, NFS3ERR_EXIST},
		{NFSPROC3_CREATE, vfstest.Create, &CREATE3args{Diropargs3{fh, Filename3("create")}, Createhow3{Mode: EXCLUSIVE, Verf: Createverf3{1}}}, NFS3_OK},
	} {
		name := NFSV3ProcName(tt.proc)
		message := appendCall(nil, 1000+uint32(i), tt.proc, &user, tt.args)

		first := dialRaw(t, addr)
		first.send(message)
		<-ends // executed; nobody reads the reply
		first.Close()

		again := dialRaw(t, addr)
		again.send(message)
		status := again.status()
		<-ends
		if status != NFS3_OK || fs.Calls(tt.method) != 1 {
			t.Errorf("%s: %v, executed %d times", name, status, fs.Calls(tt.method))
		}
		again.send(appendCall(nil, 1000+uint32(i), tt.proc, &root, tt.args))
		status = again.status()
		<-ends
		if status != tt.others || fs.Calls(tt.method) != 2 {
			t.Errorf("%s by somebody else: %v, executed %d times", name, status, fs.Calls(tt.method))
		}
		again.Close()
	}
}

// appendCall appends a call as it lies in a record.
func appendCall(b []byte, xid, proc uint32, cred *rpc.Cred, args rpc.Appender) []byte {
	b = xdr.AppendUint32(b, xid)
	b = xdr.AppendUint32(b, 0)
	for _, v := range []uint32{rpc.Version, NFS_PROGRAM, NFS_V3, proc, rpc.AUTH_SYS} {
		b = xdr.AppendUint32(b, v)
	}
	p := rpc.AuthsysParms{Machinename: cred.Machine, UID: cred.UID, GID: cred.GID, GIDs: cred.GIDs}
	b = xdr.AppendOpaque(b, p.AppendXDR(nil))
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	return args.AppendXDR(b)
}

// rawConn is a connection without a client on it.
type rawConn struct {
	net.Conn
	t testing.TB
}

func dialRaw(t testing.TB, addr net.Addr) rawConn {
	t.Helper()
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	return rawConn{c, t}
}

func (c rawConn) send(message []byte) {
	c.t.Helper()
	b := binary.BigEndian.AppendUint32(nil, 1<<31|uint32(len(message)))
	if _, err := c.Write(append(b, message...)); err != nil {
		c.t.Fatal(err)
	}
}

// receive returns the next reply.
func (c rawConn) receive() []byte {
	c.t.Helper()
	mark := make([]byte, 4)
	if _, err := io.ReadFull(c, mark); err != nil {
		c.t.Fatal(err)
	}
	b := make([]byte, binary.BigEndian.Uint32(mark)&^(1<<31))
	if _, err := io.ReadFull(c, b); err != nil {
		c.t.Fatal(err)
	}
	return b
}

// status returns the status of the next reply.
func (c rawConn) status() NFSStat3 {
	c.t.Helper()
	const results = 24
	b := c.receive()
	if len(b) < results+4 {
		c.t.Fatalf("a reply of %d bytes", len(b))
	}
	return NFSStat3(binary.BigEndian.Uint32(b[results:]))
}
