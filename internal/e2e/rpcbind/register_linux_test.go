package rpcbind

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

	eddy "eddy.example"
	"eddy.example/internal/netns"
	"eddy.example/rpc"
	"eddy.example/rpc/rpcbind"
)

func procRoot(pid int) string { return fmt.Sprintf("/proc/%d/root", pid) }

// over returns how to reach the rpcbind of the namespace: by its socket, and by
// TCP from the machine itself.
func over(t *testing.T, ns *netns.NS, socket string) map[string]*rpcbind.Client {
	t.Helper()
	bySocket, err := rpcbind.Dial(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var byTCP *rpcbind.Client
	err = ns.Do(func() error {
		// On this thread, which is inside.
		conn, err := net.Dial("tcp", "127.0.0.1:111")
		if err == nil {
			byTCP = rpcbind.NewClient(rpc.NewClient(conn, rpc.ClientConfig{}))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		bySocket.Close()
		byTCP.Close()
	})
	return map[string]*rpcbind.Client{"unix": bySocket, "tcp": byTCP}
}

func TestRegister(t *testing.T) {
	ns := netns.New(t)
	socket := systemRpcbind(t, ns)
	s := newServer()
	at := serve(t, ns, s, "", "[::]:0")
	await(t, s, 2*2*(1+3+3))
	for way, c := range over(t, ns, socket) {
		if err := c.Register(t.Context(), s.Services()); err != nil {
			t.Errorf("%s: %v", way, err)
			continue
		}
		if err := c.Register(t.Context(), s.Services()); err != nil {
			t.Errorf("%s, again: %v", way, err)
		}
		wants(t, way+": rpcinfo -s", words(run(t, ns, "rpcinfo", "-s", "127.0.0.1")),
			"100003 3 tcp,tcp6,udp,udp6 nfs "+map[string]string{"unix": "superuser", "tcp": "unknown"}[way])
		wants(t, way+": rpcinfo -p", words(run(t, ns, "rpcinfo", "-p", "127.0.0.1")),
			fmt.Sprintf("100005 3 udp %d mountd", at.Port()))
		for _, flag := range []string{"-t", "-u"} {
			if got := words(run(t, ns, "rpcinfo", flag, "127.0.0.1", "100003")); !slices.Equal(got, []string{"program 100003 version 3 ready and waiting"}) {
				t.Errorf("%s: rpcinfo %s: %q", way, flag, got)
			}
		}
		run(t, ns, "showmount", "-e", "127.0.0.1")
		if err := c.Unregister(t.Context(), s.Services()); err != nil {
			t.Errorf("%s: %v", way, err)
		}
		list, err := c.Dump(t.Context())
		if err != nil || slices.ContainsFunc(list, func(e rpcbind.Entry) bool { return e.Prog != rpcbind.RPCBPROG }) {
			t.Errorf("%s: after Unregister: %v, %v", way, list, err)
		}
	}
}

// A service that answers keeps its place; the rpcbind of the host stays as it was.
func TestRegisterTaken(t *testing.T) {
	ns := netns.New(t)
	clients := over(t, ns, systemRpcbind(t, ns))
	first, second := newServer(), newServer()
	serve(t, ns, first, "4", "127.0.0.1:0")
	serve(t, ns, second, "4", "127.0.0.1:0")
	await(t, first, 2*(1+3+3))
	await(t, second, 2*(1+3+3))
	c := clients["unix"]
	if err := c.Register(t.Context(), first.Services()); err != nil {
		t.Fatal(err)
	}
	before, err := c.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Whether somebody still listens is asked from where the caller is.
	err = ns.Do(func() error { return c.Register(context.Background(), second.Services()) })
	if !errors.Is(err, rpcbind.ErrTaken) {
		t.Errorf("registering a second server: %v", err)
	}
	if after, err := c.Dump(t.Context()); err != nil || !slices.Equal(before, after) {
		t.Errorf("%v\nbefore: %v\nafter: %v", err, before, after)
	}
}

// await waits until s tells n services: both its listeners are served.
func await(t *testing.T, s *eddy.Server, n int) {
	for len(s.Services()) != n {
		if t.Context().Err() != nil {
			t.Fatal("the server does not serve")
		}
	}
}
