package rpcbind

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"eddy.example/rpc"
)

func nobody(netip.Addr) bool  { return false }
func anybody(netip.Addr) bool { return true }

func call(t *testing.T, c *rpc.Client, vers, proc uint32, args rpc.Appender, res rpc.Consumer) error {
	t.Helper()
	return c.Call(t.Context(), RPCBPROG, vers, proc, nil, args, res)
}

func mustCall(t *testing.T, c *rpc.Client, vers, proc uint32, args rpc.Appender, res rpc.Consumer) {
	t.Helper()
	if err := call(t, c, vers, proc, args, res); err != nil {
		t.Errorf("version %d procedure %d: %v", vers, proc, err)
	}
}

func TestGetport(t *testing.T) {
	dial := serve(t, &Server{Entries: table})
	for _, network := range []string{"tcp", "udp", "pipe"} {
		c := dial(network)
		for _, tc := range []struct {
			args Mapping
			want word
		}{
			{Mapping{Prog: 100003, Vers: 3, Prot: IPPROTO_TCP}, 2049},
			{Mapping{Prog: 100003, Vers: 3, Prot: IPPROTO_TCP, Port: 99}, 2049},
			{Mapping{Prog: 100003, Vers: 3, Prot: IPPROTO_UDP}, 2050},
			{Mapping{Prog: 100003, Vers: 2, Prot: IPPROTO_TCP}, 2049},
			{Mapping{Prog: 100003, Vers: 3, Prot: 1}, 0},
			{Mapping{Prog: 7, Vers: 1, Prot: IPPROTO_TCP}, 700},
			{Mapping{Prog: 8, Vers: 1, Prot: IPPROTO_TCP}, 0},
		} {
			var port word
			mustCall(t, c, PMAPVERS, PMAPPROC_GETPORT, &tc.args, &port)
			if port != tc.want {
				t.Errorf("over %s: %+v is at %d, want %d", network, tc.args, port, tc.want)
			}
		}
	}
}

func TestGetaddr(t *testing.T) {
	dial := serve(t, &Server{Entries: table})
	for _, tc := range []struct {
		over string
		proc uint32
		args Rpcb
		want string
	}{
		{"tcp", RPCBPROC4_GETADDR, Rpcb{RProg: 100003, RVers: 3}, "127.0.0.1.8.1"},
		{"tcp", RPCBPROC4_GETADDR, Rpcb{RProg: 100003, RVers: 3, RNetid: []byte("udp")}, "127.0.0.1.8.1"}, // RFC 1833 §2.2.1: ignored
		{"udp", RPCBPROC4_GETADDR, Rpcb{RProg: 100003, RVers: 3, RNetid: []byte("tcp")}, "127.0.0.1.8.2"},
		{"pipe", RPCBPROC4_GETADDR, Rpcb{RProg: 100003, RVers: 3, RNetid: []byte("tcp")}, "0.0.0.0.8.1"},
		{"tcp", RPCBPROC4_GETADDR, Rpcb{RProg: 100003, RVers: 2}, "127.0.0.1.8.1"},
		{"tcp", RPCBPROC4_GETVERSADDR, Rpcb{RProg: 100003, RVers: 2}, ""},
		{"tcp", RPCBPROC4_GETVERSADDR, Rpcb{RProg: 100003, RVers: 4}, "127.0.0.1.8.3"},
		{"tcp", RPCBPROC4_GETADDR, Rpcb{RProg: 9}, ""},
	} {
		c := dial(tc.over)
		for vers := uint32(RPCBVERS); vers <= RPCBVERS4; vers++ {
			if vers == RPCBVERS && tc.proc == RPCBPROC4_GETVERSADDR {
				continue
			}
			var u owned[Uaddr, *Uaddr]
			mustCall(t, c, vers, tc.proc, &tc.args, &u)
			if string(u.v) != tc.want {
				t.Errorf("over %s, version %d: %+v is at %q, want %q", tc.over, vers, tc.args, u.v, tc.want)
			}
		}
	}
}

