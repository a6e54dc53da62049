package nfs3

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ctx  = context.Background()
	root = rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: []byte("test")}
	user = rpc.Cred{Flavor: rpc.AUTH_SYS, UID: 1000, GID: 100, GIDs: []uint32{101}, Machine: []byte("test")}
)

// world is a server in this process.
type world struct {
	t     testing.TB
	table *export.Table
	srv   *Server
	rpc   *rpc.Server
	xprt  *xprt.Transport
	wg    sync.WaitGroup
}

// serve starts a server for exports.
func serve(t testing.TB, exports ...export.Export) *world {
	return serveWith(t, new(rpc.Server), xprt.Config{Workers: 2}, exports...)
}

func serveWith(t testing.TB, r *rpc.Server, config xprt.Config, exports ...export.Export) *world {
	t.Helper()
	table, err := export.NewTable(export.Key{1}, exports...)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, table: table, srv: &Server{Exports: table}, rpc: r}
	for _, p := range []rpc.Program{w.srv.NFS(), w.srv.Mount()} {
		if err := r.Register(p); err != nil {
			t.Fatal(err)
		}
	}
	w.xprt = xprt.New(config, r)
	t.Cleanup(func() {
		w.xprt.Close()
		if err := r.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		w.wg.Wait()
	})
	return w
}

// serveMem starts a server for one file system that everybody may write to.
func serveMem(t testing.TB) (*world, *memfs.FS) {
	t.Helper()
	fs := memfs.New(memfs.Config{RootMode: 0o777})
	return serve(t, memExport(fs)), fs
}

func memExport(fs vfs.FS) export.Export {
	return export.Export{Path: "/", FS: fs, Squash: export.SquashNone, InsecurePorts: true}
}

// client returns a client on a connection inside the process.
func (w *world) client(cred *rpc.Cred) *Client {
	w.t.Helper()
	server, conn := xprt.Pipe()
	w.wg.Go(func() { w.xprt.ServeConn(server) })
	c := NewClient(rpc.NewClient(conn, rpc.ClientConfig{}), cred)
	w.t.Cleanup(func() { c.Close() })
	return c
}

// listen makes the server serve TCP and returns where.
func (w *world) listen() net.Addr {
	w.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.wg.Go(func() { w.xprt.Serve(l) })
	return l.Addr()
}

// dial returns a client on a TCP connection.
func (w *world) dial(addr net.Addr, cred *rpc.Cred) *Client {
	w.t.Helper()
	c, err := Dial(ctx, "tcp", addr.String(), cred, rpc.ClientConfig{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

// must is for calls that a test needs and is not about.
func must[R any](r R, err error) R {
	if err != nil {
		panic(err)
	}
	return r
}

// mount returns the handle of an export's root.
func mustMount(c *Client, path string) []byte { return must(c.Mount(ctx, path)) }

// mustLookup walks from dir along names.
func mustLookup(c *Client, dir []byte, names ...string) []byte {
	for _, name := range names {
		dir = must(c.Lookup(ctx, dir, name)).Resok.Object.Data
	}
	return dir
}

// mustCreate creates a file with data.
func mustCreate(c *Client, dir []byte, name string, data []byte) []byte {
	how := Createhow3{Mode: GUARDED, ObjAttributes: Sattr3{Mode: SetMode3{true, 0o644}}}
	fh := must(c.Create(ctx, dir, name, &how)).Resok.Obj.Handle.Data
	if len(data) > 0 {
		must(c.Write(ctx, fh, data, 0, FILE_SYNC))
	}
	return fh
}

func mustMkdir(c *Client, dir []byte, name string) []byte {
	return must(c.Mkdir(ctx, dir, name, &Sattr3{Mode: SetMode3{true, 0o755}})).Resok.Obj.Handle.Data
}

// mustGetattr returns the attributes of fh.
func mustGetattr(c *Client, fh []byte) Fattr3 { return must(c.Getattr(ctx, fh)).Resok.ObjAttributes }

// wantStatus checks that a call ended with a status.
func wantStatus(t testing.TB, what string, err error, want NFSStat3) {
	t.Helper()
	if want == NFS3_OK && err != nil || want != NFS3_OK && !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// wantAfter checks that the attributes of fh came along.
func wantAfter(t testing.TB, what string, c *Client, fh []byte, got PostOpAttr) {
	t.Helper()
	if want := mustGetattr(c, fh); !got.AttributesFollow || got.Attributes != want {
		t.Errorf("%s: attributes %+v, want %+v", what, got, want)
	}
}

// wantWcc checks that w tells of the change of fh from before to now.
func wantWcc(t testing.TB, what string, c *Client, fh []byte, before Fattr3, w WccData) {
	t.Helper()
	pre := PreOpAttr{AttributesFollow: true, Attributes: WccAttr{before.Size, before.Mtime, before.Ctime}}
	if w.Before != pre {
		t.Errorf("%s: before %+v, want %+v", what, w.Before, pre)
	}
	wantAfter(t, what, c, fh, w.After)
}
