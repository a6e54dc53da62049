package export

import (
	"net/netip"
	"slices"
	"testing"

	"eddy.example/vfs"
)

func TestAdmission(t *testing.T) {
	site := []netip.Prefix{netip.MustParsePrefix("192.0.2.7/24"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("::ffff:198.51.100.0/120")}
	for _, tc := range []struct {
		name     string
		networks []netip.Prefix
		insecure bool
		addr     string
		want     bool
	}{
		{"loopback by default", nil, false, "127.0.0.1:700", true},
		{"loopback 6 by default", nil, false, "[::1]:1023", true},
		{"loopback in IPv6 by default", nil, false, "[::ffff:127.0.0.1]:700", true},
		{"nobody else by default", nil, false, "192.0.2.1:700", false},
		{"high port", nil, false, "127.0.0.1:1024", false},
		{"high port allowed", nil, true, "127.0.0.1:1024", true},
		{"high port allowed, wrong network", nil, true, "192.0.2.1:1024", false},
		{"network", site, false, "192.0.2.200:700", true},
		{"network, IPv4 in IPv6", site, false, "[::ffff:192.0.2.200]:700", true},
		{"network written as IPv4 in IPv6", site, false, "198.51.100.3:700", true},
		{"network 6", site, false, "[2001:db8::1]:700", true},
		{"network 6 with zone", site, false, "[2001:db8::1%eth0]:700", true},
		{"outside", site, false, "192.0.3.1:700", false},
		{"loopback is not among the networks", site, false, "127.0.0.1:700", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, err := newEntry(Export{Path: "/", FS: stub{}, Networks: tc.networks, InsecurePorts: tc.insecure})
			if err != nil {
				t.Fatal(err)
			}
			who := Caller{Addr: netip.MustParseAddrPort(tc.addr)}
			err = e.admit(new(vfs.Call), &who, nil)
			if (err == nil) != tc.want || err != nil && err != vfs.ErrAccess {
				t.Errorf("%v, want admitted: %v", err, tc.want)
			}
		})
	}
}

func TestAdmissionWithoutAddress(t *testing.T) {
	e, err := newEntry(Export{Path: "/", FS: stub{}, Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}, InsecurePorts: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.admit(new(vfs.Call), &Caller{}, nil); err != vfs.ErrAccess {
		t.Errorf("the zero Caller: %v, want %v", err, vfs.ErrAccess)
	}
	if err := e.admit(new(vfs.Call), &Caller{Local: true}, nil); err != nil {
		t.Errorf("a local one: %v", err)
	}
}

func TestAllowPort(t *testing.T) {
	e, err := newEntry(Export{Path: "/", FS: stub{}})
	if err != nil {
		t.Fatal(err)
	}
	var asked []netip.AddrPort
	allow := func(a netip.AddrPort) bool { asked = append(asked, a); return a.Port() == 5000 }
	for _, tc := range []struct {
		addr string
		want error
	}{
		{"127.0.0.1:5000", nil},
		{"127.0.0.1:5001", vfs.ErrAccess},
		{"127.0.0.1:600", nil},            // not asked: its port is low
		{"192.0.2.1:5000", vfs.ErrAccess}, // not asked: it may not come at all
	} {
		if err := e.admit(new(vfs.Call), &Caller{Addr: netip.MustParseAddrPort(tc.addr)}, allow); err != tc.want {
			t.Errorf("%s: %v, want %v", tc.addr, err, tc.want)
		}
	}
	want := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:5000"), netip.MustParseAddrPort("127.0.0.1:5001")}
	if !slices.Equal(asked, want) {
		t.Errorf("asked about %v, want %v", asked, want)
	}
}

func TestSquash(t *testing.T) {
	root := vfs.Cred{UID: 0, GID: 0, Groups: []uint32{0, 5, invalidID}}
	user := vfs.Cred{UID: 1000, GID: 100, Groups: []uint32{4, 0}}
	for _, tc := range []struct {
		name   string
		export Export
		caller Caller
		want   vfs.Cred
	}{
		{"root by default", Export{}, Caller{Cred: root}, vfs.Cred{UID: Nobody, GID: Nobody, Groups: []uint32{Nobody, 5, Nobody}}},
		{"user by default", Export{}, Caller{Cred: user}, vfs.Cred{UID: 1000, GID: 100, Groups: []uint32{4, Nobody}}},
		{"root to others", Export{AnonUID: 7, AnonGID: 8}, Caller{Cred: root}, vfs.Cred{UID: 7, GID: 8, Groups: []uint32{8, 5, 8}}},
		{"none, root", Export{Squash: SquashNone}, Caller{Cred: root}, vfs.Cred{UID: 0, GID: 0, Groups: []uint32{0, 5, Nobody}}},
		{"none, user -1", Export{Squash: SquashNone}, Caller{Cred: vfs.Cred{UID: invalidID, GID: invalidID}}, vfs.Cred{UID: Nobody, GID: Nobody}},
		{"none, anonymous", Export{Squash: SquashNone}, Caller{Anonymous: true, Cred: root}, vfs.Cred{UID: Nobody, GID: Nobody}},
		{"all", Export{Squash: SquashAll}, Caller{Cred: user}, vfs.Cred{UID: Nobody, GID: Nobody}},
		{"all to others", Export{Squash: SquashAll, AnonUID: 7, AnonGID: 8}, Caller{Cred: user}, vfs.Cred{UID: 7, GID: 8}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.export.Path, tc.export.FS = "/", stub{}
			e, err := newEntry(tc.export)
			if err != nil {
				t.Fatal(err)
			}
			claimed := slices.Clone(tc.caller.Cred.Groups)
			tc.caller.Local = true
			// A Call that is used again has the groups of the one before.
			c := &vfs.Call{Cred: vfs.Cred{UID: 1, GID: 1, Groups: []uint32{1, 2, 3, 4, 5}}}
			if err := e.admit(c, &tc.caller, nil); err != nil {
				t.Fatal(err)
			}
			if c.Cred.UID != tc.want.UID || c.Cred.GID != tc.want.GID || !slices.Equal(c.Cred.Groups, tc.want.Groups) {
				t.Errorf("%+v, want %+v", c.Cred, tc.want)
			}
			if !slices.Equal(tc.caller.Cred.Groups, claimed) {
				t.Error("the caller's own groups changed")
			}
		})
	}
}
