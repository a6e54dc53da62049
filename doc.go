// Package eddy serves NFS from a Go program, in the manner of net/http.
//
//	fs := memfs.New(memfs.Config{})
//	s := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: fs}}}
//	log.Fatal(s.ListenAndServe())
//
// A [Server] is a struct of plain fields. It serves NFSv3 and the MOUNT
// protocol on one port, over TCP and UDP, and over any listener, connection or
// packet connection it is given. Several servers may live in one process.
//
// What is served is a backend, package vfs: six methods are enough to serve
// files, and each further one-method interface that a backend implements
// adds what NFS can do with it. vfs/memfs and vfs/iofs are ready to use.
//
// The defaults are safe ones: only clients of this machine, root squashed,
// ports below 1024 or a socket that the kernel says belongs to root or to the
// server's own user. An [Export] says what else is allowed.
//
// [Server.Status] tells what a server is doing, for people and for programs;
// package metrics shows it to Prometheus and as a page. [Server.Reload] changes
// the exports under clients that have them mounted.
//
// Replies leave from pages that each worker keeps and uses again only when
// the kernel has let go of them; package bufpool tells how.
package eddy
