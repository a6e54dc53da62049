package clients

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os/exec"
	"sync"
	"testing"

	"go.uber.org/goleak"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/internal/netns"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/export"
	"eddy.example/xprt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = netip.MustParseAddr("127.0.0.1")

// listen binds one port of ip in the namespace, port 0 being any, for TCP and UDP.
func listen(t *testing.T, ns *netns.NS, ip netip.Addr, port uint16) (l net.Listener, pc net.PacketConn) {
	t.Helper()
	err := ns.Do(func() (err error) {
		if l, err = xprt.Listen(context.Background(), "tcp", netip.AddrPortFrom(ip, port).String()); err != nil {
			return err
		}
		pc, err = net.ListenPacket("udp", l.Addr().String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, pc
}

// start serves a port of ip in the namespace, TCP and UDP, until t is over;
// then it lets s finish and checks that nothing is left.
func start(t *testing.T, ns *netns.NS, ip netip.Addr, s *eddy.Server) netip.AddrPort {
	t.Helper()
	l, pc := listen(t, ns, ip, 0)
	packets := make(chan error, 1)
	go func() { packets <- s.ServePacket(pc) }()
	t.Cleanup(func() {
		if err := <-packets; !errors.Is(err, eddy.ErrServerClosed) {
			t.Errorf("serving datagrams: %v", err)
		}
	})
	serve.Start(t, s, l)
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Errorf("shutting the server down: %v", err)
		}
	})
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// open is an export for everybody, at any port and with root's rights.
func open(path string, fs vfs.FS) eddy.Export {
	return eddy.Export{
		Path: path, FS: fs, Squash: export.SquashNone, InsecurePorts: true,
		Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")},
	}
}

var rootCred = rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: []byte("here")}

// inside returns a client of s that uses no network.
func inside(t *testing.T, s *eddy.Server) *nfs3.Client {
	t.Helper()
	server, conn := xprt.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() { s.ServeConn(server) })
	c := nfs3.NewClient(rpc.NewClient(conn, rpc.ClientConfig{}), &rootCred)
	t.Cleanup(func() {
		c.Close()
		serving.Wait()
	})
	return c
}

// copyFile writes the content of a file of the root of export "/" to w.
func copyFile(t *testing.T, w io.Writer, c *nfs3.Client, name string) {
	t.Helper()
	root, err := c.Mount(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	file, err := c.Lookup(t.Context(), root, name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	p := make([]byte, nfs3.MaxTransfer)
	for off := uint64(0); ; {
		res, err := c.Read(t.Context(), file.Resok.Object.Data, p, off)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		w.Write(res.Resok.Data)
		if off += uint64(len(res.Resok.Data)); res.Resok.Eof {
			return
		}
	}
}

// run runs a program in the namespace and returns what it prints.
func run(t *testing.T, ns *netns.NS, name string, args ...string) string {
	t.Helper()
	out, err := try(t, ns, name, args...)
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return out
}

// try is run for a program that may fail.
func try(t *testing.T, ns *netns.NS, name string, args ...string) (out string, err error) {
	t.Helper()
	err = ns.Do(func() error {
		b, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
		out = string(b)
		return err
	})
	return out, err
}
