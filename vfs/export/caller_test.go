package export

import (
	"net/netip"
	"os"
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
			err = e.admit(new(vfs.Call), &who)
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
	if err := e.admit(new(vfs.Call), &Caller{}); err != vfs.ErrAccess {
		t.Errorf("the zero Caller: %v, want %v", err, vfs.ErrAccess)
	}
	if err := e.admit(new(vfs.Call), &Caller{Local: true}); err != nil {
		t.Errorf("a local one: %v", err)
	}
}

// owners knows some sockets' owners, and which it was asked about.
type owners struct {
	uid   uint32
	known bool
	asked int
}

func (o *owners) Owner() (uint32, bool) {
	o.asked++
	return o.uid, o.known
}

func TestOwnerOfAHighPort(t *testing.T) {
	e, err := newEntry(Export{Path: "/", FS: stub{}})
	if err != nil {
		t.Fatal(err)
	}
	self := uint32(os.Geteuid())
	for _, tc := range []struct {
		addr  string
		owner owners
		want  error
		asked int
	}{
		{"127.0.0.1:5000", owners{uid: 0, known: true}, nil, 1},
		{"127.0.0.1:5000", owners{uid: self, known: true}, nil, 1},
		{"127.0.0.1:5000", owners{uid: self + 1, known: true}, vfs.ErrAccess, 1},
		{"127.0.0.1:5000", owners{}, vfs.ErrAccess, 1},
		{"[::ffff:127.0.0.1]:5000", owners{uid: 0, known: true}, nil, 1},
		{"127.0.0.1:600", owners{}, nil, 0},
		{"192.0.2.1:5000", owners{uid: 0, known: true}, vfs.ErrAccess, 0},
	} {
		who := Caller{Addr: netip.MustParseAddrPort(tc.addr), Owner: &tc.owner}
		if err := e.admit(new(vfs.Call), &who); err != tc.want || tc.owner.asked != tc.asked {
			t.Errorf("%s, %+v: %v, want %v and the owner asked for %d times", tc.addr, tc.owner, err, tc.want, tc.asked)
		}
	}
	remote := Export{Path: "/", FS: stub{}, Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}
	if e, err = newEntry(remote); err != nil {
		t.Fatal(err)
	}
	who := Caller{Addr: netip.MustParseAddrPort("192.0.2.1:5000"), Owner: &owners{known: true}}
	if err := e.admit(new(vfs.Call), &who); err != vfs.ErrAccess {
		t.Errorf("from another host: %v, want %v", err, vfs.ErrAccess)
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
			if err := e.admit(c, &tc.caller); err != nil {
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
