package xprt

import (
	"net"
	"net/netip"
)

// queuedReplies is how many replies wait at most for a socket that is written by
// its own goroutine.
const queuedReplies = 64

// portablePacket is the portable packetLink: a net.PacketConn that one
// goroutine reads and another one writes.
type portablePacket struct {
	p  *packetConn
	pc net.PacketConn

	// The reader's, and between a packet and the worker's answer on taken the worker's.
	buf   []byte
	from  portableOrigin
	taken chan struct{} // capacity 1

	writes chan packetReply
	spare  chan []byte // buffers for replies

	// The worker's.
	closed     bool
	unread     bool // a packet waits in buf
	n          int  // its size
	goroutines int
}

// portableOrigin is where a datagram came from, as the standard library has it.
type portableOrigin struct {
	addr  netip.AddrPort
	other net.Addr // of a pc that is not UDP
}

type packetReply struct {
	b  []byte
	to portableOrigin
}

func newPortablePacket(p *packetConn, pc net.PacketConn) *portablePacket {
	return &portablePacket{
		p:      p,
		pc:     pc,
		buf:    make([]byte, maxPacket),
		taken:  make(chan struct{}, 1),
		writes: make(chan packetReply, queuedReplies),
		spare:  make(chan []byte, queuedReplies),
	}
}

func (s *portablePacket) open(*packetConn) error {
	s.goroutines = 2
	go s.reader()
	go s.writer()
	return nil
}

func (s *portablePacket) reader() {
	u, isUDP := s.pc.(*net.UDPConn)
	for {
		var n int
		var err error
		if isUDP {
			n, s.from.addr, err = u.ReadFromUDPAddrPort(s.buf)
		} else {
			n, s.from.other, err = s.pc.ReadFrom(s.buf)
		}
		s.post(evPacketRead, n, err)
		if err != nil {
			break
		}
		<-s.taken
	}
	s.post(evPacketGone, 0, nil)
}

func (s *portablePacket) writer() {
	u, isUDP := s.pc.(*net.UDPConn)
	for r := range s.writes {
		// What cannot be sent is lost, as it may be in the network.
		if isUDP {
			u.WriteToUDPAddrPort(r.b, r.to.addr)
		} else {
			s.pc.WriteTo(r.b, r.to.other)
		}
		select {
		case s.spare <- r.b:
		default:
		}
	}
	s.pc.Close()
	s.post(evPacketGone, 0, nil)
}

func (s *portablePacket) post(kind eventKind, n int, err error) {
	s.p.w.post(event{kind: kind, packet: s.p, n: n, err: err})
}

// event takes what the goroutines say.
func (s *portablePacket) event(e *event) {
	switch {
	case e.kind == evPacketGone:
		if s.goroutines--; s.goroutines == 0 {
			s.p.over()
		}
	case e.err != nil:
		if !s.p.draining { // else it is the end that was asked for
			s.p.fail(e.err)
		}
	case s.closed:
		s.taken <- struct{}{} // for nobody
	default:
		s.unread, s.n, s.p.ready = true, e.n, true
		s.p.schedule()
	}
}

func (s *portablePacket) receive(p *packetConn) {
	if !s.unread || !p.mayRead() {
		return
	}
	s.unread, p.ready = false, false
	c := p.conn()
	o, _ := c.origin.(*portableOrigin)
	if o == nil {
		o = new(portableOrigin)
		c.origin = o
	}
	*o = s.from
	c.remote, c.local = unmap(o.addr), addrPort(s.pc.LocalAddr())
	if o.other != nil {
		c.remote = addrPort(o.other)
	}
	p.arrived(c, s.buf[:s.n])
	s.taken <- struct{}{}
}

func (s *portablePacket) send(c *Conn, head, payload []byte) bool {
	var b []byte
	select {
	case b = <-s.spare:
	default:
		b = make([]byte, 0, maxDatagram)
	}
	b = append(append(b[:0], head...), payload...)
	select {
	case s.writes <- packetReply{b, *c.origin.(*portableOrigin)}:
		return true
	default:
		return false
	}
}

func (s *portablePacket) close(*packetConn) {
	s.closed = true
	close(s.writes)
	if s.unread {
		s.unread = false
		s.taken <- struct{}{}
	}
}
