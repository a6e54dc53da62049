package hostile

import (
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/nfs3"
)

// advance moves the clock until something has come about. Workers take notice of the time
// when they get to it, so how far that is is not said.
func (w *world) advance(what string, ok func() bool) {
	w.t.Helper()
	clock := w.s.Clock.(*serve.Clock)
	w.until(what, func() bool {
		if ok() {
			return true
		}
		clock.Advance(time.Second)
		return ok()
	})
}

// connections is how many there are.
func (w *world) connections() int {
	return int(w.s.Stats().Transport.Connections - w.sockets)
}

// alone waits until one connection is left, and returns its number: whoever prepared the
// test may still be on the way out.
func (w *world) alone() int {
	w.until("everybody else to be gone", func() bool { return w.connections() == 1 })
	return 1
}

// TestCrowds has many peers send a part of a record and stop. Others are served, what
// they cost stays within the budget, and they are cut when it is time.
func TestCrowds(t *testing.T) {
	write := &nfs3.WRITE3args{Count: 1 << 20, Data: make([]byte, 1<<20)}
	large := record(nfsCall(1, nfs3.NFSPROC3_WRITE, write))
	fragments := append(words(100), make([]byte, 100)...)
	for _, tt := range []struct {
		name    string
		peers   int
		b       []byte
		most    int64 // bytes that they may cost the receive budget
		streams []string
	}{
		{"nothing", 250 * repeat, nil, 0, []string{"tcp"}},
		{"one byte", 250 * repeat, large[:1], 0, streams},
		{"a mark", 250 * repeat, large[:4], 0, []string{"tcp"}},
		{"100 bytes of 1 MiB", 250 * repeat, large[:104], 0, streams},
		{"4000 bytes of 1 MiB", 250 * repeat, large[:4004], 0, []string{"tcp"}},
		{"64 KiB of 1 MiB", 100, large[:64<<10], 32 << 20, []string{"tcp", "unix"}},
		{"64 KiB of 1 MiB", 100, large[:64<<10], 32<<20 + 8<<20, []string{"pipe"}},
		{"a fragment", 250 * repeat, fragments, 8 << 20, []string{"tcp", "pipe"}},
	} {
		for _, transport := range tt.streams {
			t.Run(tt.name+" over "+transport, func(t *testing.T) {
				clock := new(serve.Clock)
				w, h, _ := serveTree(t, &eddy.Server{Clock: clock})
				others := w.client("tcp")
				defer others.Close()
				w.served(others, 1)
				before := w.alone()

				var peers []*peer
				for range tt.peers {
					p := w.peer(transport)
					p.put(tt.b)
					peers = append(peers, p)
				}
				w.until("all connections", func() bool { return w.connections() == before+tt.peers })
				w.served(others, 1000)
				buf := make([]byte, 10000)
				for range 100 {
					if n := must(others.Read(ctx, h.file.Data, buf, 0)).Resok.Count; n != 10000 {
						t.Fatalf("read %d bytes", n)
					}
				}
				if tt.most == 0 {
					clock.Advance(20 * time.Second)
					w.served(others, 1)
					if n := w.connections(); n != before+tt.peers {
						t.Errorf("%d connections before it is time, want %d", n, before+tt.peers)
					}
				}
				if n := w.s.Stats().Transport.ReceiveAdmitted; n > tt.most {
					t.Errorf("%d bytes admitted, want at most %d", n, tt.most)
				}

				w.advance("the end of all connections", func() bool {
					// Somebody who calls now and then is not cut.
					w.served(others, 1)
					return w.connections() == before
				})
				if n := w.s.Stats().Transport.Timeouts; tt.b != nil && n != int64(tt.peers) {
					t.Errorf("%d connections ended for time, want %d", n, tt.peers)
				}
				for _, p := range peers {
					if n := p.ended(); n != 0 {
						t.Errorf("%d replies to part of a call", n)
					}
					p.Close()
				}
				w.served(others, 1)
				others.Close()
				w.idle()
			})
		}
	}
}
