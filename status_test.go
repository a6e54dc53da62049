package eddy_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	eddy "eddy.example"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
)

// serving is a server on a loopback port, with a client of it.
type serving struct {
	*eddy.Server
	t      *testing.T
	addr   string
	client *nfs3.Client
}

func startServer(t *testing.T, s *eddy.Server) *serving {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		if err := s.Serve(l); !errors.Is(err, eddy.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		s.Close()
		accepting.Wait()
	})
	w := &serving{Server: s, t: t, addr: l.Addr().String()}
	w.client = w.dial()
	return w
}

func (w *serving) dial() *nfs3.Client {
	w.t.Helper()
	cred := &rpc.Cred{Flavor: rpc.AUTH_SYS, UID: uint32(os.Getuid()), Machine: []byte("krypton")}
	c, err := nfs3.Dial(w.t.Context(), "tcp", w.addr, cred, rpc.ClientConfig{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c
}

func (w *serving) mount(path string) []byte {
	w.t.Helper()
	fh, err := w.client.Mount(w.t.Context(), path)
	if err != nil {
		w.t.Fatal(err)
	}
	return fh
}

// counting is an FS that counts.
type counting struct{ *vfstest.FaultFS }

func (counting) Stats() vfs.Stats { return vfs.Stats{OpenFiles: 3, Syncs: 5, SyncedCalls: 8} }

func TestStatus(t *testing.T) {
	fs := counting{vfstest.NewFaultFS(memfs.New(memfs.Config{RootMode: 0o777}))}
	network := netip.MustParsePrefix("127.0.0.0/8")
	s := &eddy.Server{Workers: 2, PoolBytes: 2 << 20, MaxConns: 100, Exports: []eddy.Export{
		{Path: "/b", FS: fs, Networks: []netip.Prefix{network}, InsecurePorts: true, ReadOnly: true},
		{Path: "/a", FS: memfs.New(memfs.Config{}), InsecurePorts: true},
	}}
	if st := s.Status(); st.Stats.State != eddy.StateNew || !st.Started.IsZero() || st.Now.IsZero() {
		t.Errorf("before Serve: %+v", st)
	}
	w := startServer(t, s)
	fh := w.mount("/b")
	w.mount("/a")
	w.dial().Null(t.Context())

	st := s.Status()
	if st.Stats.State != eddy.StateServing || st.Started.IsZero() || st.Now.Before(st.Started) {
		t.Errorf("%s since %v at %v", st.Stats.State, st.Started, st.Now)
	}
	if l := st.Limits; l.Workers != 2 || l.PoolBytes != 2<<20 || l.Conns != 100 || l.ReceiveBytes == 0 || l.ReplyBytes == 0 || l.CacheBytes == 0 || l.Waiting == 0 {
		t.Errorf("limits: %+v", l)
	}
	if len(st.Exports) != 2 {
		t.Fatalf("exports: %+v", st.Exports)
	}
	a, b := st.Exports[0], st.Exports[1]
	if a.Path != "/a" || a.HasFS || a.ReadOnly || a.Squash != "root" || len(a.Networks) != 0 {
		t.Errorf("export: %+v", a)
	}
	if b.Path != "/b" || !b.HasFS || b.FS != fs.Stats() || !b.ReadOnly || !slices.Equal(b.Networks, []netip.Prefix{network}) || !b.InsecurePorts {
		t.Errorf("export: %+v", b)
	}
	if len(st.Conns) != 2 || st.Stats.Transport.Connections != 2 || st.Conns[0].Network != "tcp" {
		t.Errorf("connections: %+v", st.Conns)
	}
	if len(st.Clients) != 1 {
		t.Fatalf("clients: %+v", st.Clients)
	}
	if c := st.Clients[0]; c.Address != "127.0.0.1" || c.Connections != 2 || c.Records != 3 || c.BytesReceived == 0 || !slices.Equal(c.Mounts, []string{"/b", "/a"}) {
		t.Errorf("client: %+v", c)
	}

	// A call that hangs in the backend.
	stop := fs.Stop(vfstest.Getattr)
	var calling sync.WaitGroup
	calling.Go(func() { w.client.Getattr(context.Background(), fh) })
	<-stop.Entered()
	st = s.Status()
	if len(st.Calls) != 1 || st.Calls[0].Procedure != "GETATTR" || st.Calls[0].Machine != "krypton" || st.Calls[0].State != rpc.CallRunning || st.Stats.RPC.Waiting != 1 {
		t.Errorf("calls: %+v, %+v", st.Calls, st.Stats.RPC)
	}
	stop.Release()
	calling.Wait()

	s.Close()
	if st := s.Status(); st.Stats.State != eddy.StateClosed || len(st.Conns) != 0 {
		t.Errorf("after Close: %s, %+v", st.Stats.State, st.Conns)
	}
}

// TestStatusNames guards the names that programs look for.
func TestStatusNames(t *testing.T) {
	s := &eddy.Server{Workers: 1, Exports: []eddy.Export{{Path: "/", FS: memfs.New(memfs.Config{}), InsecurePorts: true}}}
	w := startServer(t, s)
	w.mount("/")
	text, err := json.Marshal(s.Status())
	if err != nil {
		t.Fatal(err)
	}
	var status any
	if err := json.Unmarshal(text, &status); err != nil {
		t.Fatal(err)
	}
	var got []string
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, x := range v {
				walk(prefix+"."+name, x)
			}
		case []any:
			if len(v) > 0 {
				walk(prefix+"[]", v[0])
				return
			}
			got = append(got, prefix+"[]")
		default:
			got = append(got, prefix)
		}
	}
	walk("", status)
	slices.Sort(got)
	golden, err := os.ReadFile("testdata/status-names.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(golden))
	if !slices.Equal(got, want) {
		t.Errorf("names\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestReload(t *testing.T) {
	keep, gone, added := memfs.New(memfs.Config{}), memfs.New(memfs.Config{}), memfs.New(memfs.Config{})
	export := func(path string, fs vfs.FS) eddy.Export {
		return eddy.Export{Path: path, FS: fs, InsecurePorts: true}
	}
	s := &eddy.Server{}
	if err := s.Reload([]eddy.Export{export("/x", keep), export("/x", gone)}); err == nil {
		t.Error("two exports with one path were taken")
	}
	if err := s.Reload([]eddy.Export{export("/keep", keep), export("/gone", gone)}); err != nil {
		t.Fatal(err)
	}
	w := startServer(t, s)
	kept, lost := w.mount("/keep"), w.mount("/gone")

	if err := s.Reload([]eddy.Export{export("relative", keep)}); err == nil {
		t.Error("a path that is not absolute was taken")
	}
	if _, err := w.client.Getattr(t.Context(), lost); err != nil {
		t.Error("after a Reload that failed:", err)
	}
	if err := s.Reload([]eddy.Export{export("/added", added), export("/keep", keep)}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.Getattr(t.Context(), kept); err != nil {
		t.Error("a handle of an export that stays:", err)
	}
	w.mount("/added")
	var nfsErr *nfs3.Error
	if _, err := w.client.Getattr(t.Context(), lost); !errors.As(err, &nfsErr) || nfsErr.Status != nfs3.NFS3ERR_STALE {
		t.Errorf("a handle of an export that is gone: %v", err)
	}
	var paths []string
	for _, x := range s.Status().Exports {
		paths = append(paths, x.Path)
	}
	if !slices.Equal(paths, []string{"/added", "/keep"}) {
		t.Errorf("exports %q", paths)
	}
	s.Close()
	if err := s.Reload(nil); !errors.Is(err, eddy.ErrServerClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestStatusDraining looks at a server that waits for its last call.
func TestStatusDraining(t *testing.T) {
	fs := vfstest.NewFaultFS(memfs.New(memfs.Config{}))
	s := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: fs.Waiter(), InsecurePorts: true}}}
	w := startServer(t, s)
	fh := w.mount("/")
	stop := fs.Stop(vfstest.Getattr)
	var calling sync.WaitGroup
	calling.Go(func() {
		if _, err := w.client.Getattr(context.Background(), fh); err != nil {
			t.Error(err)
		}
	})
	<-stop.Entered()
	calling.Go(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for s.Stats().State == eddy.StateServing {
	}
	if st := s.Status(); st.Stats.State != eddy.StateDraining || len(st.Calls) != 1 {
		t.Errorf("%s with %+v", st.Stats.State, st.Calls)
	}
	stop.Release()
	calling.Wait()
	if got := s.Stats().State; got != eddy.StateClosed {
		t.Errorf("after Shutdown: %s", got)
	}
}

// TestStatusRace asks while the server begins, works, reloads and ends.
func TestStatusRace(t *testing.T) {
	fs := memfs.New(memfs.Config{})
	exports := []eddy.Export{{Path: "/", FS: fs, InsecurePorts: true}}
	s := &eddy.Server{Exports: exports}
	var asking sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.Status()
				}
			}
		})
	}
	w := startServer(t, s)
	fh := w.mount("/")
	for range 50 {
		if err := s.Reload(exports); err != nil {
			t.Error(err)
		}
		if _, err := w.client.Getattr(t.Context(), fh); err != nil {
			t.Error(err)
		}
		c := w.dial()
		c.Null(t.Context())
		c.Close()
	}
	s.Close()
	close(stop)
	asking.Wait()
}