func TestLists(t *testing.T) {
	dial := serve(t, &Server{Entries: table, Lists: anybody})
	for _, network := range []string{"tcp", "udp"} {
		c := NewClient(dial(network))
		got, err := c.Dump(t.Context())
		if diff := cmp.Diff(table(), got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" || err != nil {
			t.Errorf("DUMP over %s: %v\n%s", network, err, diff)
		}
		got, err = c.dump2(t.Context())
		if err != nil || len(got) != 4 || got[1] != (Entry{100003, 3, "udp", addr("0.0.0.0:2050"), ""}) {
			t.Errorf("DUMP of version 2 over %s: %v, %v", network, got, err)
		}
		var list owned[RpcbEntryListPtr, *RpcbEntryListPtr]
		mustCall(t, c.rpc, RPCBVERS4, RPCBPROC4_GETADDRLIST, &Rpcb{RProg: 100003, RVers: 3}, &list)
		// That of IPv6 is of no use to someone who has come by IPv4.
		if len(list.v) != 2 || string(list.v[0].RpcbEntryMap.RMaddr) != "127.0.0.1.8.1" || string(list.v[1].RpcbEntryMap.RNcNetid) != "udp" {
			t.Errorf("GETADDRLIST over %s: %v", network, list.v)
		}
	}
}

// Nothing is done for others, and nothing is said to those who may not be who
// they seem.
func TestRefused(t *testing.T) {
	dial := serve(t, &Server{Entries: table, Lists: nobody})
	tcp, udp := dial("tcp"), dial("udp")
	for _, c := range []*rpc.Client{tcp, udp} {
		m, r := Mapping{Prog: 9, Vers: 1, Prot: IPPROTO_TCP, Port: 5}, Rpcb{RProg: 9, RVers: 1}
		for proc := uint32(PMAPPROC_SET); proc <= PMAPPROC_UNSET; proc++ {
			for vers, args := range map[uint32]rpc.Appender{PMAPVERS: &m, RPCBVERS: &r, RPCBVERS4: &r} {
				done := word(1)
				if mustCall(t, c, vers, proc, args, &done); done != 0 {
					t.Errorf("version %d procedure %d: done", vers, proc)
				}
			}
		}
	}
	for _, p := range [][2]uint32{
		{PMAPVERS, PMAPPROC_CALLIT}, {RPCBVERS, RPCBPROC_CALLIT}, {RPCBVERS4, RPCBPROC4_BCAST},
		{RPCBVERS4, RPCBPROC4_INDIRECT}, {RPCBVERS4, RPCBPROC4_GETSTAT}, {PMAPVERS, 6}, {RPCBVERS, 9}, {RPCBVERS4, 13},
	} {
		if err := call(t, tcp, p[0], p[1], nil, nil); !errors.Is(err, rpc.ErrProcUnavail) {
			t.Errorf("version %d procedure %d: %v", p[0], p[1], err)
		}
	}
	for vers := uint32(PMAPVERS); vers <= RPCBVERS4; vers++ {
		if err := call(t, udp, vers, RPCBPROC_CALLIT, nil, nil); !errors.Is(err, rpc.ErrTimeout) {
			t.Errorf("version %d, a call for others by a datagram: %v", vers, err)
		}
		if err := call(t, udp, vers, RPCBPROC_DUMP, nil, nil); !isAuthError(err) {
			t.Errorf("version %d, DUMP by a datagram: %v", vers, err)
		}
		if err := call(t, tcp, vers, RPCBPROC_DUMP, nil, nil); err != nil {
			t.Errorf("version %d, DUMP by a connection: %v", vers, err)
		}
	}
	if err := call(t, udp, RPCBVERS4, RPCBPROC4_GETADDRLIST, &Rpcb{}, nil); !isAuthError(err) {
		t.Errorf("GETADDRLIST by a datagram: %v", err)
	}
	_, err := serveNothing(t)
	if mismatch, ok := errors.AsType[*rpc.MismatchError](err); !ok || mismatch.Low != PMAPVERS || mismatch.High != RPCBVERS4 {
		t.Errorf("version 5: %v", err)
	}
}

func serveNothing(t *testing.T) (*rpc.Client, error) {
	c := serve(t, &Server{Entries: func() []Entry { return nil }})("pipe")
	return c, call(t, c, 5, RPCBPROC4_GETTIME, nil, nil)
}

