//go:build !race && !invariants && !386

// The race detector and the checks of invariants allocate by themselves; an emulated 386 takes its
// time, in which the runtime allocates.

package rpc

import (
	"bytes"
	"net"
	"runtime"
	"testing"

	"eddy.example/rpc/xdr"
)

// TestAllocations counts what calls allocate in the steady state, client and
// server together, with the reply cache, an observer and a check of every
// caller.
func TestAllocations(t *testing.T) {
	p := newToy()
	p.add(procOnce, Proc{Cached: true}, func(c *Call) error {
		c.Reply(xdr.AppendUint32(c.Results(4), c.XID))
		return nil
	})
	p.add(procRead, Proc{}, reader(8))
	p.add(procWrite, Proc{}, func(c *Call) error {
		if len(c.Args) < 70_000 {
			return ErrGarbageArgs
		}
		c.Reply(nil)
		return nil
	})
	p.place = func(h *Header, args []byte) (int, uint64, bool) { return 4, 0, h.Proc == procWrite }
	blocker(p)
	s := &Server{Observer: &tally{t: t}, Admit: func(*Call) error { return nil }}
	w := serve(t, s, p)
	user := &Cred{Flavor: AUTH_SYS, UID: 1, GIDs: []uint32{1, 2, 3}, Machine: []byte("krypton")}

	args := Appender(word(60_000))
	var small, large any = new(word), new(readResult)
	echoed, read := small.(Consumer), large.(PayloadConsumer)
	memory := bytes.Repeat([]byte{1}, 70_000)
	for name, conn := range map[string]net.Conn{"pipe": w.pipe(), "TCP": w.dial(w.listen())} {
		c := clientOver(t, conn)
		for _, call := range []struct {
			name string
			do   func() error
		}{
			{"NULL", func() error { return c.Call(background, toyProg, 2, 0, nil, nil, nil) }},
			{"ECHO", func() error { return c.Call(background, toyProg, 2, procEcho, user, args, echoed) }},
			{"ONCE", func() error { return c.Call(background, toyProg, 2, procOnce, user, args, echoed) }},
			{"a call that waits", func() error { return c.Call(background, toyProg, 2, procSilent, user, nil, nil) }},
			{"READ", func() error {
				_, err := c.CallReceive(background, toyProg, 2, procRead, user, args, read, memory)
				return err
			}},
			{"WRITE", func() error { return c.CallSend(background, toyProg, 2, procWrite, user, nothing{}, memory, nil) }},
		} {
			const calls = 1000
			run := func() {
				for range calls {
					if err := call.do(); err != nil {
						t.Fatalf("%s over %s: %v", call.name, name, err)
					}
				}
			}
			// The cache grows until it is full; then its entries are used
			// again.
			run()
			if call.name == "ONCE" {
				for range 16 {
					run()
				}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			run()
			runtime.ReadMemStats(&after)
			// The runtime's own: timers, a goroutine's stack.
			if n := after.Mallocs - before.Mallocs; n > calls/100 {
				t.Errorf("%s over %s: %d allocations in %d calls", call.name, name, n, calls)
			}
		}
	}
}
