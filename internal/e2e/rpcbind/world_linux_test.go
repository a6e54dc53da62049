package rpcbind

import (
	"context"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	eddy "eddy.example"
	"eddy.example/internal/netns"
	"eddy.example/rpc/rpcbind"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listener is a server or a port mapper.
type listener interface {
	Serve(net.Listener) error
	ServePacket(net.PacketConn) error
	Close() error
}

// serve serves an address of the namespace, TCP and UDP, until t is over.
func serve(t *testing.T, ns *netns.NS, s listener, network, addr string) netip.AddrPort {
	t.Helper()
	var l net.Listener
	var pc net.PacketConn
	err := ns.Do(func() (err error) {
		if l, err = net.Listen("tcp"+network, addr); err != nil {
			return err
		}
		pc, err = net.ListenPacket("udp"+network, l.Addr().String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { s.Serve(l) })
	serving.Go(func() { s.ServePacket(pc) })
	t.Cleanup(func() {
		s.Close()
		serving.Wait()
	})
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func newServer() *eddy.Server {
	return &eddy.Server{Exports: []eddy.Export{{
		Path: "/", FS: memfs.New(memfs.Config{}), Squash: export.SquashNone, InsecurePorts: true,
		Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("192.0.2.0/24")},
	}}}
}

// portMapper serves port 111 of addresses for s.
func portMapper(t *testing.T, ns *netns.NS, s *eddy.Server, network, addr string) {
	t.Helper()
	table, err := s.Rpcbind()
	if err != nil {
		t.Fatal(err)
	}
	serve(t, ns, rpcbind.NewDaemon(table, nil), network, addr)
}

// systemRpcbind runs a rpcbind in the namespace, with a /run of its own, until t
// is over, and returns the path of its socket.
func systemRpcbind(t *testing.T, ns *netns.NS) string {
	t.Helper()
	cmd := exec.Command("unshare", "--mount", "sh", "-c",
		"mount -t tmpfs tmpfs /run && mkdir /run/rpcbind && exec rpcbind -f")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := ns.Do(cmd.Start); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	socket := procRoot(cmd.Process.Pid) + rpcbind.SystemSocket
	for {
		c, err := rpcbind.Dial(t.Context(), "unix", socket)
		if err == nil {
			err = c.Null(t.Context())
			c.Close()
		}
		if err == nil {
			return socket
		}
	}
}

// run runs a program in the namespace and returns what it prints.
func run(t *testing.T, ns *netns.NS, name string, args ...string) string {
	t.Helper()
	out, err := try(t.Context(), ns, name, args...)
	if err != nil {
		t.Errorf("%s %q: %v\n%s", name, args, err, out)
	}
	return out
}

func try(ctx context.Context, ns *netns.NS, name string, args ...string) (out string, err error) {
	err = ns.Do(func() error {
		b, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
		out = string(b)
		return err
	})
	return out, err
}

// words are the lines of out with one space between two words, and lists in
// them, which have no order, sorted.
func words(out string) (lines []string) {
	for line := range strings.Lines(out) {
		w := strings.Fields(line)
		for i := range w {
			list := strings.Split(w[i], ",")
			slices.Sort(list)
			w[i] = strings.Join(list, ",")
		}
		if len(w) > 0 {
			lines = append(lines, strings.Join(w, " "))
		}
	}
	return lines
}
