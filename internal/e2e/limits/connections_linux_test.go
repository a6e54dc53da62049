package limits

import (
	"os"
	"sync"
	"testing"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// What connections may cost, in KiB of the server's own memory: a server at rest,
// and each connection that has made a call.
const (
	idleKiB       = 25 << 10
	connectionKiB = 16
)

// TestIdleMemory is for small boxes: a server that has served and is at rest.
func TestIdleMemory(t *testing.T) {
	d := start(t, t.TempDir(), "")
	c, top := d.mount(&root)
	fh := d.create(c, top, "file")
	d.ok(drop(c.Write(ctx, fh, pattern(1, 1<<20), 0, nfs3.FILE_SYNC)))
	d.ok(drop(c.Read(ctx, fh, make([]byte, 1<<20), 0)))
	rss := d.rssAnon()
	t.Logf("RssAnon: %d KiB", rss)
	if rss > idleKiB {
		t.Errorf("%d KiB at rest, want at most %d", rss, idleKiB)
	}
}

// TestConnections has as many connections as there may be in a large house. All
// are served, each costs a descriptor and a bounded piece of memory, and
// nothing of them is left when they have gone.
func TestConnections(t *testing.T) {
	count := 1000
	if os.Getenv("EDDY_LONG") == "1" {
		count = 10_000
	}
	d := start(t, t.TempDir(), "")
	c, top := d.mount(&root)
	fh := d.create(c, top, "file")
	d.ok(drop(c.Write(ctx, fh, pattern(1, 4096), 0, nfs3.FILE_SYNC)))
	descriptors, rss := d.descriptors(), d.rssAnon()

	clients := make([]*nfs3.Client, count)
	for i := range clients {
		var err error
		clients[i], err = nfs3.Dial(ctx, "tcp", d.addr, &root, rpc.ClientConfig{})
		d.ok(err)
	}
	for range 2 {
		var wg sync.WaitGroup
		var running = make(chan struct{}, 64)
		for i, c := range clients {
			running <- struct{}{}
			wg.Go(func() {
				defer func() { <-running }()
				res, err := c.Read(ctx, fh, make([]byte, 4096), 0)
				if err != nil || res.Resok.Count != 4096 {
					t.Errorf("connection %d: %d bytes, %v", i, res.Resok.Count, err)
				}
			})
		}
		wg.Wait()
	}
	got, cost := d.descriptors()-descriptors, d.rssAnon()-rss
	t.Logf("%d connections: %d descriptors, RssAnon %d KiB and %d KiB more, %.1f for each", count, got, rss, cost, float64(cost)/float64(count))
	if got != count {
		t.Errorf("%d connections have %d descriptors", count, got)
	}
	if cost > count*connectionKiB {
		t.Errorf("%d connections cost %d KiB, more than %d each", count, cost, connectionKiB)
	}
	for _, c := range clients {
		c.Close()
	}
	d.until("the connections to be gone", func() bool { return d.descriptors() <= descriptors })
	d.ok(drop(c.Getattr(ctx, fh)))
}
