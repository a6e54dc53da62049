package nfs3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"

	"eddy.example/rpc"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
)

// A call whose context has ended leaves its buffer alone, and the connection
// to others.
func TestClientContext(t *testing.T) {
	mem := memfs.New(memfs.Config{RootMode: 0o777})
	fs := vfstest.NewFaultFS(mem)
	c := serve(t, memExport(fs.Waiter())).client(&user)
	fh := mustCreate(c, mustMount(c, "/"), "f", []byte("data"))
	stop := fs.Stop(vfstest.Read)
	defer stop.Release()
	short, cancel := context.WithCancel(ctx)
	buf := []byte("????")
	done := make(chan error)
	go func() {
		_, err := c.Read(short, fh, buf, 0)
		done <- err
	}()
	<-stop.Entered()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	stop.Release()
	if got := must(c.Read(ctx, fh, make([]byte, 4), 0)).Resok.Data; string(got) != "data" || string(buf) != "????" {
		t.Errorf("read %q, and %q in the buffer that was left", got, buf)
	}
	if _, err := c.Getattr(short, fh); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

// What a call returned stays what it is.
func TestClientResultsAreOwned(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	for i := range 10 {
		mustCreate(c, dir, fmt.Sprint(i), nil)
	}
	list := must(c.Readdirplus(ctx, dir, 0, Cookieverf3{}, 0, 4096)).Resok.Reply.Entries
	found := must(c.Lookup(ctx, dir, "0")).Resok.Object.Data
	kept := bytes.Clone(found)
	for i := range 10 {
		must(c.Lookup(ctx, dir, fmt.Sprint(i)))
		must(c.Readdirplus(ctx, dir, uint64(i), Cookieverf3{}, 0, 4096))
	}
	if !bytes.Equal(found, kept) {
		t.Error("a handle has changed")
	}
	for i, e := range list[2:] {
		if string(e.Name) != fmt.Sprint(i) || !bytes.Equal(e.NameHandle.Handle.Data, mustLookup(c, dir, fmt.Sprint(i))) {
			t.Errorf("entry %d has changed to %q", i, e.Name)
		}
	}
}

// Any number of goroutines use one connection.
func TestClientConcurrent(t *testing.T) {
	w, _ := serveMem(t)
	c := w.dial(w.listen(), &user)
	dir := mustMount(c, "/")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			name, data := fmt.Sprint(i), bytes.Repeat([]byte{byte(i)}, 10_000+i)
			fh := mustCreate(c, dir, name, data)
			for range 20 {
				buf := make([]byte, 20_000)
				if res := must(c.Read(ctx, fh, buf, 0)); !bytes.Equal(res.Resok.Data, data) {
					t.Errorf("file %d: other data", i)
				}
				if !bytes.Equal(mustLookup(c, dir, name), fh) {
					t.Errorf("file %d: another handle", i)
				}
				must(c.Write(ctx, fh, data, 0, UNSTABLE))
			}
		})
	}
	wg.Wait()
}

func TestClientEnds(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	res, err := c.Getattr(ctx, dir)
	if !errors.Is(err, rpc.ErrClosed) || res != (GETATTR3res{}) {
		t.Errorf("after Close: %+v, %v", res, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if c, err := Dial(ctx, "tcp", l.Addr().String(), nil, rpc.ClientConfig{}); err == nil {
		c.Close()
		t.Error("connected to nobody")
	}
}
