package xprt

import (
	"context"
	"net"
	"net/netip"
)

// describe takes over what nc says about itself.
func (c *Conn) describe(nc net.Conn) {
	c.network = networkOf(nc)
	c.local, c.remote = addrPort(nc.LocalAddr()), addrPort(nc.RemoteAddr())
	if u, ok := nc.(*net.UnixConn); ok {
		c.peer, c.hasPeer = peerOf(u)
	}
}

func networkOf(nc net.Conn) string {
	switch n := nc.(type) {
	case interface{ Network() string }:
		return n.Network()
	case interface{ HandshakeContext(context.Context) error }:
		return "tls"
	case *net.UnixConn:
		return "unix"
	}
	if a := nc.LocalAddr(); a != nil {
		return a.Network()
	}
	return ""
}

// addrPort returns the address, IPv4 always as such, or the zero AddrPort.
func addrPort(a net.Addr) netip.AddrPort {
	if a, ok := a.(interface{ AddrPort() netip.AddrPort }); ok {
		return unmap(a.AddrPort())
	}
	return netip.AddrPort{}
}

func unmap(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}
