//go:build !ungated

package bufpool

import (
	"sync"
	"testing"
)

// TestWake has a full pool make room in every way there is.
func TestWake(t *testing.T) {
	for _, c := range []struct {
		name string
		fn   func(p *Pool, mine, flying *Run)
		wake int
	}{
		{"release", func(p *Pool, mine, flying *Run) { flying.Release(); p.Put(mine) }, 1},
		{"put", func(p *Pool, mine, flying *Run) { p.Put(mine); flying.Release() }, 1},
		{"detach", func(p *Pool, mine, flying *Run) { p.Detach(flying); flying.Release(); p.Put(mine) }, 1},
		{"give up", func(p *Pool, mine, flying *Run) { p.GiveUp(flying); p.GiveUp(mine) }, 1},
		{"get in vain twice", func(p *Pool, mine, flying *Run) {
			p.Get(MaxPayload)
			p.Put(mine)
			p.Get(MaxPayload)
			flying.Release()
		}, 2},
		{"another size in the meantime", func(p *Pool, mine, flying *Run) {
			p.Put(p.Get(1))
			p.Put(mine)
			flying.Release()
		}, 1},
		{"scratch in the meantime", func(p *Pool, mine, flying *Run) {
			p.Put(p.GetScratch(MaxPayload))
			flying.Release()
			p.Put(mine)
		}, 1},
	} {
		woken := 0
		p := New(Config{Cap: 1, Wake: func() { woken++ }})
		p.Put(p.Get(1))
		mine := p.Get(65536)
		flying := fly(p, p.Get(65536))
		if p.Get(MaxPayload) != nil {
			t.Fatal("got a run beyond the cap")
		}
		if woken != 0 {
			t.Errorf("%s: woken too early", c.name)
		}
		c.fn(p, mine, flying)
		if woken != c.wake {
			t.Errorf("%s: woken %d times, want %d", c.name, woken, c.wake)
		}
		closeClean(t, p)
	}
}

// TestNoWake gets nil never, and so has nothing to be woken for.
func TestNoWake(t *testing.T) {
	p := New(Config{Cap: 1, Wake: func() { t.Error("woken") }})
	big := p.Get(MaxPayload)
	p.Put(p.GetScratch(1))
	p.Put(big)
	fly(p, p.Get(MaxPayload)).Release()
	// Finds the room only by giving the big run back.
	p.Put(p.Get(1))
	closeClean(t, p)
}

// TestStaysArmed lends something else, for which it has to make room, while a Wake
// is due.
func TestStaysArmed(t *testing.T) {
	woken := 0
	p := New(Config{Cap: 1, Wake: func() { woken++ }})
	runs := fill(p, 8192)
	p.Put(runs[0]) // wakes for the last Get of fill
	p.Get(MaxPayload)
	p.Put(p.GetScratch(1))
	if s := p.Stats(); s.BeyondCap != 0 {
		t.Fatalf("it found no room: %+v", s)
	}
	putAll(p, runs[1:])
	if woken != 2 {
		t.Errorf("woken %d times, want 2", woken)
	}
	closeClean(t, p)
}

// TestWakeNotLost has the only run there is released just while the owner looks
// for one. If a Wake were lost this would not end.
func TestWakeNotLost(t *testing.T) {
	woken, wake := signal()
	p := New(Config{Wake: wake})
	p.cap = p.classes[0].pages()
	sent := make(chan *Run)
	var wg sync.WaitGroup
	wg.Go(func() {
		for r := range sent {
			r.Release()
		}
	})
	for range 20000 {
		r := p.Get(1)
		for r == nil {
			<-woken
			r = p.Get(1)
		}
		sent <- fly(p, r)
	}
	close(sent)
	wg.Wait()
	closeClean(t, p)
}

// TestNoWakeAfterClose has a run come back when nobody is there to be woken.
func TestNoWakeAfterClose(t *testing.T) {
	p := New(Config{Cap: 1, Wake: func() { t.Error("woken") }})
	r := fly(p, p.Get(MaxPayload))
	p.Get(1)
	func() {
		defer func() { recover() }() // the tag invariants
		p.Close()
	}()
	r.Release()
	if s := p.Stats(); s.InFlight != 0 {
		t.Errorf("%+v", s)
	}
}
