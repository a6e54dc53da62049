package rpc

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
)

// TestBrief answers calls that say they would block for a moment: they run on
// the event loop again, and when one has not told the truth everybody is
// served nevertheless.
func TestBrief(t *testing.T) {
	stopped, goOn := make(chan struct{}), make(chan struct{})
	brief := func(c *Call) error {
		if !c.MayWait {
			return ErrBrief
		}
		switch string(c.Args) {
		case "stop":
			stopped <- struct{}{}
			<-goOn
		case "exit":
			runtime.Goexit()
		}
		return echo(c)
	}
	w := serve(t, new(Server), newToy().add(procWrite, Proc{Name: "WRITE"}, brief))
	addr := w.listen()
	slow, other := w.dial(addr), w.dial(addr)
	xid := uint32(0)
	check := func(reply, args []byte) {
		t.Helper()
		if want := append(appendAccepted(nil, xid, SUCCESS), args...); !bytes.Equal(reply, want) {
			t.Fatalf("reply %x, want %x", reply, want)
		}
	}
	for range 10 {
		for n := range 20 {
			xid++
			args := fmt.Appendf(nil, "%04d", n)
			check(exchange(t, other, callBytes(xid, toyProg, 3, procWrite, args...)), args)
		}
		xid++
		late := xid
		send(t, slow, callBytes(late, toyProg, 3, procWrite, []byte("stop")...))
		<-stopped
		for n := range 20 {
			for _, c := range []uint32{procWrite, procEcho} {
				xid++
				args := fmt.Appendf(nil, "%04d", n)
				check(exchange(t, other, callBytes(xid, toyProg, 3, c, args...)), args)
			}
		}
		goOn <- struct{}{}
		xid++
		last := xid
		xid = late
		check(receive(t, slow), []byte("stop"))
		xid = last
		if got, want := exchange(t, slow, callBytes(xid, toyProg, 3, procWrite, []byte("exit")...)), appendAccepted(nil, xid, SYSTEM_ERR); !bytes.Equal(got, want) {
			t.Fatalf("a procedure that ends its goroutine: %x, want %x", got, want)
		}
	}
}
