package export

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"eddy.example/vfs"
)

type ownedBy uint32

func (o ownedBy) Owner() (uint32, bool) { return uint32(o), true }

// What is explained is what happens.
func TestExplainAgreesWithAdmit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		addrs := []string{"127.0.0.1", "::1", "192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1"}
		e := &Entry{Export: Export{
			Squash:        rapid.SampledFrom([]Squash{SquashRoot, SquashNone, SquashAll}).Draw(t, "squash"),
			AnonUID:       99,
			AnonGID:       98,
			InsecurePorts: rapid.Bool().Draw(t, "insecure"),
		}}
		if rapid.Bool().Draw(t, "has networks") {
			e.Networks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("::1/128")}
		}
		who := &Caller{
			Addr: netip.AddrPortFrom(netip.MustParseAddr(rapid.SampledFrom(addrs).Draw(t, "addr")),
				rapid.SampledFrom([]uint16{111, 1023, 1024, 50000}).Draw(t, "port")),
			Local:     rapid.Bool().Draw(t, "local"),
			Anonymous: rapid.Bool().Draw(t, "anonymous"),
			Cred: vfs.Cred{
				UID: rapid.SampledFrom([]uint32{0, 1000, invalidID}).Draw(t, "uid"),
				GID: rapid.SampledFrom([]uint32{0, 1000, invalidID}).Draw(t, "gid"),
			},
		}
		if rapid.Bool().Draw(t, "owner known") {
			who.Owner = ownedBy(rapid.SampledFrom([]uint32{0, 12345}).Draw(t, "owner"))
		}
		var c vfs.Call
		err := e.admit(&c, who)
		v := e.Explain(who)
		if v.Admitted != (err == nil) || v.Rule == "" {
			t.Fatalf("admitted: %v, explained: %+v", err, v)
		}
		if v.Admitted && (v.Cred.UID != c.Cred.UID || v.Cred.GID != c.Cred.GID || v.Identity == "") {
			t.Fatalf("identity %+v, explained: %+v", c.Cred, v)
		}
	})
}
