package rpcbind

import (
	"net"
	"net/netip"
	"slices"
	"testing"
)

func TestFind(t *testing.T) {
	for _, tc := range []struct {
		what  string
		q     question
		local string
		want  string // "" is nowhere
	}{
		{"everywhere", question{prog: 100003, vers: 3, network: "tcp"}, "192.0.2.1", "192.0.2.1:2049"},
		{"by datagrams", question{prog: 100003, vers: 3, network: "udp"}, "192.0.2.1", "192.0.2.1:2050"},
		{"over IPv6", question{prog: 100003, vers: 3, network: "tcp6"}, "2001:db8::5", "[2001:db8::5]:2049"},
		{"not over this network", question{prog: 100003, vers: 3, network: "udp6"}, "2001:db8::5", ""},
		{"the version asked for", question{prog: 100003, vers: 4, network: "tcp"}, "192.0.2.1", "192.0.2.1:2051"},
		{"another version", question{prog: 100003, vers: 9, network: "tcp"}, "192.0.2.1", "192.0.2.1:2049"},
		{"exactly one version", question{prog: 100003, vers: 9, network: "tcp", exact: true}, "192.0.2.1", ""},
		{"no such program", question{prog: 100004, vers: 3, network: "tcp"}, "192.0.2.1", ""},
		{"loopback from there", question{prog: 7, vers: 1, network: "tcp"}, "127.0.0.1", "127.0.0.1:700"},
		{"loopback from outside", question{prog: 7, vers: 1, network: "tcp"}, "192.0.2.1", ""},
		{"another address", question{prog: 7, vers: 1, network: "tcp6"}, "2001:db8::5", "[2001:db8::1]:701"},
		{"the port at another address", question{prog: 7, vers: 1, network: "tcp6", port: true}, "2001:db8::5", ""},
		{"the port at that address", question{prog: 7, vers: 1, network: "tcp6", port: true}, "2001:db8::1", "[2001:db8::1]:701"},
		{"inside the machine", question{prog: 100003, vers: 3, network: "tcp"}, "", "0.0.0.0:2049"},
		{"an unknown address", question{prog: 100003, vers: 3, network: "tcp"}, "0.0.0.0", "0.0.0.0:2049"},
	} {
		var want netip.AddrPort
		if tc.want != "" {
			want = addr(tc.want)
		}
		if tc.local != "" {
			tc.q.local = netip.MustParseAddr(tc.local)
		}
		if got := tc.q.find(table()); got != want {
			t.Errorf("%s: %v, want %v", tc.what, got, want)
		}
	}
}

func TestListening(t *testing.T) {
	me := Owner()
	for _, tc := range []struct {
		a    net.Addr
		want []Entry
	}{
		{net.TCPAddrFromAddrPort(addr("192.0.2.1:2049")), []Entry{
			{5, 2, "tcp", addr("192.0.2.1:2049"), me}, {5, 3, "tcp", addr("192.0.2.1:2049"), me},
		}},
		{net.UDPAddrFromAddrPort(addr("[2001:db8::1]:9")), []Entry{
			{5, 2, "udp6", addr("[2001:db8::1]:9"), me}, {5, 3, "udp6", addr("[2001:db8::1]:9"), me},
		}},
		{net.TCPAddrFromAddrPort(addr("[::]:9")), []Entry{
			{5, 2, "tcp", addr("0.0.0.0:9"), me}, {5, 3, "tcp", addr("0.0.0.0:9"), me},
			{5, 2, "tcp6", addr("[::]:9"), me}, {5, 3, "tcp6", addr("[::]:9"), me},
		}},
		{net.TCPAddrFromAddrPort(addr("[::ffff:192.0.2.1]:9")), []Entry{
			{5, 2, "tcp", addr("192.0.2.1:9"), me}, {5, 3, "tcp", addr("192.0.2.1:9"), me},
		}},
		{&net.UnixAddr{Name: "/run/x", Net: "unix"}, nil},
	} {
		if got := Listening(tc.a, 5, 2, 3); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.a, got, tc.want)
		}
	}
}
