package hostile

import (
	"context"
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/nfs3"
)

// TestDrippingPeers has peers send a record bit by bit. One that sends too little is ended although
// it never stops, one that sends enough is served.
func TestDrippingPeers(t *testing.T) {
	for _, transport := range streams {
		clock := new(serve.Clock)
		w, h, _ := serveTree(t, &eddy.Server{Clock: clock})
		write := record(nfsCall(1, nfs3.NFSPROC3_WRITE, &nfs3.WRITE3args{File: h.file, Count: 1 << 20, Data: make([]byte, 1<<20)}))

		// drip sends n bytes every second and returns how much the server had got when it
		// ended the connection or had it all.
		drip := func(n int) (p *peer, sent int) {
			p = w.peer(transport)
			for rest := write; len(rest) > 0; rest = rest[min(n, len(rest)):] {
				if _, err := p.Write(rest[:min(n, len(rest))]); err != nil {
					break
				}
				sent += min(n, len(rest))
				for range 10 {
					// So that the worker takes notice of each tick.
					records := w.s.Stats().Transport.SystemCalls.Poll
					clock.Advance(tick)
					if records == w.s.Stats().Transport.SystemCalls.Poll {
						time.Sleep(time.Millisecond)
					}
				}
			}
			return p, sent
		}
		slow, sent := drip(1000)
		if sent == len(write) || slow.receive() != nil {
			t.Errorf("over %s: a peer that sends 1000 bytes a second could send %d", transport, sent)
		}
		slow.Close()
		fast, _ := drip(10_000)
		if got := outcome(fast.receive()); got != "NFS3_OK" {
			t.Errorf("over %s: a peer that sends 10,000 bytes a second: %s", transport, got)
		}
		fast.Close()
		w.idle()
	}
}

// TestCloseUnderLoad closes servers while peers call, at some time or other.
func TestCloseUnderLoad(t *testing.T) {
	for name, as := range backends {
		t.Run(name, func(t *testing.T) {
			for i := range 3 * repeat {
				w, h, _ := stoppableAs(t, new(eddy.Server), as)
				big := w.bigOf("/")
				calls := append(h.calls(), call{nfs3.NFS_PROGRAM, 3, nfs3.NFSPROC3_READ, &nfs3.READ3args{File: big, Count: 1 << 20}})
				var peers []*peer
				for _, transport := range transports {
					for range 4 {
						p := w.peer(transport)
						peers = append(peers, p)
						go func() {
							for xid := range uint32(200) {
								p.send(calls[int(xid)%len(calls)].message(xid))
							}
						}()
					}
				}
				records := int64(i * 80 / repeat)
				w.until("some calls", func() bool { return w.s.Stats().Transport.Records >= records })
				if i%2 == 0 {
					w.s.Close()
				} else {
					// Who does not read is not waited for.
					over, cancel := context.WithCancel(ctx)
					cancel()
					w.s.Shutdown(over)
				}
				for _, p := range peers {
					p.Close()
				}
			}
		})
	}
}
