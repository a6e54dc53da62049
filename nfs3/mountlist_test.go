package nfs3

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMountList(t *testing.T) {
	var l mountList
	check := func(want ...mount) {
		t.Helper()
		if d := cmp.Diff(want, l.list(), cmp.AllowUnexported(mount{})); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	}
	l.add("a", "/", 2)
	l.add("a", "/", 2)
	check(mount{"a", "/"})
	l.add("a", "/x", 2)
	l.add("b", "/", 2)
	check(mount{"a", "/x"}, mount{"b", "/"})
	l.remove("a", "/")
	l.remove("b", "/x")
	check(mount{"a", "/x"}, mount{"b", "/"})
	l.add("b", "/y", 3)
	l.removeAll("b")
	check(mount{"a", "/x"})
	l.remove("a", "/x")
	if got := l.list(); len(got) != 0 {
		t.Fatalf("%v is left", got)
	}
}

func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		networks []netip.Prefix
		want     []string
	}{
		{nil, []string{"localhost"}},
		{[]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("::/0")}, []string{"192.0.2.0/24", "::/0"}},
	} {
		var got []string
		for _, g := range groups(tt.networks) {
			got = append(got, string(g.GrName))
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}
