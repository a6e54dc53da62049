package rpc

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// checkBody checks an AUTH_SYS credential with the body given in hexadecimal.
func checkBody(t testing.TB, body string) (Cred, AuthStat) {
	var c Cred
	var gids [maxGIDs]uint32
	stat := c.check(&callMessage{cred: OpaqueAuth{Flavor: AUTH_SYS, Body: hexBytes(t, body)}}, &gids)
	return c, stat
}

func TestAuthSys(t *testing.T) {
	c, stat := checkBody(t, `
		01020304           // stamp
		00000003 61626300  // machine name
		000003e8 00000064  // uid, gid
		00000002 00000065 00000066`)
	want := Cred{Flavor: AUTH_SYS, UID: 1000, GID: 100, GIDs: []uint32{101, 102}, Machine: []byte("abc"), Stamp: 0x01020304}
	if diff := cmp.Diff(want, c); stat != AUTH_OK || diff != "" {
		t.Errorf("%v, credential (-want +got):\n%s", stat, diff)
	}
}

func TestAuthSysBounds(t *testing.T) {
	zeros := func(words int) string { return strings.Repeat("00000000 ", words) }
	for _, test := range []struct {
		name, body string
		want       AuthStat
	}{
		{"shortest", zeros(5), AUTH_OK},
		{"empty", "", AUTH_BADCRED},
		{"cut off in the stamp", "000000", AUTH_BADCRED},
		{"cut off in the ids", zeros(3), AUTH_BADCRED},
		{"cut off before the groups", zeros(4), AUTH_BADCRED},
		{"name of 255 bytes", "00000000 000000ff " + zeros(64+3), AUTH_OK},
		{"name of 256 bytes", "00000000 00000100 " + zeros(64+3), AUTH_BADCRED},
		{"name beyond the body", "00000000 00000010 " + zeros(3), AUTH_BADCRED},
		{"name of 4 GiB", "00000000 ffffffff " + zeros(3), AUTH_BADCRED},
		{"16 groups", zeros(4) + "00000010 " + zeros(16), AUTH_OK},
		{"17 groups", zeros(4) + "00000011 " + zeros(17), AUTH_BADCRED},
		{"groups beyond the body", zeros(4) + "00000002 " + zeros(1), AUTH_BADCRED},
		{"4 Gi groups", zeros(4) + "ffffffff", AUTH_BADCRED},
		{"bytes behind the end", zeros(5 + 3), AUTH_OK},
	} {
		if _, got := checkBody(t, test.body); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestNoIdentityIsNotRoot(t *testing.T) {
	c := Cred{Flavor: AUTH_SYS, UID: 1, GIDs: []uint32{0}} // from a call before
	if stat := c.check(new(callMessage), new([maxGIDs]uint32)); stat != AUTH_OK {
		t.Fatal(stat)
	}
	if diff := cmp.Diff(Cred{Flavor: AUTH_NONE, UID: Nobody, GID: Nobody}, c); diff != "" {
		t.Errorf("AUTH_NONE (-want +got):\n%s", diff)
	}
}

// TestCredRoundTrip sends credentials of any size: what exceeds the bounds is
// cut off, and what arrives is always a valid call.
func TestCredRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := Cred{
			Flavor:  AUTH_SYS,
			UID:     rapid.Uint32().Draw(t, "uid"),
			GID:     rapid.Uint32().Draw(t, "gid"),
			GIDs:    rapid.SliceOfN(rapid.Uint32(), 0, 20).Draw(t, "gids"),
			Machine: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "machine"),
			Stamp:   rapid.Uint32().Draw(t, "stamp"),
		}
		var m callMessage
		if v := m.parse(callAs(&sent, 1, 2, 3, 4, 5)); v != isCall || len(m.args) != 1 {
			t.Fatalf("verdict %d", v)
		}
		var got Cred
		if stat := got.check(&m, new([maxGIDs]uint32)); stat != AUTH_OK {
			t.Fatal(stat)
		}
		sent.GIDs = slices.Clone(sent.GIDs[:min(16, len(sent.GIDs))])
		sent.Machine = sent.Machine[:min(255, len(sent.Machine))]
		if diff := cmp.Diff(sent, got); diff != "" {
			t.Fatal(diff)
		}
	})
}
