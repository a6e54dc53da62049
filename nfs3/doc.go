// Package nfs3 is NFS version 3 and the MOUNT protocol (RFC 1813): a server
// over the backends of package vfs, and a client.
//
// # Server
//
// A [Server] turns a table of exports into two programs for an rpc.Server:
//
//	table, err := export.NewTable(key, export.Export{Path: "/", FS: memfs.New(memfs.Config{})})
//	s := &nfs3.Server{Exports: table}
//	r := new(rpc.Server)
//	err = r.Register(s.NFS())
//	err = r.Register(s.Mount())
//	t := xprt.New(xprt.Config{}, r)
//	err = t.Serve(listener)
//
// Every procedure goes the same way: the arguments are decoded where they lie
// in the record, the export table finds the object and the caller's identity
// there, the backend does the work, and its answer is encoded straight into the
// reply.
//
//   - READ lends pages from the transport, the backend fills them, and the
//     head of the reply goes in front of them: the data are copied nowhere. A
//     backend that is a vfs.SegmentReader sends its own memory or a range of a file.
//   - WRITE is received so that the data lie at an address that equals the
//     file offset modulo the page size.
//   - READDIR and READDIRPLUS are one pager that encodes entries, as the backend
//     reports them, into lent pages.
//
// The server keeps nothing about its clients but the list of mounts that DUMP
// shows. A *call is what one request is worked on with; it is used again for the
// next one, so that GETATTR, ACCESS, READ, WRITE and COMMIT allocate nothing.
//
// # Attributes
//
// Attributes that a backend does not know are left out of the reply, never made
// up. Those "before" a change come from the change itself (vfs.Change) or not at
// all: clients rely on them to tell their own changes from others' (§2.6).
// Those after it are asked for if the change did not tell.
//
// # Blocking
//
// A call first runs on the event loop of its connection. Where the backend would
// have to wait (or does not say that it never does, see vfs.Waiter) it changes
// nothing, and the call runs once more on a goroutine that may wait.
//
// # MOUNT
//
// Versions 1 to 3 are answered. Versions 1 and 2 can only give handles of
// exactly 32 bytes; all others are refused there with status 22, and such a
// client has to use version 3.
//
// # Client
//
// A [Client] has a method for each procedure, and pipelines: any number of
// goroutines may call at once over the one connection.
//
//	c, err := nfs3.Dial(ctx, "tcp", "127.0.0.1:2049", &rpc.Cred{Flavor: rpc.AUTH_SYS}, rpc.ClientConfig{})
//	root, err := c.Mount(ctx, "/")
//	found, err := c.Lookup(ctx, root, "hello.txt")
//	res, err := c.Read(ctx, found.Resok.Object.Data, buf, 0)
package nfs3
