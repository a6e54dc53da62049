package rpc

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// flying waits until the server lists as many calls in each state.
func flying(t *testing.T, s *Server, want map[CallState]int) []CallInfo {
	t.Helper()
	for t.Context().Err() == nil {
		list := s.Calls()
		got := make(map[CallState]int)
		for _, c := range list {
			got[c.State]++
		}
		if fmt.Sprint(got) == fmt.Sprint(want) {
			return list
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// TestCalls sees calls that are being served, that wait for a goroutine, and a
// duplicate.
func TestCalls(t *testing.T) {
	p := newToy()
	release := make(chan struct{})
	for proc, cached := range map[uint32]bool{procBlock: false, procOnce: true} {
		p.add(proc, Proc{Name: fmt.Sprintf("PROC%d", proc), Cached: cached}, func(c *Call) error {
			if !c.MayWait {
				return ErrWouldBlock
			}
			<-release
			c.Reply(nil)
			return nil
		})
	}
	s := &Server{Waiters: 2}
	w := serve(t, s, p)
	addr := w.listen()
	begun := time.Now()

	user := &Cred{Flavor: AUTH_SYS, UID: 4711, Machine: []byte("<b>\xff")}
	first := w.dial(addr)
	send(t, first, callAs(user, 1, toyProg, 3, procOnce))
	flying(t, s, map[CallState]int{CallRunning: 1})
	second := w.dial(addr)
	send(t, second, callAs(user, 1, toyProg, 3, procOnce))
	flying(t, s, map[CallState]int{CallRunning: 1, CallWaiting: 1})
	third := w.dial(addr)
	send(t, third, callBytes(2, toyProg, 2, procBlock))
	flying(t, s, map[CallState]int{CallRunning: 2, CallWaiting: 1})
	send(t, third, callBytes(3, toyProg, 2, procBlock))
	list := flying(t, s, map[CallState]int{CallRunning: 2, CallWaiting: 1, CallQueued: 1})

	ages := slices.IsSortedFunc(list, func(a, b CallInfo) int { return a.Since.Compare(b.Since) })
	if !ages || list[0].Since.Before(begun) {
		t.Errorf("not the oldest first: %+v", list)
	}
	remote := func(c net.Conn) string { return c.LocalAddr().String() }
	for i, want := range []struct {
		xid, vers uint32
		proc      string
		client    string
		uid       uint32
		machine   string
		state     CallState
	}{
		{1, 3, "PROC3", remote(first), 4711, "<b>\uFFFD", CallRunning},
		{1, 3, "PROC3", remote(second), 4711, "<b>\uFFFD", CallWaiting},
		{2, 2, "PROC2", remote(third), Nobody, "", CallRunning},
		{3, 2, "PROC2", remote(third), Nobody, "", CallQueued},
	} {
		got := list[i]
		if got.XID != want.xid || got.Program != toyProg || got.Version != want.vers || got.Procedure != want.proc || got.Network != "tcp" ||
			got.Client.String() != want.client || got.UID != want.uid || got.Machine != want.machine || got.State != want.state {
			t.Errorf("call %d: %+v, want %+v", i, got, want)
		}
	}

	close(release)
	for _, c := range []net.Conn{first, second, third, third} {
		receive(t, c)
	}
	flying(t, s, map[CallState]int{})
}

// TestCallsWithoutPages sees calls that wait until earlier payloads of their
// connection are gone.
func TestCallsWithoutPages(t *testing.T) {
	const n = 1 << 20
	p := newToy().add(procRead, Proc{Name: "READ"}, func(c *Call) error {
		if _, err := c.Pages(n); err != nil {
			return err
		}
		c.ReplyPages(c.Results(0), n)
		return nil
	})
	s := new(Server)
	w := serve(t, s, p)
	c := w.dial(w.listen())
	const calls = 64
	for xid := range uint32(calls) {
		send(t, c, callBytes(xid, toyProg, 2, procRead))
	}
	for t.Context().Err() == nil {
		list := s.Calls()
		if len(list) > 0 && list[0].State == CallWaiting && list[0].Procedure == "READ" {
			break
		}
		time.Sleep(time.Millisecond)
	}
	for range calls {
		receive(t, c)
	}
	flying(t, s, map[CallState]int{})
}

// TestCallsRace lists while calls wait, run and end and connections are cut.
func TestCallsRace(t *testing.T) {
	p := newToy()
	blocker(p)
	p.add(procOnce, Proc{Cached: true}, p.procs[procSilent].serve)
	s := &Server{Waiters: 4}
	w := serve(t, s, p)
	addr := w.listen()
	var listing, calling sync.WaitGroup
	stop := make(chan struct{})
	listing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.Calls()
			}
		}
	})
	for i := range 4 {
		calling.Go(func() {
			for j := range 50 {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					t.Error(err)
					return
				}
				for xid := range uint32(8) {
					send(t, c, callBytes(uint32(j), toyProg, 2, procOnce))
					send(t, c, callBytes(xid, toyProg, 2, procSilent))
				}
				if (i+j)%2 == 0 {
					c.Read(make([]byte, 1)) // a reply has come
				}
				c.Close()
			}
		})
	}
	calling.Wait()
	close(stop)
	listing.Wait()
	flying(t, s, map[CallState]int{})
}

func TestCallInfoNames(t *testing.T) {
	text, err := json.Marshal(CallInfo{State: CallRunning})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"xid":0,"program":0,"version":0,"procedure":"","network":"","client":"","uid":0,"machine":"",` +
		`"since":"0001-01-01T00:00:00Z","state":"running"}`
	if string(text) != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
}

// namer is an Observer that notes what procedures calls were of, in the order
// of their ends.
type namer struct{ names chan string }

func (n namer) Begin(c *Call) int64 {
	if c.Procedure() != nil {
		n.names <- "a procedure that nobody has looked for"
	}
	return 0
}

func (n namer) End(c *Call, _ int64, s Status) {
	name := "nothing"
	if p := c.Procedure(); p != nil {
		name = p.Name
	}
	n.names <- fmt.Sprint(name, " ", s)
}

// TestObserverProcedure tells calls of what the server has from those that a
// client has made up.
func TestObserverProcedure(t *testing.T) {
	o := namer{make(chan string, 1)}
	p := newToy().add(procFails, Proc{Name: "FAILS"}, func(*Call) error { return ErrProcUnavail })
	w := serve(t, &Server{Observer: o}, p)
	c := w.pipe()
	badCred := callBytes(1, toyProg, 2, procEcho)
	badCred[27] = 99
	oldRPC := callBytes(1, toyProg, 2, procEcho)
	oldRPC[11] = 1
	for _, test := range []struct {
		call []byte
		want string
	}{
		{callBytes(1, toyProg, 2, 0), "NULL 0"},
		{callBytes(1, toyProg, 2, procEcho), "ECHO 0"},
		{callBytes(1, toyProg, 2, procFails), "FAILS 3"},
		{callBytes(1, toyProg, 2, 98765), "nothing 3"},
		{callBytes(1, toyProg, 9, procEcho), "nothing 2"},
		{callBytes(1, 98765, 2, procEcho), "nothing 1"},
		{callBytes(1, 98765, 2, 0), "nothing 1"},
		{badCred, "nothing 7"},
		{oldRPC, "nothing 6"},
		{oldRPC[:12], "nothing 6"},
	} {
		exchange(t, c, test.call)
		if got := <-o.names; got != test.want {
			t.Errorf("% x: %s, want %s", test.call, got, test.want)
		}
	}
}
