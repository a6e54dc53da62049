package hostile

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/nfs3"
	"eddy.example/vfs/vfstest"
)

func TestXOneConn(t *testing.T) {
	for _, n := range []int{50, 60, 70, 200} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			fs, other := newMem(), newMem()
			plant(t, fs)
			plant(t, other)
			f := vfstest.NewFaultFS(fs)
			exports := append(open(f), eddy.Export{Path: "/other", FS: other, Squash: squashNone, InsecurePorts: true})
			w := start(t, &eddy.Server{Exports: exports, Clock: new(serve.Clock), IdleTimeout: -1, Workers: 1})
			others := w.client("tcp")
			defer others.Close()
			big := w.big(others)
			otherBig := w.bigOf("/other")
			stop := w.stop(f, vfstest.Read)
			p := w.peer("tcp")
			for i := range n {
				p.send(readBig(uint32(i), big))
			}
			w.until("all calls", func() bool { return w.s.Stats().Transport.Calls == int64(n) })
			passed := w.readsMeanwhile(others, otherBig, 10, time.Minute)
			t.Logf("10 READs took %v", passed)
			stop.Release()
		})
	}
}

func TestXWrites(t *testing.T) {
	clock := new(serve.Clock)
	w, h, _ := serveTree(t, &eddy.Server{Clock: clock})
	others := w.client("tcp")
	defer others.Close()
	var peers []*peer
	for range 100 {
		p := w.peer("tcp")
		p.put(h.announce())
		peers = append(peers, p)
	}
	w.until("x", func() bool { return w.s.Stats().Transport.ReceiveAdmitted > 28<<20 })
	done := make(chan struct{})
	go func() {
		defer close(done)
		must(others.Write(ctx, h.file.Data, make([]byte, 1<<20), 0, nfs3.UNSTABLE))
	}()
	passed := time.Duration(0)
	for {
		select {
		case <-done:
			t.Logf("a WRITE of 1 MiB took %v", passed)
			return
		case <-time.After(5 * time.Millisecond):
			clock.Advance(tick)
			passed += tick
			if passed > 10*time.Minute {
				t.Fatal("never")
			}
		}
	}
}

func TestXPollution(t *testing.T) {
	fs := newMem()
	plant(t, fs)
	x := open(fs)
	x[0].Networks = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	w := start(t, &eddy.Server{Exports: x})
	h := w.visit()
	p := w.peer("tcp")
	m := nfsCall(1, nfs3.NFSPROC3_REMOVE, &nfs3.REMOVE3args{Object: at(h.dir, "file")})
	p.send(m)
	t.Log(outcome(p.receive()))
	q := newPeer(t, w.dialFrom("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}))
	for i := range 20000 {
		q.put(record(nfsCall(uint32(i), nfs3.NFSPROC3_REMOVE, raw(cat(opaque(bytes.Repeat([]byte{1}, 64)), opaque([]byte("x")))))))
		q.receive()
	}
	p.send(m)
	t.Log(outcome(p.receive()))
}
