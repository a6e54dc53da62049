package hostile

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"testing"

	eddy "eddy.example"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs/vfstest"
)

// once is a call that does not come to the same if it runs twice.
type once struct {
	name    string
	method  vfstest.Method
	proc    uint32
	args    rpc.Appender
	another string // what it is answered when it runs a second time
}

// onces is a call of each procedure that is not idempotent. n tells them apart.
func onces(h handles, n int) []once {
	name := func(s string) nfs3.Diropargs3 { return at(h.dir, fmt.Sprint(s, n)) }
	pipe := nfs3.Mknoddata3{Type: nfs3.NF3FIFO}
	guarded := nfs3.Createhow3{Mode: nfs3.GUARDED}
	exclusive := nfs3.Createhow3{Mode: nfs3.EXCLUSIVE, Verf: nfs3.Createverf3{byte(n)}}
	link := nfs3.Symlinkdata3{SymlinkData: nfs3.NFSPath3("text")}
	return []once{
		{"CREATE", vfstest.Create, nfs3.NFSPROC3_CREATE, &nfs3.CREATE3args{Where: name("guarded"), How: guarded}, "NFS3ERR_EXIST"},
		{"CREATE EXCLUSIVE", vfstest.Create, nfs3.NFSPROC3_CREATE, &nfs3.CREATE3args{Where: name("exclusive"), How: exclusive}, "NFS3_OK"},
		{"MKDIR", vfstest.Mkdir, nfs3.NFSPROC3_MKDIR, &nfs3.MKDIR3args{Where: name("dir")}, "NFS3ERR_EXIST"},
		{"SYMLINK", vfstest.Symlink, nfs3.NFSPROC3_SYMLINK, &nfs3.SYMLINK3args{Where: name("symlink"), Symlink: link}, "NFS3ERR_EXIST"},
		{"MKNOD", vfstest.Mknod, nfs3.NFSPROC3_MKNOD, &nfs3.MKNOD3args{Where: name("fifo"), What: pipe}, "NFS3ERR_EXIST"},
		{"LINK", vfstest.Link, nfs3.NFSPROC3_LINK, &nfs3.LINK3args{File: h.file, Link: name("link")}, "NFS3ERR_EXIST"},
		{"RENAME", vfstest.Rename, nfs3.NFSPROC3_RENAME, &nfs3.RENAME3args{From: name("link"), To: name("renamed")}, "NFS3ERR_NOENT"},
		{"REMOVE", vfstest.Remove, nfs3.NFSPROC3_REMOVE, &nfs3.REMOVE3args{Object: name("guarded")}, "NFS3ERR_NOENT"},
		{"RMDIR", vfstest.Rmdir, nfs3.NFSPROC3_RMDIR, &nfs3.RMDIR3args{Object: name("dir")}, "NFS3ERR_NOENT"},
		{"SETATTR guarded", vfstest.Setattr, nfs3.NFSPROC3_SETATTR, nil, "NFS3ERR_NOT_SYNC"},
	}
}

// by is the call with this XID by somebody.
func (o once) by(xid uint32, cred *rpc.Cred) []byte {
	return callMessage(xid, nfs3.NFS_PROGRAM, nfs3.NFS_V3, o.proc, cred, o.args)
}

// guard completes a SETATTR, which is to run once, with the ctime of the file.
func (o *once) guard(w *world, h handles) {
	if o.args != nil {
		return
	}
	c := w.client("pipe")
	defer c.Close()
	a := must(c.Getattr(ctx, h.file.Data)).Resok.ObjAttributes
	o.args = &nfs3.SETATTR3args{
		Object:        h.file,
		NewAttributes: nfs3.Sattr3{Mtime: nfs3.SetMtime{SetIt: nfs3.SET_TO_SERVER_TIME}},
		Guard:         nfs3.Sattrguard3{Check: true, ObjCtime: a.Ctime},
	}
}

