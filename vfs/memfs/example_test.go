package memfs_test

import (
	"context"
	"fmt"

	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
)

func Example() {
	fs := memfs.New(memfs.Config{Bytes: 64 << 20, RootMode: 0o1777})
	if err := fs.WriteFile("/motd", []byte("welcome\n"), 0o644); err != nil {
		fmt.Println(err)
		return
	}

	// What a server does with it for a client.
	call := &vfs.Call{Context: context.Background(), Cred: vfs.Cred{UID: 1000, GID: 1000}}
	root, _ := fs.Resolve(call, nil)
	motd, err := fs.Lookup(call, root, "motd", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	page := make([]byte, 4096)
	n, eof, err := fs.Read(call, motd, page, 0)
	fmt.Printf("%q %v %v\n", page[:n], eof, err)

	_, _, _, err = fs.Write(call, motd, []byte("!"), 0, vfs.FileSync, nil)
	fmt.Println(err)

	// Output:
	// "welcome\n" true <nil>
	// vfs: permission denied
}
