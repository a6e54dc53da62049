package local

import (
	"context"
	_ "embed"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	eddy "eddy.example"
	"eddy.example/internal/e2e/guest"
	"eddy.example/internal/e2e/serve"
	"eddy.example/internal/kernelclient"
	"eddy.example/internal/loopfs"
	"eddy.example/internal/netns"
	"eddy.example/vfs/export"
	"eddy.example/vfs/local"
	"eddy.example/xprt"
)

func TestMain(m *testing.M) {
	if os.Getenv(knockVar) != "" {
		knock()
		return
	}
	if what := os.Getenv(usersVar); what != "" {
		users(what)
		return
	}
	goleak.VerifyTestMain(m)
}

// lib.sh is what all scripts begin with.
//
//go:embed testdata/lib.sh
var lib string

// world is a server with a file system of its own, in a network of its own.
type world struct {
	dir     string // what is served as "/", an XFS
	ns      *netns.NS
	network kernelclient.Net
}

func newWorld(t *testing.T) *world {
	w := &world{dir: loopfs.New(t, "xfs", 1024), ns: netns.New(t)}
	w.network = kernelclient.TAP(w.ns, 0)
	return w
}

// open is an export of a directory below w.dir for the guest, on ports that only its
// root has.
func (w *world) open(t *testing.T, path string, squash export.Squash) eddy.Export {
	t.Helper()
	fs, err := local.Open(local.Config{Root: filepath.Join(w.dir, path), State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fs.Close(); err != nil {
			t.Errorf("closing %s: %v", path, err)
		}
	})
	d := fs.Describe()
	if d.Handles != local.HandlesKernel || d.Identity != local.IdentityClients || !d.Durable || d.FSType != "xfs" {
		t.Errorf("%s is served as %+v", path, d)
	}
	return eddy.Export{Path: path, FS: fs, Squash: squash, Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/30")}}
}

// start serves an address, TCP and UDP, until t is over.
func (w *world) start(t *testing.T, addr netip.AddrPort, s *eddy.Server) netip.AddrPort {
	t.Helper()
	var l net.Listener
	var pc net.PacketConn
	err := w.ns.Do(func() (err error) {
		if l, err = xprt.Listen(context.Background(), "tcp", addr.String()); err != nil {
			return err
		}
		pc, err = net.ListenPacket("udp", l.Addr().String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	packets := make(chan error, 1)
	go func() { packets <- s.ServePacket(pc) }()
	t.Cleanup(func() {
		if err := <-packets; !errors.Is(err, eddy.ErrServerClosed) {
			t.Errorf("serving datagrams: %v", err)
		}
	})
	serve.Start(t, s, l)
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// run serves the exports while a guest runs a script, and returns what that left in
// /out.
func (w *world) run(t *testing.T, c kernelclient.Config, script string, exports ...eddy.Export) map[string][]byte {
	t.Helper()
	s := &eddy.Server{Exports: exports}
	c.Net, c.Port = w.network, int(w.start(t, netip.AddrPortFrom(w.network.Server(), 0), s).Port())
	c.Script = lib + script
	return guest.Run(t, c, nil)
}

// path is a file of the served directory.
func (w *world) path(name ...string) string {
	return filepath.Join(append([]string{w.dir}, name...)...)
}

// write makes a file of the served directory.
func (w *world) write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(w.path(name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// read returns the content of one.
func (w *world) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

// lines are the lines of what a guest left in /out, without their ends.
func lines(b []byte) []string {
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}
