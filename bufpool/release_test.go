//go:build !ungated

package bufpool

import (
	"sync"
	"testing"
)

// watch looks at the account all the time until it is stopped.
func watch(t *testing.T, p *Pool) (stop func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if s := p.Stats(); s.Held+s.Lent > uint64(p.cap) {
				t.Errorf("over the cap: %+v", s)
				return
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// signal returns a channel that has a value after the function was called.
func signal() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	return c, func() {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// TestReleaseAnywhere lends runs to goroutines that each drop a reference, and
// checks that no run comes back before the last of them has, nor the cap is ever
// exceeded.
func TestReleaseAnywhere(t *testing.T) {
	const holders, sends = 4, 2000
	type send struct {
		run *Run
		id  uint64
	}
	woken, wake := signal()
	p := New(Config{Cap: 1, Wake: wake})
	var (
		queues [holders]chan send
		wg     sync.WaitGroup
		bad    [holders]int
	)
	for i := range queues {
		queues[i] = make(chan send, 16)
		wg.Go(func() {
			for s := range queues[i] {
				if !stamped(s.run, s.id) {
					bad[i]++
				}
				s.run.Release()
			}
		})
	}
	stop := watch(t, p)
	for id := range uint64(sends) {
		n := PageSize << (id % 4)
		r := p.Get(n)
		for r == nil {
			<-woken
			r = p.Get(n)
		}
		stamp(r, id)
		for i := range queues {
			r.Retain()
			queues[i] <- send{r, id}
		}
		if id%64 == 63 {
			p.Detach(r)
		}
		p.Put(r)
	}
	stop()
	for i := range queues {
		close(queues[i])
	}
	wg.Wait()
	for i, n := range bad {
		if n > 0 {
			t.Errorf("holder %d saw %d runs changed", i, n)
		}
	}
	closeClean(t, p)
}

// TestTakenWhileReleased detaches and gives up runs in flight just as their
// last reference goes. Whoever comes first, the account is right.
func TestTakenWhileReleased(t *testing.T) {
	p := New(Config{})
	released := make(chan *Run)
	var wg sync.WaitGroup
	wg.Go(func() {
		for r := range released {
			r.Release()
		}
	})
	for i := range 6000 {
		r := fly(p, p.Get(1))
		released <- r
		for range i % 50 {
			p.Stats() // take some time
		}
		if i%2 == 0 {
			p.Detach(r)
		} else {
			p.GiveUp(r)
		}
	}
	close(released)
	wg.Wait()
	s := p.Stats()
	t.Logf("%d pages detached, %d given up", s.Trimmed, s.GivenUp)
	if s.Lent+s.InFlight+s.Detached != 0 || s.New != s.Free+s.Trimmed+s.GivenUp {
		t.Errorf("%+v", s)
	}
	closeClean(t, p)
}
