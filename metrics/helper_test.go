package metrics

import (
	"errors"
	"net"
	"sync"
	"testing"

	"eddy.example"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
)

// counting is an FS that counts.
type counting struct{ *memfs.FS }

func (counting) Stats() vfs.Stats {
	return vfs.Stats{OpenFiles: 1, PendingFiles: 2, HandleRows: 3, Syncs: 4, SyncedCalls: 5, SyncErrors: 6}
}

// serve starts a server with an export at / and returns a connection to it.
func serve(t testing.TB, o *Observer) (*eddy.Server, *rpc.Client) {
	t.Helper()
	s := &eddy.Server{
		Workers:  2,
		Exports:  []eddy.Export{{Path: "/", FS: counting{memfs.New(memfs.Config{})}, InsecurePorts: true}},
		Observer: o,
	}
	return pipeTo(t, s)
}

// pipeTo connects to s.
func pipeTo(t testing.TB, s *eddy.Server) (*eddy.Server, *rpc.Client) {
	t.Helper()
	server, client := xprt.Pipe()
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.ServeConn(server); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	c := rpc.NewClient(client, rpc.ClientConfig{})
	t.Cleanup(func() {
		c.Close()
		s.Close()
		serving.Wait()
	})
	return s, c
}

// null calls a procedure without arguments.
func null(t testing.TB, c *rpc.Client, prog, vers, proc uint32) error {
	return c.Call(t.Context(), prog, vers, proc, nil, nil, nil)
}

// mount gets the root of the server's export.
func mount(t testing.TB, c *rpc.Client) (*nfs3.Client, []byte) {
	t.Helper()
	client := nfs3.NewClient(c, nil)
	fh, err := client.Mount(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	return client, fh
}
