package hostile

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	eddy "eddy.example"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/vfstest"
	"eddy.example/xprt"
)

// leave ends a connection in one of the ways there are.
func (p *peer) leave(r *rand.Rand) {
	switch r.IntN(3) {
	case 0:
		if c, ok := p.Conn.(*net.TCPConn); ok {
			c.SetLinger(0)
		}
	case 1:
		if c, ok := p.Conn.(interface{ CloseWrite() error }); ok {
			c.CloseWrite()
			// What it still gets it reads, or the beginning of it.
			io.CopyN(io.Discard, p, r.Int64N(1<<17))
		}
	}
	p.Close()
}

// TestChurn has peers come, call, and go at any point: in the middle of what they send, of what
// they receive, and of a call in the backend, which fails at random as well. Somebody with another file
// system sees nothing of it.
func TestChurn(t *testing.T) {
	for _, zero := range []xprt.ZeroCopy{xprt.ZeroCopyNever, xprt.ZeroCopyAlways} {
		for name, as := range backends {
			t.Run(fmt.Sprint(name, ", zero copy ", zero), func(t *testing.T) {
				fs, other := newMem(), newMem()
				plant(t, fs)
				plant(t, other)
				f := vfstest.NewFaultFS(fs)
				exports := append(open(as(f)), eddy.Export{Path: "/other", FS: other, Squash: squashNone, InsecurePorts: true})
				w := start(t, &eddy.Server{Exports: exports, ZeroCopy: zero})
				h := w.visit()
				big := w.bigOf("/")
				calls := append(h.calls(),
					call{nfs3.NFS_PROGRAM, 3, nfs3.NFSPROC3_READ, &nfs3.READ3args{File: big, Count: 1 << 20}},
					call{nfs3.NFS_PROGRAM, 3, nfs3.NFSPROC3_READ, &nfs3.READ3args{File: big, Offset: 1 << 20, Count: 100_000}},
					call{nfs3.NFS_PROGRAM, 3, nfs3.NFSPROC3_WRITE, &nfs3.WRITE3args{File: big, Count: 1 << 20, Data: make([]byte, 1<<20)}})

				var wg sync.WaitGroup
				const clients, rounds = 8, 10 * repeat
				for id := range uint64(clients) {
					wg.Go(func() { w.churn(f, calls, rand.New(rand.NewPCG(id, 2)), rounds) })
				}
				calm := w.client("tcp")
				top := must(calm.Mount(ctx, "/other"))
				file := w.bigOf("/other")
				wg.Go(func() {
					buf := make([]byte, 1<<20)
					for range 50 {
						must(calm.Getattr(ctx, top))
						if n := must(calm.Read(ctx, file.Data, buf, 0)).Resok.Count; n != 1<<20 {
							t.Errorf("read %d bytes", n)
						}
					}
				})
				wg.Wait()
				calm.Close()
				w.idle()
			})
		}
	}
}

// bigOf is the file of 2 MiB of an export.
func (w *world) bigOf(export string) nfs3.NFSFh3 {
	c := w.client("pipe")
	defer c.Close()
	return must(c.Lookup(ctx, must(c.Mount(ctx, export)), "big")).Resok.Object
}

func (w *world) churn(f *vfstest.FaultFS, calls []call, r *rand.Rand, rounds int) {
	for range rounds {
		transport := transports[r.IntN(len(transports))]
		p := w.peer(transport)
		for range r.IntN(12) {
			c := calls[r.IntN(len(calls))]
			message := c.message(r.Uint32())
			if p.datagram && len(message) > 60<<10 {
				continue
			}
			if r.IntN(3) == 0 {
				f.Fail(methods[r.IntN(len(methods))], 1+r.IntN(5), faults[r.IntN(len(faults))].err)
			}
			switch r.IntN(6) {
			case 0:
				if !p.datagram {
					b := record(message)
					p.put(b[:r.IntN(len(b))])
				}
				p.leave(r)
				p = w.peer(transport)
			case 1:
				p.send(message)
				p.leave(r)
				p = w.peer(transport)
			case 2:
				if p.datagram {
					break
				}
				p.send(message)
				io.ReadFull(p, make([]byte, 1+r.IntN(28))) // no reply is shorter
				p.leave(r)
				p = w.peer(transport)
			default:
				p.send(message)
			}
		}
		p.leave(r)
	}
}

