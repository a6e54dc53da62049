// Package mux carries many connections over one: each stream of a smux session
// is a net.Conn. It is for where only one connection is to be had, through a
// tunnel or a broker; on a network of one's own, connections are faster.
//
// A server serves the streams of all sessions that a listener accepts:
//
//	l, err := net.Listen("tcp", addr)
//	...
//	err = transport.Serve(mux.NewListener(l, mux.Config{}))
//
// A client opens a stream where it would dial:
//
//	session, err := mux.Dial(ctx, "tcp", addr, mux.Config{})
//	...
//	conn, err := session.Open()
//
// # Who looks at the memory
//
// Payloads are not copied: the memory given to [Stream.Write] is what the session's send loop
// hands to the connection below. When Write returns nil it has been written. When Write fails,
// by a deadline or because the stream was closed, part of it may still wait in the
// session and be sent later; [Stream.SendDone] tells when that can happen no more, at
// the latest with the end of the session. A session of which many writes have
// failed is ended for this reason.
package mux
