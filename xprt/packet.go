package xprt

import "eddy.example/bufpool"

type packetConn struct{}

func (p *packetConn) send(c *Conn, b []byte)                  {}
func (p *packetConn) sendParts(c *Conn, head, payload []byte) {}
func (p *packetConn) sendSegments(c *Conn, head []byte, segments []bufpool.Segment, pad int) {
}
func (p *packetConn) done(c *Conn)   {}
func (p *packetConn) open(w *worker) {}
func (p *packetConn) drain()         {}
