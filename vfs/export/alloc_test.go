//go:build !race

// The race detector allocates where the code does not.

package export_test

import (
	"net/netip"
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/export"
)

func TestNoAllocation(t *testing.T) {
	table := newTable(t, export.Export{Path: "/", FS: newFS(t, "/dir/file"), Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}})
	h := handleOf(t, table, "/dir")
	who := &export.Caller{
		Addr: netip.MustParseAddrPort("[::ffff:192.0.2.3]:700"),
		Cred: vfs.Cred{UID: 0, GID: 0, Groups: make([]uint32, 16)},
	}
	c := call()
	var b []byte
	run := func() {
		e, o, err := table.Resolve(c, h, who)
		if err != nil {
			t.Fatal(err)
		}
		b = table.AppendHandle(b[:0], e, o)
	}
	run() // the Call's groups grow once
	if n := testing.AllocsPerRun(1000, run); n != 0 {
		t.Errorf("%v allocations per Resolve and AppendHandle", n)
	}
}
