package hostile

import (
	"net"
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/vfs"
	"eddy.example/vfs/vfstest"
)

// stoppable is a tree whose backend can be stopped. It says when it would wait.
func stoppable(t testing.TB, s *eddy.Server) (w *world, h handles, f *vfstest.FaultFS) {
	t.Helper()
	return stoppableAs(t, s, func(f *vfstest.FaultFS) vfs.FS { return f.Waiter() })
}

func stoppableAs(t testing.TB, s *eddy.Server, as func(*vfstest.FaultFS) vfs.FS) (w *world, h handles, f *vfstest.FaultFS) {
	t.Helper()
	fs := newMem()
	plant(t, fs)
	f = vfstest.NewFaultFS(fs)
	s.Exports = open(as(f))
	w = start(t, s)
	return w, w.visit(), f
}

// stop stops a method of the backend, at the longest until the test is over.
func (w *world) stop(f *vfstest.FaultFS, m vfstest.Method) *vfstest.Stop {
	s := f.Stop(m)
	w.t.Cleanup(s.Release)
	return s
}

// entered waits until n more calls are where the backend is stopped.
func (w *world) entered(stop *vfstest.Stop, n int) {
	w.t.Helper()
	for i := range n {
		select {
		case <-stop.Entered():
		case <-time.After(patience):
			w.t.Fatalf("only %d of %d calls have come to the backend: %+v", i, n, w.s.Stats().Transport)
		}
	}
}

// TestLeavingWithCallsInTheBackend has peers go away while their calls are in the backend, which
// comes back to a connection that has ended.
func TestLeavingWithCallsInTheBackend(t *testing.T) {
	w, h, f := stoppable(t, new(eddy.Server))
	xid := uint32(0)
	for _, transport := range streams {
		for _, reset := range []bool{false, true} {
			stop := w.stop(f, vfstest.Setattr)
			var peers []*peer
			for range 20 {
				xid++
				p := w.peer(transport)
				p.send(setattr(xid, h))
				w.entered(stop, 1)
				peers = append(peers, p)
			}
			for _, p := range peers {
				if c, ok := p.Conn.(*net.TCPConn); ok && reset {
					c.SetLinger(0)
				}
				p.Close()
			}
			stop.Release()
			w.idle()
		}
	}
	w.alive()
	w.idle()
}

// TestLeavingWithRepliesUnread has peers go away that have replies and have not read them.
func TestLeavingWithRepliesUnread(t *testing.T) {
	w, h, _ := serveTree(t, new(eddy.Server))
	for _, transport := range streams {
		for _, message := range [][]byte{getattr(1, h.file.Data), readBig(1, h.file)} {
			for range 10 {
				sent := w.s.Stats().Transport.BytesSent
				p := w.peer(transport)
				p.send(message)
				w.until("a reply", func() bool { return w.s.Stats().Transport.BytesSent > sent })
				p.Close()
				w.alive()
			}
		}
	}
	w.idle()
}
