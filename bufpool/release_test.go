//go:build !ungated

package bufpool

import (
	"sync"
	"testing"
)

// TestReleaseAnywhere lends runs to goroutines that each drop a reference, and
// checks that no run comes back before the last of them has.
func TestReleaseAnywhere(t *testing.T) {
	const holders, sends = 4, 2000
	type send struct {
		run *Run
		id  uint64
	}
	wake := make(chan struct{}, 1)
	p := New(Config{Cap: 1, Wake: func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}})
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
	for id := range uint64(sends) {
		n := PageSize << (id % 4)
		r := p.Get(n)
		for r == nil {
			<-wake
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
		if s := p.Stats(); s.Held+s.Lent > uint64(p.cap) {
			t.Fatalf("over the cap: %+v", s)
		}
	}
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
