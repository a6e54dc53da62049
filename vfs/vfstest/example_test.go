package vfstest_test

import (
	"context"
	"fmt"

	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
)

func ExampleFaultFS() {
	fs := vfstest.NewFaultFS(memfs.New(memfs.Config{}))
	call := &vfs.Call{Context: context.Background(), MayWait: true}
	root, _ := fs.Resolve(call, nil)

	fs.Fail(vfstest.Getattr, 2, vfs.ErrIO)
	for range 3 {
		fmt.Println(fs.Getattr(call, root, vfs.AttrBasic, new(vfs.Attr)))
	}

	stop := fs.Stop(vfstest.Getattr)
	done := make(chan error)
	go func() { done <- fs.Getattr(call, root, vfs.AttrBasic, new(vfs.Attr)) }()
	<-stop.Entered()
	fmt.Println("it waits")
	stop.Release()
	fmt.Println(<-done)

	// Output:
	// <nil>
	// vfs: input/output error
	// <nil>
	// it waits
	// <nil>
}
