package rpc

import (
	"hash/maphash"

	"eddy.example/xprt"
)

// peer is what the server keeps of a connection, as its Attachment.
type peer struct {
	id      uint64
	queue   waitQueue
	placing callMessage // of the call that Place is asked about
}

// peerOf returns the peer of a connection, on its worker.
func (s *Server) peerOf(c *xprt.Conn) *peer {
	p, ok := c.Attachment.(*peer)
	if !ok {
		p = &peer{id: s.conns.Add(1)}
		c.Attachment = p
	}
	return p
}

// queueOf returns where a call of the connection waits. Every datagram has a
// Conn of its own; together they are one client to the waiting goroutines.
func (s *Server) queueOf(c *Call) *waitQueue {
	if c.Conn.Datagram() {
		return &s.datagrams
	}
	return &c.peer.queue
}

// peerKey says which client the call came from.
func (c *Call) peerKey(seed maphash.Seed) (k peerKey) {
	if addr := c.Conn.RemoteAddr().Addr(); addr.IsValid() {
		k.kind = peerAddr
		k.addr = addr.Unmap().As16()
		k.id = maphash.String(seed, addr.Zone())
		return k
	}
	if user, ok := c.Conn.Peer(); ok {
		k.kind = peerUser
		k.id = uint64(user.UID)
		return k
	}
	k.kind = peerConn
	k.id = c.peer.id
	if c.Conn.Datagram() {
		k.id = c.srv.conns.Add(1)
	}
	return k
}

// sameWay reports whether a reply to c goes where one to d goes.
func (c *Call) sameWay(d *Call) bool {
	if c.Conn.Datagram() {
		return d.Conn.Datagram() && c.Conn.RemoteAddr() == d.Conn.RemoteAddr()
	}
	return c.Conn == d.Conn
}
