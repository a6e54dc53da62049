package load

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
)

// serve serves files in memory to the connections that dial makes.
func serve(t *testing.T) (dial func(context.Context) (net.Conn, error)) {
	s := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: memfs.New(memfs.Config{RootMode: 0o777})}}}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
	return func(context.Context) (net.Conn, error) {
		server, client := xprt.Pipe()
		wg.Go(func() { s.ServeConn(server) })
		return client, nil
	}
}

func TestOps(t *testing.T) {
	const size = 4096
	c := Config{Dial: serve(t), Path: "/", File: "data", FileBytes: 4 * size, Conns: 2, Depth: 2, Duration: time.Millisecond}
	if err := Fill(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, op := range []Op{Null, Getattr, Lookup, CreateRemove, Readdirplus, Read, RandRead, Write, RandWrite} {
		t.Run(string(op), func(t *testing.T) {
			c := c
			c.Op = op
			if op.HasPayload() {
				c.Size = size
			}
			r, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if r.Ops < 4 || r.Bytes != r.Ops*int64(c.Size) || r.P50 <= 0 || r.P99 < r.P50 || r.Elapsed < c.Duration {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// What CreateRemove has made it has also removed.
func TestNothingIsLeft(t *testing.T) {
	c := Config{Dial: serve(t), Path: "/", File: "data", FileBytes: 1, Op: CreateRemove, Conns: 2, Depth: 3, Duration: time.Millisecond}
	if err := Fill(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	cn, err := open(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	defer cn.client.Close()
	const entries = 3 // ".", ".." and the file
	if n, err := cn.list(t.Context()); n != entries || err != nil {
		t.Errorf("%d entries, %v", n, err)
	}
}

func TestFailures(t *testing.T) {
	c := Config{Dial: serve(t), Path: "/", File: "data", FileBytes: 8192, Size: 8192, Conns: 1, Depth: 1, Duration: time.Millisecond}
	if err := Fill(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, f := range map[string]func() error{
		"operation":  func() error { c := c; c.Op = "shrink"; _, err := Run(t.Context(), c); return err },
		"file":       func() error { c := c; c.Op, c.File = Read, "other"; _, err := Run(t.Context(), c); return err },
		"short file": func() error { c := c; c.Op, c.Size = Read, 16384; _, err := Run(t.Context(), c); return err },
		"context":    func() error { c := c; c.Op = Read; _, err := Run(ended, c); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
