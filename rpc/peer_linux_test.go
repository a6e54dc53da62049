package rpc

import (
	"net"
	"testing"
)

// TestAddressesAreClients calls from two addresses of the loopback network,
// which only Linux has without being told.
func TestAddressesAreClients(t *testing.T) {
	p := newCounter()
	w := serve(t, new(Server), p)
	addr := w.listen()
	call := callBytes(1, toyProg, 2, procOnce)
	from := func(ip string) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
		c, err := d.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	wantReply(t, "one address", exchange(t, from("127.0.0.1"), call), run(1, 1))
	wantReply(t, "another one", exchange(t, from("127.0.0.2"), call), run(1, 2))
	wantReply(t, "the first one again", exchange(t, from("127.0.0.1"), call), run(1, 1))
}
