package rpcbind

import (
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// Entry says where a version of a program listens.
type Entry struct {
	Prog, Vers uint32

	// Network is the transport, as RFC 5665 §5.2.3 has it: "tcp", "udp", and
	// "tcp6", "udp6" for IPv6.
	Network string

	// Addr is where it listens. The unspecified address stands for all that
	// the machine has. A transport that is not of the Internet has none.
	Addr netip.AddrPort

	// Owner is the user: "superuser", or a number.
	Owner string
}

// Owner is the Entry.Owner of what this process serves.
func Owner() string {
	if uid := os.Geteuid(); uid != 0 {
		return strconv.Itoa(uid)
	}
	return "superuser"
}

// Listening returns the entries of a program's versions low to high that
// listen on a, a [net.TCPAddr] or [net.UDPAddr]; none for other addresses. The
// unspecified address of IPv6 stands for that of IPv4 too, as it does in
// package net.
func Listening(a net.Addr, prog, low, high uint32) []Entry {
	network := ""
	switch a.(type) {
	case *net.TCPAddr:
		network = "tcp"
	case *net.UDPAddr:
		network = "udp"
	default:
		return nil
	}
	ap := a.(interface{ AddrPort() netip.AddrPort }).AddrPort()
	ap = netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), ap.Port())
	at := []netip.AddrPort{ap}
	if ap.Addr() == netip.IPv6Unspecified() {
		at = []netip.AddrPort{netip.AddrPortFrom(netip.IPv4Unspecified(), ap.Port()), ap}
	}
	var list []Entry
	for _, ap := range at {
		for vers := low; vers <= high; vers++ {
			list = append(list, Entry{prog, vers, netid(network, ap.Addr()), ap, Owner()})
		}
	}
	return list
}

// netid is the transport that carries "tcp" or "udp" over addresses like ip.
func netid(network string, ip netip.Addr) string {
	if ip.Is6() {
		return network + "6"
	}
	return network
}

// question asks where a program listens.
type question struct {
	prog, vers uint32
	network    string

	exact bool       // another version of the program is no answer
	port  bool       // only the port is told: the address has to be local
	local netip.Addr // where the asker has reached this machine, if by an address
}

// at returns where the asker finds e: at local where e listens on all
// addresses. !ok means that it does not find it.
func (q *question) at(e *Entry) (a netip.AddrPort, ok bool) {
	ip := e.Addr.Addr()
	switch {
	case !q.local.IsValid() || q.local.IsUnspecified():
		return e.Addr, true
	case ip == q.local:
		return e.Addr, true
	case ip.IsUnspecified() && ip.Is4() == q.local.Is4():
		return netip.AddrPortFrom(q.local, e.Addr.Port()), true
	}
	return e.Addr, !q.port && !ip.IsUnspecified() && (!ip.IsLoopback() || q.local.IsLoopback())
}

// find answers q. If a program has not the version asked for another one will
// do, unless q is exact: the client learns from it which versions there are.
func (q *question) find(list []Entry) (found netip.AddrPort) {
	for i := range list {
		e := &list[i]
		if e.Prog != q.prog || e.Network != q.network || e.Vers != q.vers && (q.exact || found.IsValid()) {
			continue
		}
		a, ok := q.at(e)
		if !ok {
			continue
		}
		if found = a; e.Vers == q.vers {
			break
		}
	}
	return found
}

// rpcb is the entry as it stands in a message.
func (e *Entry) rpcb() Rpcb {
	r := Rpcb{RProg: e.Prog, RVers: e.Vers, RNetid: []byte(e.Network), ROwner: []byte(e.Owner)}
	if e.Addr.IsValid() {
		r.RAddr = AppendUaddr(nil, e.Addr)
	}
	return r
}

func entryOf(r *Rpcb) Entry {
	// What is no address here, the path of a socket for instance, is none.
	a, _ := ParseUaddr(string(r.RAddr))
	return Entry{Prog: r.RProg, Vers: r.RVers, Network: string(r.RNetid), Addr: a, Owner: string(r.ROwner)}
}

// mapping is the entry for version 2, which knows only TCP and UDP over IPv4.
func (e *Entry) mapping() (m Mapping, ok bool) {
	m = Mapping{Prog: e.Prog, Vers: e.Vers, Port: uint32(e.Addr.Port())}
	switch e.Network {
	case "tcp":
		m.Prot = IPPROTO_TCP
	case "udp":
		m.Prot = IPPROTO_UDP
	default:
		return m, false
	}
	return m, true
}

// networkOf is the network with the number prot; "" if it is another one.
func networkOf(prot uint32) string {
	switch prot {
	case IPPROTO_TCP:
		return "tcp"
	case IPPROTO_UDP:
		return "udp"
	}
	return ""
}

// detail is the entry, found at a, for GETADDRLIST.
func (e *Entry) detail(a netip.AddrPort) RpcbEntry {
	proto := strings.TrimSuffix(e.Network, "6")
	d := RpcbEntry{
		RMaddr:       AppendUaddr(nil, a),
		RNcNetid:     []byte(e.Network),
		RNcSemantics: NC_TPI_COTS_ORD,
		RNcProtofmly: []byte("inet"),
		RNcProto:     []byte(proto),
	}
	if proto == "udp" {
		d.RNcSemantics = NC_TPI_CLTS
	}
	if proto != e.Network {
		d.RNcProtofmly = []byte("inet6")
	}
	return d
}
