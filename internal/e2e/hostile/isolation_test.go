package hostile

import (
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/vfstest"
)

// backends are a FaultFS that says when it would wait, and one that does not say.
var backends = map[string]func(*vfstest.FaultFS) vfs.FS{
	"waits and says so": func(f *vfstest.FaultFS) vfs.FS { return f.Waiter() },
	"does not say":      func(f *vfstest.FaultFS) vfs.FS { return f },
}

// TestStoppedBackend stops a method of the backend. Whoever does not need it is served: on the
// connection of a call that is stopped, and on one beside 64 with 256 such calls.
func TestStoppedBackend(t *testing.T) {
	stoppers := []struct {
		method vfstest.Method
		call   func(xid uint32, h handles) []byte
	}{
		{vfstest.Write, func(xid uint32, h handles) []byte {
			return nfsCall(xid, nfs3.NFSPROC3_WRITE, &nfs3.WRITE3args{File: h.file, Count: 4, Data: []byte("1234")})
		}},
		{vfstest.Setattr, setattr},
		{vfstest.ReadDir, func(xid uint32, h handles) []byte {
			return nfsCall(xid, nfs3.NFSPROC3_READDIR, &nfs3.READDIR3args{Dir: h.dir, Count: 4096})
		}},
		{vfstest.Read, func(xid uint32, h handles) []byte {
			return nfsCall(xid, nfs3.NFSPROC3_READ, &nfs3.READ3args{File: h.file, Count: 4096})
		}},
	}
	for name, as := range backends {
		for _, tt := range stoppers {
			for _, transport := range transports {
				if transport != "tcp" && tt.method != vfstest.Read {
					continue
				}
				t.Run(name+" "+string(tt.method)+" over "+transport, func(t *testing.T) {
					w, h, f := stoppableAs(t, new(eddy.Server), as)
					stop := w.stop(f, tt.method)
					p := w.peer(transport)
					defer p.Close()
					const slow = 1e6
					p.send(tt.call(slow, h))
					w.entered(stop, 1)
					for xid := range uint32(1000) {
						message := getattr(xid, h.file.Data)
						p.send(message)
						reply := p.receive()
						if err := wellFormed(message, reply); err != nil || outcome(reply) != "NFS3_OK" {
							t.Fatalf("call %d beside a stopped one: %s, %v", xid, outcome(reply), err)
						}
					}

					calls := 4
					if transport == "udp" {
						calls = 2 // all datagrams together are one client to the waiting goroutines
					}
					var peers []*peer
					for i := range 64 {
						p := w.peer(transport)
						defer p.Close()
						for j := range calls {
							// One after the other, so that no datagram is lost.
							p.send(tt.call(uint32(slow+1+4*i+j), h))
							w.entered(stop, 1)
						}
						peers = append(peers, p)
					}
					last := w.client(transport)
					w.served(last, 1000)
					last.Close()

					stop.Release()
					for _, p := range peers {
						for range calls {
							if got := outcome(p.receive()); got != "NFS3_OK" {
								t.Errorf("a call that was stopped: %s", got)
							}
						}
						p.Close()
					}
					if got := outcome(p.receive()); got != "NFS3_OK" {
						t.Errorf("the first call that was stopped: %s", got)
					}
					p.Close()
					w.idle()
				})
			}
		}
	}
}

// TestStoppedReads stops READs of 1 MiB, more of them than a worker has pages for, and finds
// those of another file system answered.
func TestStoppedReads(t *testing.T) {
	for name, as := range backends {
		t.Run(name, func(t *testing.T) {
			fs, other := newMem(), newMem()
			plant(t, fs)
			plant(t, other)
			f := vfstest.NewFaultFS(fs)
			exports := append(open(as(f)), eddy.Export{Path: "/other", FS: other, Squash: squashNone, InsecurePorts: true})
			w := start(t, &eddy.Server{Exports: exports, Clock: new(serve.Clock), IdleTimeout: -1})
			others := w.client("tcp")
			defer others.Close()
			big := w.big(others)
			otherBig := must(others.Lookup(ctx, must(others.Mount(ctx, "/other")), "big")).Resok.Object

			stop := w.stop(f, vfstest.Read)
			var peers []*peer
			for i := range 16 {
				p := w.peer("tcp")
				p.send(readBig(uint32(i), big))
				peers = append(peers, p)
			}
			w.until("all calls", func() bool { return w.s.Stats().Transport.Calls == 16 })
			passed := w.readsMeanwhile(others, otherBig, 100, 9*time.Minute)
			t.Logf("100 READs took %v", passed)
			stop.Release()
			for _, p := range peers {
				if got := outcome(p.receive()); got != "NFS3_OK" {
					t.Errorf("a READ that was stopped: %s", got)
				}
				p.Close()
			}
			others.Close()
			w.idle()
		})
	}
}

// TestStoppedForGone has the clients of stopped calls go away: what changes nothing ends with its
// connection, and the backend has the goroutines back for others.
func TestStoppedForGone(t *testing.T) {
	for name, as := range backends {
		t.Run(name, func(t *testing.T) {
			w, h, f := stoppableAs(t, new(eddy.Server), as)
			stop := w.stop(f, vfstest.Read)
			for range 5 {
				// As many as there are goroutines.
				var peers []*peer
				for i := range 64 {
					p := w.peer("tcp")
					for j := range 16 {
						p.send(nfsCall(uint32(i*16+j), nfs3.NFSPROC3_READ, &nfs3.READ3args{File: h.file, Count: 10}))
					}
					peers = append(peers, p)
				}
				w.entered(stop, 64*8)
				for _, p := range peers {
					p.Close()
				}
				w.idle()
			}
			w.alive()
		})
	}
}

// TestStoppedCallsOfOneUser stops so many calls that all goroutines for them are taken as far
// as one connection may take them. A second connection's calls, which have to go there too, get on.
func TestStoppedCallsOfOneUser(t *testing.T) {
	w, h, f := stoppableAs(t, new(eddy.Server), backends["does not say"])
	stop := w.stop(f, vfstest.Read)
	p := w.peer("tcp")
	defer p.Close()
	const calls = 1000
	for xid := range uint32(calls) {
		p.send(nfsCall(xid, nfs3.NFSPROC3_READ, &nfs3.READ3args{File: h.file, Count: 10}))
	}
	w.until("all calls", func() bool { return w.s.Stats().Transport.Calls >= calls })
	w.entered(stop, 1)
	for _, transport := range transports {
		c := nfs3.NewClient(rpc.NewClient(w.dial(transport), rpc.ClientConfig{}), &root)
		w.served(c, 1000)
		c.Close()
	}
	stop.Release()
	for i := range calls {
		if got := outcome(p.receive()); got != "NFS3_OK" {
			t.Fatalf("reply %d: %s", i, got)
		}
	}
}
