package xprt

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
)

// briefly is a handler that answers each record after brief work.
type briefly struct {
	handler
	work   func(*Record)
	denied atomic.Int64 // records that are not worked on briefly
}

// newBriefly makes one that answers with the record itself.
func newBriefly(work func(*Record)) *briefly {
	h := &briefly{work: work}
	answer := func(r *Record) {
		r.SendSmall(append(r.Small(len(r.Data)), r.Data...))
		r.Done()
	}
	h.record = func(r *Record) {
		r.Attachment = false
		if !r.Brief() {
			h.denied.Add(1)
			answer(r)
		}
	}
	h.resume = func(r *Record) {
		if done := r.Attachment.(bool); !done {
			h.denied.Add(1)
		}
		answer(r)
	}
	return h
}

func (h *briefly) Brief(r *Record) {
	r.Attachment = true
	h.work(r)
}

func TestBrief(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		h := newBriefly(func(*Record) {})
		c := start(t, network, Config{Workers: 1}, h).dial()
		for n := range 100 {
			call := readCall(uint32(n), 0)
			send(t, c, call)
			if got := receive(t, c); string(got) != string(call) {
				t.Fatalf("reply %x, want %x", got, call)
			}
		}
		if n := h.denied.Load(); n > 0 {
			t.Errorf("%d records were not worked on", n)
		}
	})
}

// TestBriefIsNot stops brief work. Everybody else is served, also those who have
// more of it, and at the end those who were stopped.
func TestBriefIsNot(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		stopped, goOn := make(chan struct{}), make(chan struct{})
		h := newBriefly(func(r *Record) {
			if r.Data[0] == 's' {
				stopped <- struct{}{}
				<-goOn
			}
		})
		s := start(t, network, Config{Workers: 1}, h)
		slow, other := s.dial(), s.dial()
		for round := range 10 {
			send(t, slow, []byte("stop"))
			<-stopped
			send(t, slow, []byte("more of this"))
			for range 10 {
				send(t, other, []byte("other"))
				receive(t, other)
			}
			if got := receive(t, slow); string(got) != "more of this" {
				t.Fatalf("reply %q", got)
			}
			if got := s.Stats().Replaced; got != int64(round+1) {
				t.Fatalf("goroutines were replaced %d times, want %d", got, round+1)
			}
			if n := h.denied.Load(); n != int64(11*(round+1)) {
				t.Fatalf("%d records found the place for brief work taken, want %d", n, 11*(round+1))
			}
			goOn <- struct{}{}
			if got := receive(t, slow); string(got) != "stop" {
				t.Fatalf("reply %q", got)
			}
		}
	})
}

// TestBriefGoexit ends the worker's goroutine.
func TestBriefGoexit(t *testing.T) {
	h := newBriefly(func(r *Record) {
		if r.Data[0] == 'e' {
			runtime.Goexit()
		}
	})
	c := start(t, "tcp", Config{Workers: 1}, h).dial()
	for range 100 {
		for _, call := range []string{"exit", "work"} {
			send(t, c, []byte(call))
			if got := receive(t, c); string(got) != call {
				t.Fatalf("reply %q, want %q", got, call)
			}
		}
	}
}

// TestShutdownWaitsForBrief drains while brief work is stopped.
func TestShutdownWaitsForBrief(t *testing.T) {
	stopped, goOn := make(chan struct{}), make(chan struct{})
	h := newBriefly(func(*Record) {
		stopped <- struct{}{}
		<-goOn
	})
	s := start(t, "tcp", Config{Workers: 1}, h)
	c := s.dial()
	send(t, c, []byte("stop"))
	<-stopped
	down := make(chan error)
	go func() { down <- s.Shutdown(context.Background()) }()
	for !s.closing.Load() {
		runtime.Gosched()
	}
	select {
	case err := <-down:
		t.Fatal("Shutdown has not waited:", err)
	default:
	}
	goOn <- struct{}{}
	if got := receive(t, c); string(got) != "stop" {
		t.Errorf("reply %q", got)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
}

// TestBriefChurn has goroutines replaced at random.
func TestBriefChurn(t *testing.T) {
	h := newBriefly(func(r *Record) {
		if r.Data[3]%50 == 0 {
			ticks, stop := systemClock{}.NewTicker(3 * briefTime)
			<-ticks
			stop()
		}
	})
	s := start(t, "tcp", Config{Workers: 2}, h)
	const conns, calls = 8, 1000
	done := make(chan int)
	for range conns {
		c := s.dial()
		go func() {
			for n := range calls {
				send(t, c, readCall(uint32(n), n))
			}
		}()
		go func() {
			n := 0
			for range calls {
				if len(receive(t, c)) == 8 {
					n++
				}
			}
			done <- n
		}()
	}
	for range conns {
		if n := <-done; n != calls {
			t.Errorf("%d replies of %d", n, calls)
		}
	}
	t.Logf("%d goroutines were replaced", s.Stats().Replaced)
}
