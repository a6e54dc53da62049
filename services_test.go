package eddy_test

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	eddy "eddy.example"
	"eddy.example/rpc/rpcbind"
	"eddy.example/vfs/memfs"
)

func TestServices(t *testing.T) {
	s := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: memfs.New(memfs.Config{})}}}
	if got := s.Services(); got != nil {
		t.Errorf("before the first Serve: %v", got)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { s.Serve(l) })
	serving.Go(func() { s.ServePacket(pc) })

	// What is told is what is served, by either transport. A reply by UDP also
	// says that this host is among the export's clients.
	at := netip.MustParseAddrPort(l.Addr().String())
	want := make(map[rpcbind.Entry]bool)
	for prog, versions := range map[uint32][]uint32{100003: {3}, 100005: {1, 2, 3}, 100000: {2, 3, 4}} {
		for _, vers := range versions {
			want[rpcbind.Entry{Prog: prog, Vers: vers, Network: "tcp", Addr: at, Owner: rpcbind.Owner()}] = true
			want[rpcbind.Entry{Prog: prog, Vers: vers, Network: "udp", Addr: at, Owner: rpcbind.Owner()}] = true
		}
	}
	for _, network := range []string{"udp", "tcp"} {
		c, err := rpcbind.Dial(t.Context(), network, at.String())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Null(t.Context()); err != nil {
			t.Errorf("%s: %v", network, err)
		}
		// The other transport may not have come as far yet.
		if got, err := c.Dump(t.Context()); err != nil || len(got) < len(want)/2 {
			t.Errorf("%s: %v, %v", network, got, err)
		}
		c.Close()
	}
	got := s.Services()
	for _, e := range got {
		if !want[e] {
			t.Errorf("%v is served", e)
		}
		delete(want, e)
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}

	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	serving.Wait()
	if got := s.Services(); len(got) != 0 {
		t.Errorf("after Shutdown: %v", got)
	}
}
