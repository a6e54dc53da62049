package gate

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"eddy.example/internal/netns"
	"eddy.example/internal/tunpeer"
	"eddy.example/internal/xdppass"
	"eddy.example/xprt"
)

// network is what lies between the server and its clients.
type network struct {
	name     string
	copied   bool // the kernel says of every zero-copy send that it has copied
	vanishes bool // link.vanish exists
	open     func(t *testing.T) link
}

// link is a network that is there until its test ends.
type link struct {
	l      net.Listener
	dial   func() (conn, error)
	vanish func()      // the clients' host is gone from now on
	lost   func() bool // whether segments were lost, in both directions
}

// conn can also be reset.
type conn interface {
	net.Conn
	Abort() error
}

var networks = []network{
	{name: "tun", copied: true, vanishes: true, open: openTUN},
	{name: "loopback", copied: true, open: openLoopback},
	{name: "veth", vanishes: true, open: openVeth},
}

func openTUN(t *testing.T) link {
	p := tunpeer.New(t, tunpeer.Config{AckDelay: 40 * time.Millisecond, DropOneIn: 20, Seed: 1, MTU: 16000, RecvWindow: 2 << 20})
	l := p.Listen(t)
	return link{
		l:      l,
		dial:   func() (conn, error) { return p.Dial(context.Background(), l.Addr().String()) },
		vanish: p.Vanish,
		lost:   func() bool { return p.Stats().ToPeer.Dropped > 0 && p.Stats().FromPeer.Dropped > 0 },
	}
}

func openLoopback(t *testing.T) link {
	l, err := xprt.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return link{l: l, dial: func() (conn, error) { return dialTCP(l.Addr()) }}
}

func openVeth(t *testing.T) link {
	server, client := netns.New(t), netns.New(t)
	netns.Join(server, "eth0", "192.0.2.1/24", client, "eth0", "192.0.2.2/24")
	xdppass.Attach(t, client, "eth0")
	var l net.Listener
	err := server.Do(func() (err error) {
		l, err = xprt.Listen(t.Context(), "tcp", "192.0.2.1:0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	dial := func() (c conn, err error) {
		err = client.Do(func() error {
			c, err = dialTCP(l.Addr())
			return err
		})
		return c, err
	}
	return link{l: l, dial: dial, vanish: func() { client.IP("link", "set", "eth0", "down") }}
}

// tcpConn is a connection of the kernel's.
type tcpConn struct{ *net.TCPConn }

func dialTCP(addr net.Addr) (conn, error) {
	c, err := net.DialTCP("tcp", nil, addr.(*net.TCPAddr))
	if err != nil {
		return nil, err
	}
	return tcpConn{c}, nil
}

func (c tcpConn) Abort() error { return errors.Join(c.SetLinger(0), c.Close()) }

// tap is a client's end of a connection that counts what is read, and is kept
// from reading by who takes its permit.
type tap struct {
	net.Conn // not conn, whose other methods lead around the tap
	conn     conn
	permit   chan struct{} // of one element, if reading is allowed

	total   int64        // bytes read
	waiting atomic.Int64 // total while Read waits for more, else -1
}

func newTap(c conn) *tap {
	t := &tap{Conn: c, conn: c, permit: make(chan struct{}, 1)}
	t.waiting.Store(-1)
	t.resume()
	return t
}

func (t *tap) Read(b []byte) (int, error) {
	<-t.permit
	t.resume()
	t.waiting.Store(t.total)
	n, err := t.Conn.Read(b)
	t.waiting.Store(-1)
	t.total += int64(n)
	return n, err
}

// resume allows reading.
func (t *tap) resume() {
	select {
	case t.permit <- struct{}{}:
	default:
	}
}

func (t *tap) Close() error {
	defer t.resume()
	return t.Conn.Close()
}

// Abort resets the connection.
func (t *tap) Abort() error {
	defer t.resume()
	return t.conn.Abort()
}
