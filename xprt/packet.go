package xprt

import (
	"net"
	"net/netip"
	"time"

	"eddy.example/bufpool"
)

const (
	// maxPacket is the largest datagram.
	maxPacket = 64 << 10

	// packetsPerTurn bounds how many are received before it is the turn of others.
	packetsPerTurn = 64
)

// packetConn is a socket for datagrams: each one that comes is a record, and its reply goes
// to where it came from. Replies that find no space are dropped, as the network may drop them.
type packetConn struct {
	w       *worker
	link    packetLink
	ended   chan struct{}
	err     error // why it has ended; read after that
	network string
	local   netip.AddrPort

	// An account, of what has come and of what has been sent.
	since, called           time.Time
	records, received, sent int64

	free      *Conn // to be used again, linked by Conn.nextFree
	calls     int
	draining  bool
	ready     bool // there may be more to receive
	scheduled bool // in worker.ready
}

// packetLink is how datagrams travel. All methods are called by the worker, and none
// blocks.
type packetLink interface {
	open(p *packetConn) error

	// receive reads datagrams and calls packetConn.arrived for each, until there are
	// none or it has been the turn of this socket for long enough.
	receive(p *packetConn)

	// send sends head and payload to where c is, and reports whether it could.
	send(c *Conn, head, payload []byte) bool

	// close ends it. The link calls packetConn.over then.
	close(p *packetConn)
}

// ServePacket answers datagrams that come to pc until it fails or the transport is closed, when
// it returns ErrClosed. It closes pc. Replies come from the address that was asked, on Linux
// also if pc is bound to none in particular.
func (t *Transport) ServePacket(pc net.PacketConn) error {
	if !t.enter() {
		pc.Close()
		return t.closedErr()
	}
	p := &packetConn{w: t.pick(), ended: make(chan struct{}), local: addrPort(pc.LocalAddr()), network: pc.LocalAddr().Network()}
	var err error
	if !t.cfg.portable {
		p.link, err = adoptPacket(pc)
	}
	if err != nil {
		pc.Close()
		t.leave()
		return err
	}
	if p.link == nil {
		p.link = newPortablePacket(p, pc)
	}
	p.w.load.Add(1)
	p.w.post(event{kind: evPacket, packet: p})
	<-p.ended
	return p.err
}

func (p *packetConn) open() {
	p.w.packets = append(p.w.packets, p)
	p.since = p.w.now
	if p.w.datagram == nil {
		p.w.datagram = make([]byte, 0, maxPacket)
	}
	if err := p.link.open(p); err != nil {
		p.fail(err)
	} else if p.w.t.closing.Load() {
		p.drain()
	}
}

// mayRead reports whether another datagram may be received.
func (p *packetConn) mayRead() bool {
	return !p.draining && p.calls < p.w.t.cfg.MaxCalls
}

func (p *packetConn) schedule() {
	if !p.scheduled {
		p.scheduled = true
		p.w.ready = append(p.w.ready, p)
	}
}

// turn gives the socket its share of the worker.
func (p *packetConn) turn() {
	p.scheduled = false
	if p.mayRead() {
		p.link.receive(p)
	}
}

// conn returns a Conn for a datagram.
func (p *packetConn) conn() *Conn {
	c := p.free
	if c == nil {
		return &Conn{w: p.w, packet: p, network: p.network, ctx: p.w.t.ctx}
	}
	p.free, c.nextFree = c.nextFree, nil
	return c
}

// arrived delivers a datagram from where c is. b is copied.
func (p *packetConn) arrived(c *Conn, b []byte) {
	w := p.w
	p.calls++
	p.called = w.now
	p.records++
	p.received += int64(len(b))
	if len(b) == 0 || !w.t.received.reserve(int64(len(b))) {
		p.release(c) // its sender will ask again
		return
	}
	var place Placement
	if len(b) > headSize {
		place = w.t.handler.Place(c, b[:headSize], len(b)).check(len(b))
	}
	buf := w.store.get(place.placedSize(len(b)))
	start := place.place(buf.mem)
	buf.charged = len(b)
	c.received += len(b)
	n := copy(buf.mem[start:], b)
	w.deliver(c, buf, buf.mem[start:start+n], n-place.At)
}

// done is called when the record of c is.
func (p *packetConn) done(c *Conn) { p.release(c) }

func (p *packetConn) release(c *Conn) {
	c.nextFree, p.free = p.free, c
	p.calls--
	if p.draining && p.calls == 0 {
		p.link.close(p)
	} else if p.ready && p.mayRead() {
		p.schedule()
	}
}

// send sends a reply to where c is, or drops it.
func (p *packetConn) send(c *Conn, head, payload []byte) {
	n := len(head) + len(payload)
	if n == 0 || n > maxDatagram || !p.link.send(c, head, payload) {
		p.w.counters.lost.Add(1)
		return
	}
	p.w.counters.sent.Add(int64(n))
	p.sent += int64(n)
}

// sendSegments is send for segments, which are copied.
func (p *packetConn) sendSegments(c *Conn, head []byte, segments []bufpool.Segment, pad int) {
	b := append(p.w.datagram[:0], head...)
	for i := range segments {
		s := &segments[i]
		n := len(b)
		if n+s.Size() > maxDatagram {
			p.w.counters.lost.Add(1)
			return
		}
		if s.File == nil {
			b = append(b, s.Mem...)
			continue
		}
		b = b[:n+s.Len]
		if k, _ := s.File.ReadAt(b[n:], s.Off); k < s.Len {
			p.w.counters.lost.Add(1)
			return
		}
	}
	var zeros [4]byte
	p.send(c, append(b, zeros[:pad]...), nil)
}

// drain ends the socket when all that was asked is answered.
func (p *packetConn) drain() {
	if !p.draining {
		p.draining = true
		if p.calls == 0 {
			p.link.close(p)
		}
	}
}

func (p *packetConn) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.drain()
}

// over is called by the link when nothing is left of it.
func (p *packetConn) over() {
	w := p.w
	for i := range w.packets {
		if w.packets[i] == p {
			w.packets = append(w.packets[:i], w.packets[i+1:]...)
			break
		}
	}
	if p.err == nil {
		p.err = ErrClosed
	}
	w.load.Add(-1)
	close(p.ended)
	w.t.leave()
}
