//go:build !race && !invariants

// The race detector and the checks of invariants allocate on their own account.

package nfs3

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"

	"eddy.example/rpc"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
)

// counter is an rpc.Observer.
type counter struct{ calls atomic.Int64 }

func (c *counter) Begin(*rpc.Call) int64 { return c.calls.Add(1) }

func (c *counter) End(*rpc.Call, int64, rpc.Status) {}

// serveGuarded starts a server with everything on that costs something:
// networks, ports, squash, authenticated handles, reply cache, hooks, budgets.
func serveGuarded(t testing.TB) (*world, *memfs.FS) {
	fs := memfs.New(memfs.Config{RootMode: 0o777})
	x := export.Export{
		Path: "/", FS: fs, Squash: export.SquashRoot,
		Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("127.0.0.0/8")},
	}
	config := xprt.Config{Workers: 1, RecvBudget: 8 << 20, ReplyBudget: 8 << 20, MaxConns: 10, MaxCalls: 64}
	w := serveWith(t, &rpc.Server{Observer: new(counter), Admit: func(*rpc.Call) error { return nil }}, config, x)
	return w, fs
}

// steady are the calls that allocate nothing once everything is warm, neither in the
// server nor in the client.
func steady(c *Client, fh []byte) map[string]func() error {
	buf := make([]byte, 64<<10)
	return map[string]func() error{
		"NULL":      func() error { return c.Null(ctx) },
		"GETATTR":   func() error { _, err := c.Getattr(ctx, fh); return err },
		"ACCESS":    func() error { _, err := c.Access(ctx, fh, 0x3f); return err },
		"READ":      func() error { _, err := c.Read(ctx, fh, buf, 0); return err },
		"READ 4 K":  func() error { _, err := c.Read(ctx, fh, buf[:4096], 4096); return err },
		"WRITE":     func() error { _, err := c.Write(ctx, fh, buf, 0, UNSTABLE); return err },
		"WRITE 1 K": func() error { _, err := c.Write(ctx, fh, buf[:1024], 5000, UNSTABLE); return err },
		"COMMIT":    func() error { _, err := c.Commit(ctx, fh, 0, 0); return err },
	}
}

func TestAllocs(t *testing.T) {
	w, _ := serveGuarded(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	fh := mustCreate(c, dir, "f", pattern(64<<10))
	for name, call := range steady(c, fh) {
		if n := testing.AllocsPerRun(2000, func() {
			if err := call(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}

	var args rpc.Appender = &LOOKUP3args{Diropargs3{NFSFh3{dir}, Filename3("f")}}
	if n := testing.AllocsPerRun(2000, func() {
		if err := c.rpc.Call(ctx, NFS_PROGRAM, NFS_V3, NFSPROC3_LOOKUP, c.cred, args, ignore{}); err != nil {
			t.Fatal(err)
		}
	}); n > 2 {
		t.Errorf("LOOKUP: %v allocations", n)
	}
}

// ignore takes results and does nothing with them.
type ignore struct{}

func (ignore) ConsumeXDR([]byte) ([]byte, error) { return nil, nil }

// What READDIRPLUS allocates does not depend on how much there is to list.
func TestAllocsReaddirplus(t *testing.T) {
	w, fs := serveGuarded(t)
	c := w.client(&user)
	top := mustMount(c, "/")
	var allocs [2]float64
	for i, entries := range []int{1, 200} {
		name := fmt.Sprint(entries)
		dir := mustMkdir(c, top, name)
		for k := range entries {
			if err := fs.WriteFile(fmt.Sprintf("/%s/%d", name, k), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var args rpc.Appender = &READDIRPLUS3args{Dir: NFSFh3{dir}, Dircount: 1 << 20, Maxcount: 1 << 20}
		allocs[i] = testing.AllocsPerRun(200, func() {
			if err := c.rpc.Call(ctx, NFS_PROGRAM, NFS_V3, NFSPROC3_READDIRPLUS, c.cred, args, ignore{}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if allocs[1] > allocs[0] {
		t.Errorf("%v allocations for one entry, %v for 200", allocs[0], allocs[1])
	}
}
