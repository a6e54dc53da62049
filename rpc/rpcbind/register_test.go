package rpcbind

import (
	"errors"
	"net"
	"slices"
	"sync"
	"testing"

	"eddy.example/rpc"
)

// registry is a server that takes entries, as the system's does. If old is set
// it has nothing but version 2.
type registry struct {
	Server
	old bool

	mu   sync.Mutex
	list []Entry
}

func newRegistry(old bool) *registry {
	r := &registry{old: old}
	r.Entries = func() []Entry {
		r.mu.Lock()
		defer r.mu.Unlock()
		return slices.Clone(r.list)
	}
	return r
}

func (r *registry) Program() (prog, low, high uint32) {
	if r.old {
		return RPCBPROG, PMAPVERS, PMAPVERS
	}
	return r.Server.Program()
}

func (r *registry) Serve(c *rpc.Call) error {
	if c.Proc != RPCBPROC_SET && c.Proc != RPCBPROC_UNSET {
		return r.Server.Serve(c)
	}
	var e Entry
	if c.Vers == PMAPVERS {
		var m Mapping
		if _, err := m.ConsumeXDR(c.Args); err != nil {
			return rpc.ErrGarbageArgs
		}
		e = Entry{Prog: m.Prog, Vers: m.Vers, Network: networkOf(m.Prot), Addr: addr("0.0.0.0:1")}
	} else {
		var args Rpcb
		if _, err := args.ConsumeXDR(c.Args); err != nil {
			return rpc.ErrGarbageArgs
		}
		e = entryOf(&args)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.list, func(o Entry) bool { return o.Prog == e.Prog && o.Vers == e.Vers && o.Network == e.Network })
	done := uint32(0)
	switch {
	case c.Proc == RPCBPROC_SET && i < 0:
		r.list = append(r.list, e)
		done = 1
	case c.Proc == RPCBPROC_UNSET && i >= 0:
		r.list = slices.Delete(r.list, i, i+1)
		done = 1
	}
	return replyUint32(c, done)
}

func listenTCP(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRegister(t *testing.T) {
	r := newRegistry(false)
	c := NewClient(serve(t, r)("pipe"))
	entries := append(table(), Entry{RPCBPROG, 2, "tcp", addr("127.0.0.1:2049"), ""})
	for range 2 { // the second time all is there
		if err := c.Register(t.Context(), entries); err != nil || !slices.Equal(r.list, table()) {
			t.Fatalf("%v: %v", err, r.list)
		}
	}
	if err := c.Unregister(t.Context(), entries); err != nil || len(r.list) != 0 {
		t.Errorf("%v: %v", err, r.list)
	}
}

// What a program has left behind gives way, what answers does not.
func TestRegisterTaken(t *testing.T) {
	r := newRegistry(false)
	c := NewClient(serve(t, r)("pipe"))
	alive, gone := listenTCP(t), listenTCP(t)
	gone.Close()
	defer alive.Close()
	other := Entry{100003, 3, "tcp", addr(alive.Addr().String()), "superuser"}
	left := Entry{100003, 4, "tcp", addr(gone.Addr().String()), "superuser"}

	r.list = []Entry{left}
	if err := c.Register(t.Context(), table()); err != nil || len(r.list) != len(table()) {
		t.Errorf("with an entry left behind: %v: %v", err, r.list)
	}

	// It answers nothing, but it listens.
	go func() {
		conn, err := alive.Accept()
		if err == nil {
			conn.Close()
		}
	}()
	r.list = []Entry{other}
	ours := []Entry{table()[1], table()[0]}
	if err := c.Register(t.Context(), ours); !errors.Is(err, ErrTaken) || !slices.Equal(r.list, []Entry{other}) {
		t.Errorf("with an entry of another program: %v: %v", err, r.list)
	}
}

func TestRegisterVersion2(t *testing.T) {
	r := newRegistry(true)
	c := NewClient(serve(t, r)("pipe"))
	if err := c.Register(t.Context(), table()[:2]); err != nil || len(r.list) != 2 {
		t.Fatalf("%v: %v", err, r.list)
	}
	if list, err := c.Dump(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("%v: %v", err, list)
	}
	if err := c.Unregister(t.Context(), table()[:2]); err != nil || len(r.list) != 0 {
		t.Errorf("%v: %v", err, r.list)
	}
}
