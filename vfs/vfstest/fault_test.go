package vfstest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/fstest"

	"eddy.example/vfs"
	"eddy.example/vfs/iofs"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
)

// A FaultFS without faults is the backend behind it.
func TestFaultFSConformance(t *testing.T) {
	t.Run("Waiter", func(t *testing.T) {
		vfstest.Run(t, vfstest.Config{New: func(testing.TB) vfs.FS {
			return vfstest.NewFaultFS(memfs.New(memfs.Config{})).Waiter()
		}})
	})
	t.Run("ReadOnly", func(t *testing.T) {
		vfstest.Run(t, vfstest.Config{NewTree: func(_ testing.TB, tree fstest.MapFS) vfs.FS {
			return noStatfs{vfstest.NewFaultFS(iofs.New(tree, iofs.Config{}))}
		}})
	})
}

// noStatfs shows of a FaultFS only what a read-only backend has.
type noStatfs struct {
	vfs.FS
}

func (n noStatfs) Readlink(c *vfs.Call, o vfs.Object) (string, error) {
	return n.FS.(*vfstest.FaultFS).Readlink(c, o)
}

func TestFail(t *testing.T) {
	f := vfstest.NewFaultFS(memfs.New(memfs.Config{}))
	c := &vfs.Call{Context: t.Context(), MayWait: true}
	root, err := f.Resolve(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	var a vfs.Attr
	getattr := func() error { return f.Getattr(c, root, vfs.AttrBasic, &a) }
	if err := getattr(); err != nil {
		t.Fatal(err)
	}
	mistake := errors.New("a fault")
	f.Fail(vfstest.Getattr, 1, vfs.ErrIO)
	f.Fail(vfstest.Getattr, 3, mistake)
	for i, want := range []error{vfs.ErrIO, nil, mistake, nil, nil} {
		if err := getattr(); err != want {
			t.Errorf("call %d: %v, want %v", i+1, err, want)
		}
	}
	if n := f.Calls(vfstest.Getattr); n != 6 {
		t.Errorf("%d calls, want 6", n)
	}
	if n := f.Calls(vfstest.Read); n != 0 {
		t.Errorf("%d calls of another method", n)
	}
}

func TestStop(t *testing.T) {
	f := vfstest.NewFaultFS(memfs.New(memfs.Config{}))
	fs := f.Waiter()
	c := &vfs.Call{Context: t.Context(), MayWait: true}
	root, err := fs.Resolve(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	getattr := func(c *vfs.Call) error { return fs.Getattr(c, root, vfs.AttrBasic, new(vfs.Attr)) }

	stop := f.Stop(vfstest.Getattr)
	if err := getattr(&vfs.Call{Context: t.Context()}); err != vfs.ErrWouldBlock {
		t.Errorf("a call that may not wait: %v, want %v", err, vfs.ErrWouldBlock)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := getattr(c); err != nil {
				t.Error(err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() {
		if err := getattr(&vfs.Call{Context: ctx, MayWait: true}); err != context.Canceled {
			t.Errorf("a call whose client went away: %v, want %v", err, context.Canceled)
		}
	})
	for range 4 {
		<-stop.Entered()
	}
	if _, err := fs.Lookup(c, root, ".", nil); err != nil {
		t.Errorf("another method: %v", err)
	}
	cancel()
	stop.Release()
	stop.Release()
	wg.Wait()
	if err := getattr(&vfs.Call{Context: t.Context()}); err != nil {
		t.Errorf("after the release: %v", err)
	}
	if n := f.Calls(vfstest.Getattr); n != 5 {
		t.Errorf("%d calls, want 5", n)
	}
}