// However much there is to tell, a list is bounded and has its end.
func TestLongList(t *testing.T) {
	many := make([]Entry, 5000)
	for i := range many {
		many[i] = Entry{uint32(i), 1, "udp", addr("0.0.0.0:2049"), "superuser"}
	}
	for i := range many[1000:] {
		many[1000+i].Prog = 77
	}
	dial := serve(t, &Server{Entries: func() []Entry { return many }, Lists: anybody})
	for network, max := range map[string]int{"tcp": maxList, "udp": maxDatagramList} {
		c := dial(network)
		var list owned[RpcblistPtr, *RpcblistPtr]
		mustCall(t, c, RPCBVERS4, RPCBPROC4_DUMP, nil, &list)
		var list2 owned[PmaplistPtr, *PmaplistPtr]
		mustCall(t, c, PMAPVERS, PMAPPROC_DUMP, nil, &list2)
		var list4 owned[RpcbEntryListPtr, *RpcbEntryListPtr]
		mustCall(t, c, RPCBVERS4, RPCBPROC4_GETADDRLIST, &Rpcb{RProg: 77, RVers: 1}, &list4)
		for _, n := range []int{list.v.SizeXDR(), list2.v.SizeXDR(), list4.v.SizeXDR()} {
			if n > max+4 || n < max-100 {
				t.Errorf("over %s: a list of %d bytes, want about %d", network, n, max)
			}
		}
	}
}

func TestConversions(t *testing.T) {
	c := serve(t, &Server{Entries: table, Clock: clock(1<<32 + 5)})("tcp")
	for vers := uint32(RPCBVERS); vers <= RPCBVERS4; vers++ {
		var now word
		if mustCall(t, c, vers, RPCBPROC_GETTIME, nil, &now); now != 5 {
			t.Errorf("version %d: the time is %d", vers, now)
		}
		for _, text := range []string{"192.0.2.1.8.1", "2001:db8::1.0.111"} {
			var n owned[Netbuf, *Netbuf]
			mustCall(t, c, vers, RPCBPROC_UADDR2TADDR, ptr(Uaddr(text)), &n)
			a, err := ParseUaddr(text)
			if want := appendTaddr(nil, a); err != nil || !bytes.Equal(n.v.Buf, want) || n.v.Maxlen != uint32(len(want)) {
				t.Errorf("version %d: %s is %x, want %x", vers, text, n.v.Buf, want)
			}
			var u owned[Uaddr, *Uaddr]
			mustCall(t, c, vers, RPCBPROC_TADDR2UADDR, &n.v, &u)
			if string(u.v) != text {
				t.Errorf("version %d: %x is %s, want %s", vers, n.v.Buf, u.v, text)
			}
		}
		n := owned[Netbuf, *Netbuf]{Netbuf{Buf: []byte("x")}}
		if mustCall(t, c, vers, RPCBPROC_UADDR2TADDR, ptr(Uaddr("here")), &n); len(n.v.Buf) != 0 {
			t.Errorf("version %d: no address is %x", vers, n.v.Buf)
		}
		u := owned[Uaddr, *Uaddr]{Uaddr("x")}
		if mustCall(t, c, vers, RPCBPROC_TADDR2UADDR, &Netbuf{Buf: []byte{1, 2}}, &u); len(u.v) != 0 {
			t.Errorf("version %d: no address is %q", vers, u.v)
		}
	}
}

func TestDaemon(t *testing.T) {
	d := NewDaemon(Server{Entries: table}, nil)
	l := listenTCP(t)
	done := make(chan error)
	go func() { done <- d.Serve(l) }()
	got, err := Dump(t.Context(), l.Addr().String())
	if err != nil || len(got) != 3+len(table()) {
		t.Fatalf("%v, %v", got, err)
	}
	at := addr(l.Addr().String())
	for i, e := range got[:3] {
		if e != (Entry{RPCBPROG, uint32(PMAPVERS + i), "tcp", at, Owner()}) {
			t.Errorf("the daemon itself: %v", e)
		}
	}
	port, err := GetPort(t.Context(), at.String(), 100003, 3, "udp")
	if port != 2050 || err != nil {
		t.Errorf("GETPORT: %d, %v", port, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("Serve ended without an error")
	}
}
