package tunpeer

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/waiter"

	"eddy.example/internal/netns"
)

// The two ends of the TUN device, from TEST-NET-2 (RFC 5737).
const (
	serverPrefix = "198.51.100.1/24"
	device       = "tun0"
	nic          = tcpip.NICID(1)
)

var (
	serverAddr = netip.MustParseAddr("198.51.100.1")
	peerAddr   = netip.MustParseAddr("198.51.100.2")
)

// Config says what kind of network lies between the server and the peer. The
// zero value is an undisturbed one.
type Config struct {
	// AckDelay is how long each packet from the peer, and so each ACK, is on
	// its way. Packets to the peer are not delayed: it is the round trip time.
	AckDelay time.Duration
	// DropOneIn loses, in each direction, one in so many TCP segments; 0 loses
	// none. Segments with SYN or RST always pass: losing them only costs
	// seconds, or the reset that the test wanted.
	DropOneIn int
	// Seed selects which segments are lost. Equal seeds lose the same ones,
	// counted per direction.
	Seed uint64
	// MTU of the TUN device in bytes, from 576 to 65535; 0 means 1500. See the
	// package comment for how it sets the pace of a lossy network.
	MTU int
	// RecvWindow is the peer's receive window in bytes: what the server may
	// have sent and the test has not read. 0 means 8 MiB. The same amount
	// written by the test is buffered by the peer's stack.
	RecvWindow int
}

// Peer is a host whose TCP is gVisor's. Its methods may be called from several
// goroutines.
type Peer struct {
	ns    *netns.NS
	stack *stack.Stack
	link  *link
}

// New starts a peer whose server side is a network namespace of its own. Both
// end with t. It needs root.
func New(t testing.TB, cfg Config) *Peer {
	t.Helper()
	if cfg.MTU == 0 {
		cfg.MTU = 1500
	}
	if cfg.RecvWindow == 0 {
		cfg.RecvWindow = 8 << 20
	}
	ns := netns.New(t)
	ns.AddTUN(device, serverPrefix)
	// The queue holds a whole window of small segments: only we lose any.
	ns.IP("link", "set", device, "mtu", fmt.Sprint(cfg.MTU), "txqueuelen", "20000")
	l, err := openLink(ns, cfg)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStack(l, cfg.RecvWindow)
	if err != nil {
		l.shut()
		t.Fatal(err)
	}
	l.start(func(err error) { t.Error(err) })
	t.Cleanup(func() {
		s.Destroy()
		l.shut()
	})
	return &Peer{ns: ns, stack: s, link: l}
}

func newStack(l *link, window int) (*stack.Stack, error) {
	s := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
	})
	// gVisor advertises half of its receive buffer; the rest is for overhead.
	rcv := tcpip.TCPReceiveBufferSizeRangeOption{Min: 1, Default: 2 * window, Max: 2 * window}
	snd := tcpip.TCPSendBufferSizeRangeOption{Min: 1, Default: window, Max: window}
	moderate := tcpip.TCPModerateReceiveBufferOption(false)
	addr := tcpip.ProtocolAddress{
		Protocol:          ipv4.ProtocolNumber,
		AddressWithPrefix: tcpip.AddrFromSlice(peerAddr.AsSlice()).WithPrefix(),
	}
	for _, err := range []tcpip.Error{
		s.SetTransportProtocolOption(tcp.ProtocolNumber, &rcv),
		s.SetTransportProtocolOption(tcp.ProtocolNumber, &snd),
		s.SetTransportProtocolOption(tcp.ProtocolNumber, &moderate),
		s.CreateNIC(nic, l),
		s.AddProtocolAddress(nic, addr, stack.AddressProperties{}),
	} {
		if err != nil {
			s.Destroy()
			return nil, fmt.Errorf("tunpeer: %s", err)
		}
	}
	s.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: nic}})
	return s, nil
}

// NS is the server's namespace. The server creates its listening socket in
// NS().Do; everything after that works on any goroutine.
func (p *Peer) NS() *netns.NS { return p.ns }

// Listen returns a listener on the server's side, on a port of its own and
// without MPTCP, whose sockets ignore MSG_ZEROCOPY. It is closed with t.
func (p *Peer) Listen(t testing.TB) net.Listener {
	t.Helper()
	var lc net.ListenConfig
	lc.SetMultipathTCP(false)
	var l net.Listener
	err := p.ns.Do(func() (err error) {
		l, err = lc.Listen(context.Background(), "tcp4", netip.AddrPortFrom(serverAddr, 0).String())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Dial connects the peer to addr, the Addr of a listener in the server's
// namespace or any "198.51.100.1:port".
func (p *Peer) Dial(ctx context.Context, addr string) (*Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("tunpeer: %w", err)
	}
	wq := new(waiter.Queue)
	ep, terr := p.stack.NewEndpoint(tcp.ProtocolNumber, ipv4.ProtocolNumber, wq)
	if terr != nil {
		return nil, fmt.Errorf("tunpeer: %s", terr)
	}
	entry, connected := waiter.NewChannelEntry(waiter.WritableEvents)
	wq.EventRegister(&entry)
	defer wq.EventUnregister(&entry)

	terr = ep.Connect(tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFromSlice(to.Addr().AsSlice()), Port: to.Port()})
	if _, started := terr.(*tcpip.ErrConnectStarted); started {
		select {
		case <-ctx.Done():
			ep.Close()
			return nil, fmt.Errorf("tunpeer: dial %s: %w", addr, context.Cause(ctx))
		case <-connected:
			terr = ep.LastError()
		}
	}
	if terr != nil {
		ep.Close()
		return nil, fmt.Errorf("tunpeer: dial %s: %s", addr, terr)
	}
	return &Conn{TCPConn: gonet.NewTCPConn(wq, ep), ep: ep}, nil
}

// Vanish takes the peer off the network: from now on packets are lost in both
// directions, those that are on their way included.
func (p *Peer) Vanish() { p.link.vanished.Store(true) }

// Heal brings the peer back. What was lost is up to the two TCPs.
func (p *Peer) Heal() { p.link.vanished.Store(false) }

// Stats returns what the network has done so far.
func (p *Peer) Stats() Stats {
	return Stats{ToPeer: p.link.toPeer.count(), FromPeer: p.link.fromPeer.count()}
}

// Stats counts TCP segments per direction.
type Stats struct{ ToPeer, FromPeer Count }

// Count is the fate of the segments of one direction.
type Count struct {
	Delivered int64
	Dropped   int64 // lost by Config.DropOneIn
	Vanished  int64 // lost between Vanish and Heal
}

// Conn is the peer's end of a connection, as good a net.Conn as any, with
// CloseRead and CloseWrite.
type Conn struct {
	*gonet.TCPConn
	ep tcpip.Endpoint
}

// Abort closes the connection with a reset (RST), which is on its way for
// Config.AckDelay like every packet.
func (c *Conn) Abort() error {
	c.ep.SocketOptions().SetLinger(tcpip.LingerOption{Enabled: true})
	return c.Close()
}
