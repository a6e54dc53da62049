package namespace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/internal/loopfs"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs/export"
	"eddy.example/vfs/local"
	"eddy.example/xprt"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// each runs a test on every kind of file system, with handles of every kind. A
// file system is made once for all of them; dir returns a new directory on it.
func each(t *testing.T, test func(t *testing.T, dir func(t testing.TB) string, handles local.Handles)) {
	for _, kind := range []string{"xfs", "ext4", "btrfs", "tmpfs"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			mounted := loopfs.New(t, kind, 512)
			dirs := 0
			dir := func(t testing.TB) string {
				t.Helper()
				dirs++
				d := filepath.Join(mounted, fmt.Sprint(dirs))
				if err := os.Mkdir(d, 0o755); err != nil {
					t.Fatal(err)
				}
				return d
			}
			for _, handles := range []local.Handles{local.HandlesKernel, local.HandlesMap} {
				t.Run(handles.String(), func(t *testing.T) { test(t, dir, handles) })
			}
		})
	}
}

// openFS opens a file system that is served as long as t lasts.
func openFS(t testing.TB, c local.Config) *local.FS {
	t.Helper()
	fs, err := local.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fs.Close(); err != nil {
			t.Error(err)
		}
	})
	if got := fs.Describe().Handles; got != c.Handles {
		t.Fatalf("handles of kind %v, want %v", got, c.Handles)
	}
	return fs
}

// start serves fs and returns what connects to it. Handles hold from one server to
// the next.
func start(t *testing.T, fs *local.FS) (dial func() *nfs3.Client) {
	t.Helper()
	s := &eddy.Server{Workers: 2, HandleKey: eddy.Key{1}, Exports: []eddy.Export{
		{Path: "/", FS: fs, Squash: export.SquashNone, InsecurePorts: true},
	}}
	l, err := xprt.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve.Start(t, s, l)
	return func() *nfs3.Client {
		t.Helper()
		c, err := nfs3.Dial(ctx, "tcp", l.Addr().String(), &rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: []byte("test")}, rpc.ClientConfig{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}
