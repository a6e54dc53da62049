package nfs3_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
)

// A server and a client of it in one process.
func Example() {
	fs := memfs.New(memfs.Config{})
	if err := fs.WriteFile("/hello.txt", []byte("hello, world\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	table, err := export.NewTable(export.NewKey(), export.Export{Path: "/", FS: fs})
	if err != nil {
		log.Fatal(err)
	}
	server := &nfs3.Server{Exports: table}
	calls := new(rpc.Server)
	for _, p := range []rpc.Program{server.NFS(), server.Mount()} {
		if err := calls.Register(p); err != nil {
			log.Fatal(err)
		}
	}
	transport := xprt.New(xprt.Config{}, calls)
	defer transport.Close()
	inside, outside := xprt.Pipe()
	go transport.ServeConn(inside)

	ctx := context.Background()
	c := nfs3.NewClient(rpc.NewClient(outside, rpc.ClientConfig{}), &rpc.Cred{Flavor: rpc.AUTH_SYS, UID: 1000, GID: 100})
	defer c.Close()
	root, err := c.Mount(ctx, "/")
	if err != nil {
		log.Fatal(err)
	}
	found, err := c.Lookup(ctx, root, "hello.txt")
	if err != nil {
		log.Fatal(err)
	}
	res, err := c.Read(ctx, found.Resok.Object.Data, make([]byte, 4096), 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s%v, %d bytes\n", res.Resok.Data, res.Resok.Eof, res.Resok.FileAttributes.Attributes.Size)

	_, err = c.Lookup(ctx, root, "nothing")
	fmt.Println(errors.Is(err, nfs3.NFS3ERR_NOENT), err)
	// Output:
	// hello, world
	// true, 13 bytes
	// true nfs3: LOOKUP: NFS3ERR_NOENT
}
