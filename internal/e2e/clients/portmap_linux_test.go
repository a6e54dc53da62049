package clients

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	eddy "eddy.example"
	"eddy.example/internal/netns"
	"eddy.example/rpc/rpcbind"
	"eddy.example/vfs/iofs"
	"eddy.example/vfs/memfs"
)

// servePortMapper serves port 111 of the namespace's loopback device for s
// until t is over.
func servePortMapper(t *testing.T, ns *netns.NS, s *eddy.Server) {
	t.Helper()
	table, err := s.Rpcbind()
	if err != nil {
		t.Fatal(err)
	}
	l, pc := listen(t, ns, loopback, rpcbind.Port)
	d := rpcbind.NewDaemon(table, nil)
	var serving sync.WaitGroup
	serving.Go(func() { d.Serve(l) })
	serving.Go(func() { d.ServePacket(pc) })
	t.Cleanup(func() {
		d.Close()
		serving.Wait()
	})
}

// Tools that know nothing but port 111.
func TestShowmount(t *testing.T) {
	ns := netns.New(t)
	site := open("/site", iofs.New(nil, iofs.Config{}))
	site.Networks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}
	s := &eddy.Server{Exports: []eddy.Export{
		open("/", memfs.New(memfs.Config{})),
		site,
		{Path: "/home", FS: memfs.New(memfs.Config{}), InsecurePorts: true},
	}}
	addr := start(t, ns, loopback, s)
	servePortMapper(t, ns, s)

	lines := func(out string) map[string]string {
		m := make(map[string]string)
		for line := range strings.Lines(out) {
			path, who, _ := strings.Cut(strings.TrimSpace(line), " ")
			m[path] = strings.TrimSpace(who)
		}
		return m
	}
	exports := lines(run(t, ns, "showmount", "--no-headers", "-e", "127.0.0.1"))
	for path, who := range map[string]string{
		"/": "0.0.0.0/0", "/site": "192.0.2.0/24,2001:db8::/32", "/home": "localhost",
	} {
		if got := exports[path]; got != who {
			t.Errorf("showmount -e: %s for %q, want %q", path, got, who)
		}
	}
	if len(exports) != 3 {
		t.Errorf("showmount -e: %d exports, want 3", len(exports))
	}

	c := newSession(t, ns, "tcp", addr)
	for _, path := range []string{"/", "/home"} {
		if _, err := c.Mount(t.Context(), path); err != nil {
			t.Error(err)
		}
	}
	if got := run(t, ns, "showmount", "--no-headers", "-a", "127.0.0.1"); got != "127.0.0.1:/\n127.0.0.1:/home\n" {
		t.Errorf("showmount -a: %q", got)
	}
	if got := run(t, ns, "showmount", "--no-headers", "-d", "127.0.0.1"); got != "/\n/home\n" {
		t.Errorf("showmount -d: %q", got)
	}

	// rpcinfo calls procedure 0, and one of version 0 to see which there are.
	ready := func(prog uint32, versions ...int) (s string) {
		for _, v := range versions {
			s += fmt.Sprintf("program %d version %d ready and waiting\n", prog, v)
		}
		return s
	}
	for _, network := range []string{"-t", "-u"} {
		if got := run(t, ns, "rpcinfo", network, "127.0.0.1", "100003"); got != ready(100003, 3) {
			t.Errorf("rpcinfo %s for NFS: %q", network, got)
		}
		if got := run(t, ns, "rpcinfo", network, "127.0.0.1", "100005"); got != ready(100005, 1, 2, 3) {
			t.Errorf("rpcinfo %s for MOUNT: %q", network, got)
		}
		if out, err := try(t, ns, "rpcinfo", network, "127.0.0.1", "100003", "4"); err == nil || !strings.Contains(out, "low version = 3, high version = 3") {
			t.Errorf("rpcinfo %s for NFS 4: %v: %q", network, err, out)
		}
		if out, err := try(t, ns, "rpcinfo", network, "127.0.0.1", "100227"); err == nil {
			t.Errorf("rpcinfo %s for NFSACL: %q", network, out)
		}
	}
}
