package eddy_test

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"path/filepath"

	eddy "eddy.example"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs/iofs"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
)

// cat reads a file of the root of the export "/" through conn.
func cat(conn net.Conn, name string) string {
	ctx := context.Background()
	c := nfs3.NewClient(rpc.NewClient(conn, rpc.ClientConfig{}), nil)
	defer c.Close()
	root, err := c.Mount(ctx, "/")
	if err != nil {
		log.Fatal(err)
	}
	file, err := c.Lookup(ctx, root, name)
	if err != nil {
		log.Fatal(err)
	}
	p := make([]byte, 4096)
	r, err := c.Read(ctx, file.Resok.Object.Data, p, 0)
	if err != nil {
		log.Fatal(err)
	}
	return string(p[:r.Resok.Count])
}

// A file system in memory, served to clients of this machine.
func Example() {
	files := memfs.New(memfs.Config{})
	files.WriteFile("hello.txt", []byte("hello, world\n"), 0o644)

	s := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: files}}}
	l, err := xprt.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go s.Serve(l)
	defer s.Shutdown(context.Background())

	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(cat(conn, "hello.txt"))
	// Output: hello, world
}

//go:embed testdata/site
var site embed.FS

// Files that are part of the program: any fs.FS is served read-only.
func Example_embedFS() {
	files, err := fs.Sub(site, "testdata/site")
	if err != nil {
		log.Fatal(err)
	}
	s := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: iofs.New(files, iofs.Config{})}}}
	defer s.Shutdown(context.Background())

	server, client := xprt.Pipe()
	go s.ServeConn(server)
	fmt.Print(cat(client, "index.txt"))
	// Output: embedded in the program
}

// Any net.Listener will do: here a Unix socket, which needs neither a port nor
// root, and whose file's mode says who may connect.
func Example_customListener() {
	files := memfs.New(memfs.Config{})
	files.WriteFile("hello.txt", []byte("hello, neighbour\n"), 0o644)
	s := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: files}}}

	dir, err := os.MkdirTemp("", "eddy")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "nfs.sock"))
	if err != nil {
		log.Fatal(err)
	}
	go s.Serve(l)
	defer s.Shutdown(context.Background())

	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(cat(conn, "hello.txt"))
	// Output: hello, neighbour
}
