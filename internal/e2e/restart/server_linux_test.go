package restart

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	eddy "eddy.example"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs/export"
	"eddy.example/vfs/local"
	"eddy.example/xprt"
)

// serverVar has the JSON of a server: a process with it is one.
const serverVar = "EDDY_TEST_SERVER"

// server is one life of the server.
type server struct {
	Addr        string
	Root, State string
	Key         eddy.Key
	Handles     local.Handles
	Death       death
}

// death is when a server kills itself: before it does anything about the N-th call of
// a procedure, or with Done as it has carried it out and not yet answered. N is 0:
// never.
type death struct {
	Proc uint32
	Done bool
	N    int64
}

// run serves until standard input ends.
func (s *server) run() error {
	fs, err := local.Open(local.Config{Root: s.Root, State: s.State})
	if err != nil {
		return err
	}
	if d := fs.Describe(); d.Handles != s.Handles || !d.Durable {
		return errors.New("served with handles by " + d.Handles.String())
	}
	l, err := xprt.Listen(context.Background(), "tcp", s.Addr)
	if err != nil {
		return err
	}
	srv := &eddy.Server{
		HandleKey: s.Key,
		Observer:  &fate{death: s.Death},
		Exports: []eddy.Export{{
			Path: "/", FS: fs, Squash: export.SquashNone,
			Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/30")},
		}},
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	io.Copy(io.Discard, os.Stdin)
	err = srv.Shutdown(context.Background())
	if served := <-served; !errors.Is(served, eddy.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return errors.Join(err, fs.Close())
}

// fate sees to it that a server dies when it has to.
type fate struct {
	death
	seen atomic.Int64
}

func (f *fate) Begin(c *rpc.Call) int64 { f.meet(c, false); return 0 }

func (f *fate) End(c *rpc.Call, _ int64, _ rpc.Status) { f.meet(c, true) }

func (f *fate) meet(c *rpc.Call, done bool) {
	if done == f.Done && c.Prog == nfs3.NFS_PROGRAM && c.Proc == f.Proc && f.seen.Add(1) == f.N {
		unix.Kill(unix.Getpid(), unix.SIGKILL)
		select {}
	}
}

// serveAsTold is what a process with serverVar does.
func serveAsTold(told string) {
	var s server
	err := json.Unmarshal([]byte(told), &s)
	if err == nil {
		err = s.run()
	}
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
}
