package xprt

import (
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// packetBuffer is how many bytes a socket should hold in each direction.
const packetBuffer = 1 << 20

// origin is where a datagram came from and was sent to, as the kernel has it.
type origin struct {
	name    unix.RawSockaddrInet6
	control [64]byte
	n       int // bytes of control
}

// packetSock is a UDP socket that is the worker's own.
type packetSock struct {
	p     *packetConn
	fd    int
	slot  int32
	local netip.AddrPort // that it is bound to
}

// adoptPacket takes the socket over, and closes pc. It returns nil if it is not one
// that a worker can have.
func adoptPacket(pc net.PacketConn) (packetLink, error) {
	u, ok := pc.(*net.UDPConn)
	if !ok || u.RemoteAddr() != nil {
		return nil, nil
	}
	fd, err := dup(u)
	if err != nil {
		return nil, fmt.Errorf("taking over a socket: %w", err)
	}
	s := &packetSock{fd: fd, local: addrPort(u.LocalAddr())}
	u.Close()
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, packetBuffer)
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, packetBuffer)
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	switch {
	case err != nil:
	case domain == unix.AF_INET6:
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
	default:
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("asking for the destination of datagrams: %w", err)
	}
	return s, nil
}

func (s *packetSock) open(p *packetConn) (err error) {
	s.p = p
	s.slot, err = p.w.poll.watch(s, s.fd)
	return err
}

func (s *packetSock) event(uint32) {
	s.p.ready = true
	s.p.schedule()
}

func (s *packetSock) receive(p *packetConn) {
	w := p.w
	b := w.datagram[:maxPacket]
	for range packetsPerTurn {
		if !p.mayRead() {
			return
		}
		w.counters.sysReceive.Add(1)
		n, from, errno := w.sys.recvfrom(s.fd, b)
		switch errno {
		case 0:
		case unix.EAGAIN:
			p.ready = false
			return
		case unix.EINTR:
			continue
		default:
			p.fail(errno)
			return
		}
		c := p.conn()
		c.remote, c.local = from, s.local
		s.keep(c)
		p.arrived(c, b[:n])
	}
	p.schedule()
}

// keep notes where the datagram just received came from and was sent to.
func (s *packetSock) keep(c *Conn) {
	sys := &s.p.w.sys
	o, _ := c.origin.(*origin)
	if o == nil {
		o = new(origin)
		c.origin = o
	}
	o.name, o.n = sys.name, 0
	for b := sys.controls(); len(b) > 0; {
		level, kind, data, rest := nextControl(b)
		whole := b[:len(b)-len(rest)]
		b = rest
		var local netip.Addr
		switch {
		case level == unix.IPPROTO_IP && kind == unix.IP_PKTINFO && len(data) >= unix.SizeofInet4Pktinfo:
			// Answer from the address that the kernel takes for its own, by
			// whatever interface leads back.
			clear(data[:4])
			local = netip.AddrFrom4([4]byte(data[4:8]))
		case level == unix.IPPROTO_IPV6 && kind == unix.IPV6_PKTINFO && len(data) >= unix.SizeofInet6Pktinfo:
			local = netip.AddrFrom16([16]byte(data[:16]))
			if local.IsMulticast() {
				continue
			}
			if !local.IsLinkLocalUnicast() {
				clear(data[16:20])
			}
		default:
			continue
		}
		o.n = copy(o.control[:], whole)
		c.local = netip.AddrPortFrom(local.Unmap(), s.local.Port())
	}
}

func (s *packetSock) send(c *Conn, head, payload []byte) bool {
	sys, o := &s.p.w.sys, c.origin.(*origin)
	for {
		sys.gather()
		sys.add(head)
		if len(payload) > 0 {
			sys.add(payload)
		}
		s.p.w.counters.sysSend.Add(1)
		switch sys.sendto(s.fd, &o.name, o.control[:o.n]) {
		case 0:
			s.p.w.counters.sendCopy.Add(1)
			return true
		case unix.EINTR:
		default:
			return false
		}
	}
}

func (s *packetSock) close(p *packetConn) {
	unix.Close(s.fd)
	p.w.poll.unwatch(s.slot)
	p.over()
}
