package hostile

import (
	"fmt"
	"net"
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/nfs3"
	"eddy.example/xprt"
)

// readBig is a READ of 1 MiB.
func readBig(xid uint32, fh nfs3.NFSFh3) []byte {
	return nfsCall(xid, nfs3.NFSPROC3_READ, &nfs3.READ3args{File: fh, Count: 1 << 20})
}

// big is the file of 2 MiB.
func (w *world) big(c *nfs3.Client) nfs3.NFSFh3 {
	w.t.Helper()
	return must(c.Lookup(ctx, must(c.Mount(ctx, "/")), "big")).Resok.Object
}

// readsMeanwhile has c read 1 MiB of fh n times while the clock moves.
func (w *world) readsMeanwhile(c *nfs3.Client, fh nfs3.NFSFh3, n int, most time.Duration) (passed time.Duration) {
	w.t.Helper()
	return w.meanwhile(fmt.Sprint(n, " READs"), most, func() error {
		buf := make([]byte, 1<<20)
		for range n {
			if _, err := c.Read(ctx, fh.Data, buf, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// meanwhile does something while the clock moves: by one tick whenever the server does
// nothing, until it is done or most has passed. It returns what has.
func (w *world) meanwhile(what string, most time.Duration, do func() error) (passed time.Duration) {
	w.t.Helper()
	clock := w.s.Clock.(*serve.Clock)
	done := make(chan error, 1)
	go func() { done <- do() }()
	for moved := int64(0); ; {
		select {
		case err := <-done:
			if err != nil {
				w.t.Errorf("%s: %v", what, err)
			}
			return passed
		case <-time.After(10 * time.Millisecond):
			x := w.s.Stats().Transport
			if n := x.BytesSent + x.BytesReceived; n != moved {
				moved = n
				continue
			}
			if passed >= most {
				w.t.Fatalf("%s: not done in %v: %+v", what, most, x)
			}
			clock.Advance(tick)
			passed += tick
		}
	}
}

const tick = 100 * time.Millisecond

// TestDeafPeers has 64 connections ask for 1 MiB again and again and read nothing.
// Others are served before any of them is ended, and then all are.
func TestDeafPeers(t *testing.T) {
	for _, tt := range []struct {
		name       string
		transport  string
		zero       xprt.ZeroCopy
		replyBytes int
		halfClosed bool // they have nothing more to say either
		reads      int  // of others meanwhile
	}{
		{name: "memory for all their replies", transport: "tcp", replyBytes: 256 << 20, reads: 25 * repeat},
		{name: "zero copy", transport: "tcp", zero: xprt.ZeroCopyAlways, replyBytes: 256 << 20, reads: 10},
		{name: "half closed", transport: "tcp", replyBytes: 256 << 20, halfClosed: true, reads: 10},
		{name: "unix", transport: "unix", replyBytes: 256 << 20, reads: 10},
		{name: "pipe", transport: "pipe", replyBytes: 256 << 20, reads: 10},
		{name: "less memory", transport: "tcp", reads: 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := new(serve.Clock)
			w, _, _ := serveTree(t, &eddy.Server{
				Clock: clock, ZeroCopy: tt.zero, ReplyBytes: tt.replyBytes, SendTimeout: 2 * time.Minute, IdleTimeout: -1,
			})
			others := w.client("tcp")
			defer others.Close()
			big := w.big(others)
			before := w.alone()

			var peers []*peer
			for range 64 {
				p := w.peer(tt.transport)
				for i := range 8 {
					p.send(readBig(uint32(i), big))
				}
				if tt.halfClosed {
					p.Conn.(*net.TCPConn).CloseWrite()
				}
				peers = append(peers, p)
			}
			w.until("all calls", func() bool { return w.s.Stats().Transport.Records > 64*8 })
			w.served(others, 1000)

			passed := w.readsMeanwhile(others, big, tt.reads, 100*time.Second)
			w.served(others, 1000)
			n, memory := w.connections(), w.s.Stats().Transport.ReplyMemory
			t.Logf("after %v: %d connections, %d MiB of replies", passed, n, memory>>20)
			if tt.replyBytes > 0 && n != before+64 {
				t.Errorf("%d connections before it is time, want %d", n, before+64)
			}
			if budget := int64(max(tt.replyBytes, 64<<20)); memory > budget+2<<20 {
				t.Errorf("%d bytes of replies that nobody takes, %d are allowed", memory, budget)
			}

			w.advance("the end of the deaf", func() bool {
				w.served(others, 1)
				return w.connections() == before
			})
			w.readsMeanwhile(others, big, 10, 9*time.Minute)
			for _, p := range peers {
				p.Close()
			}
			others.Close()
			w.idle()
		})
	}
}

// TestSlowPeers has peers take a little in each tick. They make progress and are not ended, but
// others do not wait for them.
func TestSlowPeers(t *testing.T) {
	clock := new(serve.Clock)
	w, _, _ := serveTree(t, &eddy.Server{Clock: clock, Workers: 1, SendTimeout: 10 * time.Minute})
	others := w.client("tcp")
	defer others.Close()
	big := w.big(others)
	stop := make(chan struct{})
	ended := make(chan int)
	const peers = 16
	for range peers {
		p := w.peer("unix")
		for i := range 8 {
			p.send(readBig(uint32(i), big))
		}
		go func() {
			read := 0
			defer func() { p.Close(); ended <- read }()
			buf := make([]byte, 40<<10)
			for {
				select {
				case <-stop:
					return
				default:
					p.SetReadDeadline(time.Now().Add(time.Millisecond))
					n, _ := p.Read(buf)
					read += n
					time.Sleep(time.Millisecond)
				}
			}
		}()
	}
	w.until("all calls", func() bool { return w.s.Stats().Transport.Records > peers*8 })
	w.readsMeanwhile(others, big, 20, 9*time.Minute)
	close(stop)
	for range peers {
		<-ended
	}
	others.Close()
	w.idle()
}