// panicky is a backend some methods of which panic, one of them with a call half done.
type panicky struct{ *vfstest.FaultFS }

func (panicky) Readlink(*vfs.Call, vfs.Object) (string, error) { panic("readlink") }

func (panicky) Read(_ *vfs.Call, _ vfs.Object, p []byte, _ uint64) (int, bool, error) {
	return 0, false, fmt.Errorf("%d", p[:1<<30][0]) // beyond any page
}

func (panicky) Commit(*vfs.Call, vfs.Object, uint64, uint64, *vfs.Change) (vfs.Verifier, error) {
	panic(vfs.ErrWouldBlock)
}

func (p panicky) Create(c *vfs.Call, dir vfs.Object, name string, how vfs.CreateMode, verf [8]byte, s *vfs.SetAttr, attr *vfs.Attr, chg *vfs.Change) (vfs.Object, error) {
	p.FaultFS.Create(c, dir, name, how, verf, s, attr, chg)
	panic("after it was created")
}

func (p panicky) ReadDir(c *vfs.Call, dir vfs.Object, after vfs.Cookie, want vfs.AttrMask, fill func(*vfs.DirEntry) bool) (bool, error) {
	fill(&vfs.DirEntry{Name: "x", Cookie: 3, FileID: 4711})
	panic("in a listing")
}

type panickyWaiter struct{ panicky }

func (panickyWaiter) HonoursMayWait() {}

// TestPanics has the backend panic. The call is answered SYSTEM_ERR, and what runs only once has run:
// its duplicates are answered the same.
func TestPanics(t *testing.T) {
	for name, as := range map[string]func(*vfstest.FaultFS) vfs.FS{
		"on the event loop": func(f *vfstest.FaultFS) vfs.FS { return panickyWaiter{panicky{f}} },
		"elsewhere":         func(f *vfstest.FaultFS) vfs.FS { return panicky{f} },
	} {
		t.Run(name, func(t *testing.T) {
			w, h, f := stoppableAs(t, new(eddy.Server), as)
			panics := 0
			for _, transport := range transports {
				p := w.peer(transport)
				for i, tt := range []struct {
					proc uint32
					args rpc.Appender
				}{
					{nfs3.NFSPROC3_READLINK, &nfs3.READLINK3args{Symlink: h.link}},
					{nfs3.NFSPROC3_READ, &nfs3.READ3args{File: h.file, Count: 1000}},
					{nfs3.NFSPROC3_READ, &nfs3.READ3args{File: h.file, Count: 1 << 20}},
					{nfs3.NFSPROC3_COMMIT, &nfs3.COMMIT3args{File: h.file}},
					{nfs3.NFSPROC3_READDIR, &nfs3.READDIR3args{Dir: h.dir, Count: 4096}},
					{nfs3.NFSPROC3_READDIRPLUS, &nfs3.READDIRPLUS3args{Dir: h.dir, Maxcount: 4096}},
				} {
					p.send(nfsCall(uint32(i), tt.proc, tt.args))
					if got := outcome(p.receive()); got != "SYSTEM_ERR" {
						t.Errorf("%s over %s: %s", nfs3.NFSV3ProcName(tt.proc), transport, got)
					}
					panics++
				}
				where := at(h.dir, transport)
				create := nfsCall(1000, nfs3.NFSPROC3_CREATE, &nfs3.CREATE3args{Where: where, How: nfs3.Createhow3{Mode: nfs3.GUARDED}})
				ran := f.Calls(vfstest.Create)
				for range 3 {
					p.send(create)
					if got := outcome(p.receive()); got != "SYSTEM_ERR" {
						t.Errorf("CREATE over %s: %s", transport, got)
					}
				}
				panics++
				if n := f.Calls(vfstest.Create) - ran; n != 1 {
					t.Errorf("CREATE over %s ran %d times", transport, n)
				}
				p.send(getattr(1, h.file.Data))
				if got := outcome(p.receive()); got != "NFS3_OK" {
					t.Errorf("GETATTR over %s: %s", transport, got)
				}
				p.Close()
			}
			w.alive()
			w.idle()
			if n := len(w.errors.TakeAll()); n != panics {
				t.Errorf("%d errors logged for %d panics", n, panics)
			}
		})
	}
}
