package nfs3_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	"eddy.example/internal/fsx"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
)

// TestFsx runs several clients at once, over TCP.
func TestFsx(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			ctx := context.Background()
			dial := serveTCP(t)
			root, err := dial().Mount(ctx, "/")
			if err != nil {
				t.Fatal(err)
			}
			fsx.Run(t, fsx.Config{Seed: seed, Dial: dial, Dir: root})
		})
	}
}

// serveTCP starts a server and returns what connects to it.
func serveTCP(t *testing.T) (dial func() *nfs3.Client) {
	t.Helper()
	ctx := context.Background()
	table, err := export.NewTable(export.Key{1}, export.Export{
		Path: "/", FS: memfs.New(memfs.Config{RootMode: 0o777}), Squash: export.SquashNone, InsecurePorts: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := new(rpc.Server)
	s := &nfs3.Server{Exports: table}
	for _, p := range []rpc.Program{s.NFS(), s.Mount()} {
		if err := r.Register(p); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	x := xprt.New(xprt.Config{Workers: 2}, r)
	served := make(chan error, 1)
	go func() { served <- x.Serve(l) }()
	t.Cleanup(func() {
		x.Close()
		if err := r.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		<-served
	})
	return func() *nfs3.Client {
		t.Helper()
		cred := &rpc.Cred{Flavor: rpc.AUTH_SYS, UID: 1000, GID: 100, Machine: []byte("test")}
		c, err := nfs3.Dial(ctx, "tcp", l.Addr().String(), cred, rpc.ClientConfig{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}
