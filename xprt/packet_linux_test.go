package xprt

import (
	"net"
	"net/netip"
	"testing"
)

// TestPacketSource asks at different addresses of the host, and is answered from those.
func TestPacketSource(t *testing.T) {
	for _, bind := range []string{"0.0.0.0:0", "[::]:0"} {
		s := start(t, "", Config{Workers: 1}, &handler{record: func(r *Record) {
			r.SendSmall([]byte(r.Conn.LocalAddr().Addr().String()))
			r.Done()
		}})
		pc, err := net.ListenPacket("udp", bind)
		if err != nil {
			t.Fatal(err)
		}
		port := addrPort(pc.LocalAddr()).Port()
		s.served.Go(func() { s.ServePacket(pc) })

		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, host := range []string{"127.0.0.1", "127.0.0.2", "127.3.4.5"} {
			to := netip.AddrPortFrom(netip.MustParseAddr(host), port)
			if _, err := c.WriteToUDPAddrPort([]byte("where"), to); err != nil {
				t.Fatal(err)
			}
			b := make([]byte, 100)
			n, from, err := c.ReadFromUDPAddrPort(b)
			if err != nil || unmap(from) != to || string(b[:n]) != host {
				t.Errorf("asked at %v, answered from %v, which was told it is %s, %v", to, from, b[:n], err)
			}
		}
	}
}
