package iofs_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"eddy.example/vfs"
	"eddy.example/vfs/iofs"
)

func Example() {
	site := fstest.MapFS{
		"index.html":     {Data: []byte("<h1>hello</h1>")},
		"style/main.css": {Data: []byte("h1 { color: teal }")},
	}
	fs := iofs.New(site, iofs.Config{})

	call := &vfs.Call{Context: context.Background(), MayWait: true}
	root, _ := fs.Resolve(call, nil)
	_, err := fs.ReadDir(call, root, 0, vfs.AttrBasic, func(e *vfs.DirEntry) bool {
		fmt.Printf("%-10s %o\n", e.Name, e.Attr.Mode)
		return true
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// index.html 444
	// style      555
}
