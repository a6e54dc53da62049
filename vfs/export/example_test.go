package export_test

import (
	"context"
	"fmt"
	"net/netip"

	"eddy.example/vfs"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
)

func Example() {
	fs := memfs.New(memfs.Config{})
	if err := fs.WriteFile("/docs/hello.txt", []byte("hello\n"), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	table, err := export.NewTable(export.NewKey(), export.Export{
		Path:     "/srv",
		FS:       fs,
		Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	call := &vfs.Call{Context: context.Background()}
	root := &export.Caller{Addr: netip.MustParseAddrPort("192.0.2.7:1001")}
	entry, dir, err := table.Mount(call, "/srv/docs", root)
	if err != nil {
		fmt.Println(err)
		return
	}
	handle := table.AppendHandle(nil, entry, dir)
	fmt.Println("a handle of", len(handle), "bytes for user", call.Cred.UID)

	_, again, err := table.Resolve(call, handle, root)
	fmt.Println(again == dir, err)

	handle[20]++
	_, _, err = table.Resolve(call, handle, root)
	fmt.Println(err)

	// Output:
	// a handle of 40 bytes for user 65534
	// true <nil>
	// vfs: bad handle
}
