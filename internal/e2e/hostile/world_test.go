package hostile

import (
	"errors"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// patience is how long a test waits for what has to come before it gives up.
// Nothing passes or fails by it that does not hang.
const patience = time.Minute

// transports are the ways to reach a world. "portable" is TCP by the way that
// other systems than Linux go.
var transports = []string{"tcp", "udp", "unix", "pipe", "portable"}

// streams are those with a connection.
var streams = []string{"tcp", "unix", "pipe", "portable"}

// world is a server with a listener of every kind.
type world struct {
	t       testing.TB
	s       *eddy.Server
	errors  *observer.ObservedLogs // what it has logged that must not happen
	addr    map[string]string      // by transport
	serving sync.WaitGroup
	sockets int64 // that are not connections
}

// start serves s, whose Exports are set, until the test is over. At the end nothing may be
// left of it, and it may not have logged an error.
func start(t testing.TB, s *eddy.Server) *world {
	t.Helper()
	core, logs := observer.New(zapcore.ErrorLevel)
	s.Log = zap.New(core)
	if s.Workers == 0 {
		s.Workers = 2
	}
	w := &world{t: t, s: s, errors: logs, addr: make(map[string]string)}
	w.listen("tcp", "127.0.0.1:0")
	w.listen("unix", filepath.Join(t.TempDir(), "socket"))
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.addr["udp"] = pc.LocalAddr().String()
	w.sockets = 1
	w.serve(func() error { return s.ServePacket(pc) })
	t.Cleanup(w.end)
	return w
}

func (w *world) listen(network, addr string) {
	l, err := net.Listen(network, addr)
	if err != nil {
		w.t.Fatal(err)
	}
	w.addr[network] = l.Addr().String()
	w.serve(func() error { return w.s.Serve(l) })
}

func (w *world) serve(f func() error) {
	w.serving.Go(func() {
		if err := f(); err != nil && !errors.Is(err, eddy.ErrServerClosed) {
			w.t.Errorf("serving: %v", err)
		}
	})
}

func (w *world) end() {
	if err := w.s.Close(); err != nil {
		w.t.Errorf("closing the server: %v", err)
	}
	w.serving.Wait()
	serve.Ended(w.t, w.s)
	w.noErrors()
}

// noErrors reports what the server has logged as an error since the last time.
func (w *world) noErrors() {
	w.t.Helper()
	for _, e := range w.errors.TakeAll() {
		w.t.Errorf("logged: %s %v", e.Message, e.ContextMap())
	}
}

// dial connects.
func (w *world) dial(transport string) net.Conn {
	w.t.Helper()
	return w.dialFrom(transport, nil)
}

// dialFrom connects from a local address, or any if it is nil.
func (w *world) dialFrom(transport string, local net.Addr) net.Conn {
	w.t.Helper()
	switch transport {
	case "pipe":
		server, client := xprt.Pipe()
		w.serve(func() error { return w.s.ServeConn(server) })
		return client
	case "portable":
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		defer l.Close()
		client := must(net.Dial("tcp", l.Addr().String()))
		server := must(l.Accept())
		w.serve(func() error { return w.s.ServeConn(server) })
		return client
	}
	d := net.Dialer{LocalAddr: local}
	c, err := d.Dial(transport, w.addr[transport])
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// peer connects somebody who writes bytes.
func (w *world) peer(transport string) *peer {
	w.t.Helper()
	return newPeer(w.t, w.dial(transport))
}

// client connects somebody who keeps the rules.
func (w *world) client(transport string) *nfs3.Client {
	w.t.Helper()
	return nfs3.NewClient(rpc.NewClient(w.dial(transport), rpc.ClientConfig{}), &user)
}

// until waits for something that has to come about.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("waiting in vain for %s: %+v", what, w.s.Stats().Transport)
		}
	}
}

// idle waits until nobody is connected and everything has been given back.
func (w *world) idle() {
	w.t.Helper()
	w.until("an idle server", func() bool {
		x := w.s.Stats().Transport
		p := serve.Pages(w.s)
		return x.Connections == w.sockets && x.Calls == 0 && x.ReceiveAdmitted == 0 && x.ReplyMemory == 0 &&
			p.Lent == 0 && p.InFlight == 0 && p.Detached == 0
	})
}

// alive checks that somebody else is served.
func (w *world) alive() {
	w.t.Helper()
	c := w.client("tcp")
	defer c.Close()
	w.served(c, 1)
}

// served checks that n calls of c are answered.
func (w *world) served(c *nfs3.Client, n int) {
	w.t.Helper()
	fh := must(c.Mount(ctx, "/"))
	for range n {
		must(c.Getattr(ctx, fh))
	}
}

var (
	root = rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: []byte("client")}
	user = rpc.Cred{Flavor: rpc.AUTH_SYS, UID: 1000, GID: 100, GIDs: []uint32{101}, Machine: []byte("client")}
)

// open is an export that everybody may use as whoever they like.
func open(fs vfs.FS) []eddy.Export {
	return []eddy.Export{{Path: "/", FS: fs, Squash: squashNone, InsecurePorts: true}}
}

// newMem is a file system that everybody may write to.
func newMem() *memfs.FS { return memfs.New(memfs.Config{RootMode: 0o777}) }

// must is for calls that a test needs and is not about.
func must[R any](r R, err error) R {
	if err != nil {
		panic(err)
	}
	return r
}
