package hostile

import (
	"net"
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/nfs3"
)

// announce is the beginning of a WRITE of 1 MiB: enough of it that the rest is waited for
// in memory of the record's own.
func (h *handles) announce() []byte {
	write := record(nfsCall(1, nfs3.NFSPROC3_WRITE, &nfs3.WRITE3args{File: h.file, Count: 1 << 20, Data: make([]byte, 1<<20)}))
	return write[:100<<10]
}

// wait has n connections announce more than there is budget for.
func (w *world) wait(h handles, n int) (peers []*peer) {
	w.t.Helper()
	part := h.announce()
	for range n {
		p := w.peer("tcp")
		p.put(part)
		peers = append(peers, p)
	}
	w.until("a record that is being received", func() bool { return w.s.Stats().Transport.ReceiveAdmitted > 1<<20 })
	return peers
}

// TestResetWhileWaitingForBudget resets connections that wait for the receive budget while others
// release it, so that some get their share after their end.
func TestResetWhileWaitingForBudget(t *testing.T) {
	w, h, _ := serveTree(t, &eddy.Server{ReceiveBytes: 2 << 20})
	for range 5 {
		for _, p := range w.wait(h, 32) {
			p.Conn.(*net.TCPConn).SetLinger(0)
			go p.Close()
		}
		w.until("nobody", func() bool { return w.connections() == 0 })
	}
	w.alive()
	w.idle()
}

// TestCloseWhileWaitingForBudget closes the server instead.
func TestCloseWhileWaitingForBudget(t *testing.T) {
	for range 5 {
		w, h, _ := serveTree(t, &eddy.Server{ReceiveBytes: 2 << 20})
		peers := w.wait(h, 32)
		w.s.Close()
		for _, p := range peers {
			if n := p.ended(); n > 0 {
				t.Errorf("%d replies to part of a call", n)
			}
			p.Close()
		}
	}
}

// TestRecordsBeyondTheBudget writes 1 MiB at once to a server that has not so much for a
// connection, or for all: one record at a time is let in whatever its size.
func TestRecordsBeyondTheBudget(t *testing.T) {
	for _, budget := range []int{4096, 1 << 20, 3 << 20} {
		w, h, _ := serveTree(t, &eddy.Server{ReceiveBytes: budget})
		for _, transport := range streams {
			c := w.client(transport)
			for range 3 {
				if n := must(c.Write(ctx, h.file.Data, make([]byte, 1<<20), 0, nfs3.UNSTABLE)).Resok.Count; n != 1<<20 {
					t.Errorf("%d bytes written over %s", n, transport)
				}
			}
			c.Close()
		}
		w.idle()
	}
}

// TestOthersWrite has peers begin records, as many as there is memory for and more, and stop. They
// lose it before long to who goes on.
func TestOthersWrite(t *testing.T) {
	for _, tt := range []struct {
		name      string
		peers     int
		begin     func(h handles) []byte
		transport string // of who writes
	}{
		{"records", 100, func(h handles) []byte { return h.announce() }, "tcp"},
		{"fragments", 200, func(handles) []byte { return append(words(100), 0) }, "pipe"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, h, _ := serveTree(t, &eddy.Server{Clock: new(serve.Clock)})
			var peers []*peer
			for range tt.peers {
				p := w.peer("tcp")
				p.put(tt.begin(h))
				peers = append(peers, p)
			}
			before := w.s.Stats().Transport.ReceiveAdmitted
			w.until("a budget that is used up", func() bool {
				n := w.s.Stats().Transport.ReceiveAdmitted
				full := n > 0 && n == before && w.connections() == tt.peers
				before = n
				return full
			})
			c := w.client(tt.transport)
			defer c.Close()
			passed := w.meanwhile("a WRITE", 29*time.Second, func() error {
				_, err := c.Write(ctx, h.file.Data, make([]byte, 1<<20), 0, nfs3.UNSTABLE)
				return err
			})
			t.Logf("a WRITE took %v", passed)
			c.Close()
			for _, p := range peers {
				p.Close()
			}
			w.idle()
		})
	}
}