// TestReplay sends calls, loses the connection when they have been executed, and sends them again
// from other ports: the answer is the first one, byte for byte.
func TestReplay(t *testing.T) {
	for name, as := range backends {
		for _, first := range []string{"tcp", "udp", "unix"} {
			t.Run(name+" over "+first, func(t *testing.T) {
				w, h, f := stoppableAs(t, new(eddy.Server), as)
				again := []string{first}
				if first != "unix" {
					again = []string{first, "tcp", "udp"}
				}
				var xid uint32
				for _, o := range onces(h, 0) {
					o.guard(w, h)
					xid++
					ran := f.Calls(o.method)
					message := o.by(xid, &root)

					// Somebody reads the first answer, so that it can be compared, but from a socket
					// whose connection is cut right then.
					p := w.peer(first)
					p.send(message)
					answer := p.receive()
					if got := outcome(answer); got != "NFS3_OK" {
						t.Fatalf("%s: %s", o.name, got)
					}
					if c, ok := p.Conn.(*net.TCPConn); ok {
						c.SetLinger(0)
					}
					p.Close()
					for range 3 {
						for _, transport := range again {
							p := w.peer(transport)
							p.send(message)
							if got := p.receive(); !bytes.Equal(got, answer) {
								t.Errorf("%s again over %s: %x (%s), first %x", o.name, transport, got, outcome(got), answer)
							}
							p.Close()
						}
					}
					if n := f.Calls(o.method) - ran; n != 1 {
						t.Errorf("%s ran %d times", o.name, n)
					}
					w.others(o, h, xid, first, answer, f)
				}
			})
		}
	}
}

// others has others than root send the same call. They are not answered with root's reply.
func (w *world) others(o once, h handles, xid uint32, transport string, answer []byte, f *vfstest.FaultFS) {
	w.t.Helper()
	otherUser, otherMachine, otherGroups, otherGroup := root, root, root, root
	otherUser.UID = 1000
	otherMachine.Machine = []byte("somebody else")
	otherGroups.GIDs = []uint32{5}
	otherGroup.GID = 7
	for name, cred := range map[string]*rpc.Cred{
		"another user": &otherUser, "another machine": &otherMachine, "other groups": &otherGroups, "another group": &otherGroup, "nobody": nil,
	} {
		ran := f.Calls(o.method)
		p := w.peer(transport)
		p.send(o.by(xid, cred))
		got := p.receive()
		if n := f.Calls(o.method) - ran; n != 1 {
			w.t.Errorf("%s by %s ran %d times", o.name, name, n)
		}
		if bytes.Equal(got, answer) && o.another != "NFS3_OK" {
			w.t.Errorf("%s by %s is answered with root's reply", o.name, name)
		}
		p.Close()
	}
	if transport == "unix" {
		return
	}
	// Another client address.
	ran := f.Calls(o.method)
	var local net.Addr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}
	if transport == "udp" {
		local = &net.UDPAddr{IP: net.IPv4(127, 0, 0, 2)}
	}
	p := newPeer(w.t, w.dialFrom(transport, local))
	defer p.Close()
	p.send(o.by(xid, &root))
	if got := outcome(p.receive()); got != o.another {
		w.t.Errorf("%s from another address: %s, want %s", o.name, got, o.another)
	}
	if n := f.Calls(o.method) - ran; n != 1 {
		w.t.Errorf("%s from another address ran %d times", o.name, n)
	}
}

// TestReplayUnheard cuts the connection while the call is running.
func TestReplayUnheard(t *testing.T) {
	w, h, f := stoppable(t, new(eddy.Server))
	for n, transport := range []string{"tcp", "unix"} {
		for i, o := range onces(h, n) {
			o.guard(w, h)
			xid := uint32(100*n + i)
			ran := f.Calls(o.method)
			message := o.by(xid, &root)

			stop := w.stop(f, o.method)
			p := w.peer(transport)
			p.send(message)
			w.entered(stop, 1)
			p.Close()
			again := w.peer(transport)
			again.send(message)
			again.send(callMessage(probe, nfs3.NFS_PROGRAM, nfs3.NFS_V3, 0, nil, nil))
			if got := outcome(again.receive()); got != "void" {
				t.Errorf("%s: a duplicate of a running call is answered %s", o.name, got)
			}
			stop.Release()
			if got := outcome(again.receive()); got != "NFS3_OK" {
				t.Errorf("%s: a duplicate of a call whose connection was cut: %s", o.name, got)
			}
			if n := f.Calls(o.method) - ran; n != 1 {
				t.Errorf("%s ran %d times", o.name, n)
			}
			again.Close()
		}
	}
	w.idle()
}

