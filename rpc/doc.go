// Package rpc is ONC RPC version 2, RFC 5531: messages, dispatch to programs,
// the reply cache, and a client.
//
// # Serving
//
// A [Server] is a set of programs. It is the handler of a transport, which
// brings it records and takes its replies:
//
//	server := new(rpc.Server)
//	server.Register(program)
//	transport := xprt.New(xprt.Config{}, server)
//	go transport.Serve(listener)
//	...
//	transport.Shutdown(ctx) // answers what has arrived
//	server.Shutdown(ctx)
//
// A [Program] says which procedures it has and serves calls. A procedure
// decodes its arguments where they lie and appends its results:
//
//	func (p *program) Serve(c *rpc.Call) error {
//		n, _, err := xdr.ConsumeUint32(c.Args)
//		if err != nil {
//			return rpc.ErrGarbageArgs
//		}
//		c.Reply(xdr.AppendUint32(c.Results(4), n+1))
//		return nil
//	}
//
// Whatever else can become of a call is the server's: it answers procedure 0,
// for whoever asks, and every call that cannot be served with the reply that
// RFC 5531 has for it.
// A message that is no call cannot be answered. A stream that brings one is
// ended, since nothing on it can be trusted; a datagram, and a reply that
// nobody has asked for, are ignored.
//
// # Event loops and waiting
//
// A call runs on its transport's event loop first, with Call.MayWait false.
// There a procedure may do anything but wait. One that would have to returns
// [ErrWouldBlock], with nothing changed, and is run again with MayWait on one
// of a bounded number of goroutines, which connections share fairly. So a call
// that waits delays no other, on its own connection or elsewhere.
//
// Memory for large results is lent by [Call.Pages]; it goes to the kernel
// without being copied. [Call.ReplySegments] sends memory of the program's own,
// or ranges of files.
//
// [Server.Calls] lists the calls that wait, with their ages, and an [Observer]
// sees all of them begin and end.
//
// # Calls that must not run twice
//
// A client that gets no reply asks again, often over another connection. The
// calls of a procedure that is [Proc.Cached] are remembered with their replies,
// by client address without port, identity, XID, procedure and arguments: one
// that comes again is answered as the first time, and one that comes again
// while the first is running is answered when that ends. Somebody else never
// sees the reply. Calls that change something run to their end even if their
// connection does not.
//
// # Calling
//
// A [Client] calls over one connection, with any number of calls on their way:
//
//	client := rpc.NewClient(conn, rpc.ClientConfig{})
//	defer client.Close()
//	err := client.Call(ctx, prog, vers, proc, nil, &args, &results)
//
// The payload of a WRITE is sent from the caller's memory and that of a READ
// received into it: [Client.CallSend], [Client.CallReceive].
package rpc
