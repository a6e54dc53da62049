package hostile

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/nfs3"
	"eddy.example/vfs/vfstest"
)

// heapInUse is how many bytes of the heap are alive.
func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestWaitingCallsAreBounded fills the server with calls that a stopped backend keeps. What they
// cost is bounded by the receive budget, however the calls come, and all are answered at last.
func TestWaitingCallsAreBounded(t *testing.T) {
	const budget = 4 << 20
	for _, tt := range []struct {
		name string
		call func(message []byte) []byte
	}{
		{"in fragments", func(m []byte) []byte {
			return cat(words(40), m[:40], record(m[40:]))
		}},
		{"with something behind the arguments", func(m []byte) []byte {
			return record(append(m, make([]byte, 3500)...))
		}},
		{"one byte more than a page", func(m []byte) []byte {
			return record(append(m, make([]byte, 4097-len(m))...))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, h, f := stoppable(t, &eddy.Server{ReceiveBytes: budget})
			others := w.client("tcp")
			defer others.Close()
			w.served(others, 1)
			stop := w.stop(f, vfstest.Lookup)
			before := heapInUse()

			const conns, calls = 16, 256
			replies := make(chan int)
			for range conns {
				p := w.peer("tcp")
				defer p.Close()
				one := tt.call(nfsCall(1, nfs3.NFSPROC3_LOOKUP, &nfs3.LOOKUP3args{What: at(h.dir, "file")}))
				go p.put(bytes.Repeat(one, calls))
				go func() {
					n := 0
					for n < calls && p.receive() != nil {
						n++
					}
					replies <- n
				}()
			}
			w.until("a budget that is used up", func() bool { return w.s.Stats().Transport.ReceiveAdmitted >= budget*9/10 })
			w.served(others, 1000)
			x := w.s.Stats().Transport
			if x.ReceiveAdmitted > 2*budget {
				t.Errorf("%d calls have %d bytes, %d are allowed", x.Calls, x.ReceiveAdmitted, budget)
			}
			if grown := heapInUse() - before; grown > 4*budget {
				t.Errorf("%d calls cost %d bytes, %d are admitted", x.Calls, grown, x.ReceiveAdmitted)
			}
			stop.Release()
			for range conns {
				if n := <-replies; n != calls {
					t.Errorf("%d replies to %d calls", n, calls)
				}
			}
		})
	}
}

// TestLargeRepliesNotTaken asks for replies that are no pages again and again, and reads
// nothing. The clock stands still, so that no deadline helps.
func TestLargeRepliesNotTaken(t *testing.T) {
	w, _, _ := serveTree(t, &eddy.Server{Clock: new(serve.Clock)})
	c := w.client("tcp")
	for i := range 1000 {
		// A thousand ways to say "/" make the list of mounts long.
		must(c.Mount(ctx, strings.Repeat("/", i+1)))
	}
	c.Close()
	before := heapInUse()
	for _, transport := range streams {
		dump := record(callMessage(1, nfs3.MOUNT_PROGRAM, 3, nfs3.MOUNTPROC3_DUMP, &user, nil))
		p := w.peer(transport)
		const calls = 4000
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			p.put(bytes.Repeat(dump, calls))
		}()
		// 128 MiB of replies are asked for.
		w.until("replies that are not taken", func() bool { return w.s.Stats().Transport.ReplyMemory >= 1<<20 })
		w.alive()
		if n := w.s.Stats().Transport.ReplyMemory; n > 2<<20 {
			t.Errorf("%d bytes of replies wait for one peer over %s", n, transport)
		}
		if grown := heapInUse() - before; grown > 32<<20 {
			t.Errorf("a peer over %s cost %d bytes", transport, grown)
		}
		for i := range calls {
			if p.receive() == nil {
				t.Fatalf("only %d of %d replies over %s", i, calls, transport)
			}
		}
		<-sent
		p.Close()
	}
	w.idle()
}

// TestNothingGrows repeats what is wrong in every way, on connections of its own, and
// compares what is in use after some rounds with what was after a few.
func TestNothingGrows(t *testing.T) {
	w, h, _ := serveTree(t, new(eddy.Server))
	cases := append(wrongNames(h), wrongIO(h)...)
	cases = append(cases, wrongAttributes(h)...)
	xid := uint32(0)
	round := func() int64 {
		for _, transport := range streams {
			for _, junk := range [][]byte{
				nil, {0x80}, record(nil), words(maxUint32), []byte("GET / HTTP/1.0\r\n\r\n"),
				h.announce(), h.announce()[:3000], cat(words(100), make([]byte, 100)),
			} {
				p := w.peer(transport)
				p.put(junk)
				p.Close()
			}
			p := w.peer(transport)
			for _, tt := range cases {
				if xid++; xid%3 == 0 {
					p.ask(nfsCall(xid, tt.proc, tt.args))
				}
			}
			for i := range 64 {
				p.put(record(getattr(xid, make([]byte, i))))
			}
			p.put(h.announce())
			p.Close()
		}
		w.idle()
		return heapInUse()
	}
	const few, some = 4, 5 + 3*repeat
	var after int64
	for i := range some {
		n := round()
		if i == few {
			after = n
		} else if i > few && n > after+8<<20 {
			t.Fatalf("%d bytes are in use after %d rounds, %d were after %d", n, i, after, few)
		}
	}
	x := w.s.Stats().Transport
	for i, p := range x.Pools {
		if p.Held > 4<<20/4096 {
			t.Errorf("pool %d holds %d pages", i, p.Held)
		}
	}
}