// TestDuplicates sends a call several times while it is running, over several ways. It runs once, each
// way has one answer, and all are the same.
func TestDuplicates(t *testing.T) {
	for name, as := range backends {
		t.Run(name, func(t *testing.T) {
			w, h, f := stoppableAs(t, new(eddy.Server), as)
			for i, o := range onces(h, 0) {
				o.guard(w, h)
				xid := uint32(i)
				ran := f.Calls(o.method)
				message := o.by(xid, &root)
				stop := w.stop(f, o.method)

				gone := w.peer("tcp")
				gone.send(message)
				w.entered(stop, 1)
				var peers []*peer
				for _, transport := range []string{"tcp", "udp", "tcp", "udp"} {
					p := w.peer(transport)
					for range 3 {
						p.send(message)
					}
					// NULL is answered when what was before it has been looked at.
					p.send(callMessage(probe, nfs3.NFS_PROGRAM, nfs3.NFS_V3, 0, nil, nil))
					if got := outcome(p.receive()); got != "void" {
						t.Errorf("%s: NULL behind a duplicate of a running call: %s", o.name, got)
					}
					peers = append(peers, p)
				}
				gone.Close()
				stop.Release()

				var first []byte
				for _, p := range peers {
					answer := p.receive()
					if first == nil {
						first = answer
					}
					if got := outcome(answer); got != "NFS3_OK" || !bytes.Equal(answer, first) {
						t.Errorf("%s: %s, %x and %x", o.name, got, answer, first)
					}
					// No second one.
					p.send(callMessage(probe, nfs3.NFS_PROGRAM, nfs3.NFS_V3, 0, nil, nil))
					if got := outcome(p.receive()); got != "void" {
						t.Errorf("%s: a second answer: %s", o.name, got)
					}
					p.Close()
				}
				if n := f.Calls(o.method) - ran; n != 1 {
					t.Errorf("%s ran %d times", o.name, n)
				}
			}
			w.idle()
		})
	}
}

// TestRefusalsAreNotKept has a client that the export does not admit, and one that makes up handles,
// send so many calls that they would fill the reply cache many times. Another client's replies stay.
func TestRefusalsAreNotKept(t *testing.T) {
	fs := newMem()
	plant(t, fs)
	exports := open(fs)
	exports[0].Networks = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	w := start(t, &eddy.Server{Exports: exports})
	h := w.visit()
	remove := nfsCall(1, nfs3.NFSPROC3_REMOVE, &nfs3.REMOVE3args{Object: at(h.dir, "file")})
	p := w.peer("tcp")
	defer p.Close()
	p.expect("the first time", remove, "NFS3_OK")

	stranger := newPeer(t, w.dialFrom("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}))
	defer stranger.Close()
	forger := w.peer("tcp")
	defer forger.Close()
	made := h.dir
	made.Data = bytes.Clone(made.Data)
	made.Data[8] ^= 1
	for xid := range uint32(2000 * repeat) {
		message := nfsCall(xid, nfs3.NFSPROC3_REMOVE, &nfs3.REMOVE3args{Object: at(h.dir, "file")})
		stranger.send(message)
		if got := outcome(stranger.receive()); got != "NFS3ERR_ACCES" {
			t.Fatal(got)
		}
		message = nfsCall(xid, nfs3.NFSPROC3_REMOVE, &nfs3.REMOVE3args{Object: at(made, "file")})
		forger.send(message)
		if got := outcome(forger.receive()); got != "NFS3ERR_BADHANDLE" {
			t.Fatal(got)
		}
	}
	p.expect("again", remove, "NFS3_OK")
}

// TestReplayIsOfTheSameCall uses an XID again for calls that differ in anything else.
func TestReplayIsOfTheSameCall(t *testing.T) {
	w, h, f := stoppable(t, new(eddy.Server))
	p := w.peer("tcp")
	defer p.Close()
	const xid = 7
	for i := range 10 {
		args := &nfs3.MKDIR3args{Where: at(h.dir, fmt.Sprint(i))}
		p.expect("MKDIR", nfsCall(xid, nfs3.NFSPROC3_MKDIR, args), "NFS3_OK")
	}
	for i := range 10 {
		args := &nfs3.RMDIR3args{Object: at(h.dir, fmt.Sprint(i))}
		p.expect("RMDIR", nfsCall(xid, nfs3.NFSPROC3_RMDIR, args), "NFS3_OK")
		p.expect("REMOVE", nfsCall(xid, nfs3.NFSPROC3_REMOVE, &nfs3.REMOVE3args{Object: at(h.dir, fmt.Sprint(i))}), "NFS3ERR_NOENT")
	}
	if n := f.Calls(vfstest.Mkdir); n != 10 {
		t.Errorf("MKDIR ran %d times", n)
	}
}
