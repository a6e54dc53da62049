//go:build !race

package pages

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/bufpool"
	"eddy.example/internal/e2e/serve"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
)

var ctx = context.Background()

const (
	clients  = 8
	workers  = 2
	transfer = 1 << 20
	fileSize = 8 << 20

	maxHeld = bufpool.DefaultCap / bufpool.PageSize // of each worker
)

// watched is a file system that looks at the server's pages when it is asked for
// data. At that moment a worker has lent some that it held before, or will.
type watched struct {
	*memfs.FS
	server *eddy.Server
	most   [workers]atomic.Uint64 // pages held or lent by each worker
}

func (w *watched) Read(c *vfs.Call, o vfs.Object, p []byte, off uint64) (int, bool, error) {
	w.look()
	return w.FS.Read(c, o, p, off)
}

// look notes how many pages each worker has.
func (w *watched) look() {
	for i, p := range w.server.Stats().Transport.Pools {
		for most := w.most[i].Load(); p.Held+p.Lent > most; most = w.most[i].Load() {
			if w.most[i].CompareAndSwap(most, p.Held+p.Lent) {
				break
			}
		}
	}
}

// load is a server and clients that read from it.
type load struct {
	t       *testing.T
	fs      *watched
	server  *eddy.Server
	dial    func() (net.Conn, error)
	clients []*nfs3.Client
	files   [][]byte // a handle for each client
	want    []byte
}

// newLoad serves l and connects clients by dial. Each has a file of its own.
func newLoad(t *testing.T, clock *serve.Clock, l net.Listener, dial func() (net.Conn, error)) *load {
	t.Helper()
	x := &load{
		t: t, dial: dial, fs: &watched{FS: memfs.New(memfs.Config{})},
		want: bytes.Repeat([]byte("cached\n\x00"), transfer/8),
	}
	x.server = &eddy.Server{
		Exports: []eddy.Export{{
			Path: "/", FS: x.fs, InsecurePorts: true, Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")},
		}},
		Workers:  workers,
		ZeroCopy: xprt.ZeroCopyAlways,
	}
	if clock != nil {
		x.server.Clock = clock
	}
	x.fs.server = x.server
	serve.Start(t, x.server, l)
	for i := range clients {
		name := fmt.Sprint(i)
		if err := x.fs.WriteFile(name, bytes.Repeat(x.want, fileSize/transfer), 0o644); err != nil {
			t.Fatal(err)
		}
		conn, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		c := nfs3.NewClient(rpc.NewClient(conn, rpc.ClientConfig{}), nil)
		t.Cleanup(func() { c.Close() })
		root, err := c.Mount(ctx, "/")
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Lookup(ctx, root, name)
		if err != nil {
			t.Fatal(err)
		}
		x.clients = append(x.clients, c)
		x.files = append(x.files, r.Resok.Object.Data)
	}
	return x
}

// read makes every client read n transfers, one after the other, from the
// beginning of its file to the end and again.
func (x *load) read(n int) {
	x.t.Helper()
	var running sync.WaitGroup
	for i, c := range x.clients {
		running.Go(func() {
			p := make([]byte, transfer)
			for k := range n {
				r, err := c.Read(ctx, x.files[i], p, uint64(k)*transfer%fileSize)
				if err == nil && !bytes.Equal(r.Resok.Data, x.want) {
					err = fmt.Errorf("%d bytes that are not the file's", len(r.Resok.Data))
				}
				if err != nil {
					x.t.Errorf("client %d, READ %d: %v", i, k, err)
					return
				}
			}
		})
	}
	running.Wait()
}

// count reads n transfers per client and checks how many new pages each page of
// payload has cost, and that no worker had too many at any time.
func (x *load) count(n int, most float64) {
	x.t.Helper()
	x.read(n)
	s := x.server.Stats().Transport
	payload := clients * n * (transfer / bufpool.PageSize)
	taken := serve.Pages(x.server)
	ratio := float64(taken.New) / float64(payload)
	x.t.Logf("%d pages of payload in %d pages lent, of which %d new: %.5f per page of payload; %d sends of %d with zero copy",
		payload, taken.Acquired, taken.New, ratio, s.Sends.ZeroCopy, s.Sends.ZeroCopy+s.Sends.Copy)
	if ratio > most {
		x.t.Errorf("%.5f new pages per page of payload, want at most %v: %+v", ratio, most, taken)
	}
	if s.Sends.ZeroCopy == 0 {
		x.t.Error("nothing was sent with zero copy")
	}
	for i := range x.fs.most {
		had := x.fs.most[i].Load()
		x.t.Logf("worker %d had at most %d pages", i, had)
		if had == 0 || had > maxHeld {
			x.t.Errorf("worker %d had %d pages, want 1 to %d", i, had, maxHeld)
		}
	}
}

// until waits for something that has to happen.
func until(cond func() bool) {
	for !cond() {
		time.Sleep(time.Millisecond)
	}
}
