package rpc

import (
	"context"
	"testing"
	"time"

	"eddy.example/xprt"
)

// stillClock is a clock that the test moves, and whose ticks never come.
type stillClock struct{ *handClock }

func (stillClock) NewTicker(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// TestStuckCall sees a call that does not return on its event loop.
func TestStuckCall(t *testing.T) {
	clock := stillClock{&handClock{now: time.Unix(1_000_000, 0)}}
	entered, release := make(chan struct{}), make(chan struct{})
	p := newToy().add(procBlock, Proc{Name: "BLOCK"}, func(c *Call) error {
		close(entered)
		<-release
		c.Reply(nil)
		return nil
	})
	s := &Server{Clock: clock}
	if err := s.Register(p); err != nil {
		t.Fatal(err)
	}
	w := &world{t, s, xprt.New(xprt.Config{Workers: 1, Clock: clock}, s)}
	t.Cleanup(func() {
		w.transport.Close()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	c := w.dial(w.listen())
	exchange(t, c, callBytes(1, toyProg, 2, procEcho))
	clock.advance(time.Hour)
	if list := s.Calls(); len(list) != 0 {
		t.Errorf("a call that is over: %+v", list)
	}
	clock.advance(-time.Hour)

	send(t, c, callAs(&Cred{Flavor: AUTH_SYS, UID: 4711}, 7, toyProg, 3, procBlock))
	<-entered
	if list := s.Calls(); len(list) != 0 {
		t.Errorf("stuck at once: %+v", list)
	}
	since := clock.Now()
	clock.advance(stuckAfter)
	list := s.Calls()
	want := CallInfo{
		XID: 7, Program: toyProg, Version: 3, Procedure: "BLOCK", Network: "tcp", UID: 4711,
		Since: since, State: CallStuck,
	}
	if len(list) != 1 {
		t.Fatalf("%+v, want one", list)
	}
	want.Client = list[0].Client
	if list[0] != want || want.Client.String() != c.LocalAddr().String() {
		t.Errorf("%+v, want %+v", list[0], want)
	}
	close(release)
	receive(t, c)
	if list := s.Calls(); len(list) != 0 {
		t.Errorf("after its end: %+v", list)
	}
}
