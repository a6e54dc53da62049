//go:build !race && !invariants && !ungated

package bufpool

import "testing"

// TestAllocs counts in the steady state, with runs in flight, ready out of
// order, detached, and given back for others.
func TestAllocs(t *testing.T) {
	for _, c := range []struct {
		name string
		fn   func(p *Pool)
	}{
		{"get and put", func(p *Pool) { p.Put(p.Get(65536)) }},
		{"in flight", func(p *Pool) {
			a, b := p.Get(1), p.Get(1)
			fly(p, a)
			fly(p, b)
			b.Release()
			p.Put(p.Get(1))
			a.Release()
		}},
		{"gate", func(p *Pool) {
			r := p.Get(1)
			p.MayGate(r)
			fly(p, r).Release()
		}},
		{"detached", func(p *Pool) {
			r := p.Get(1)
			p.Detach(r)
			p.Put(r)
		}},
		{"scratch", func(p *Pool) {
			r := p.Get(MaxPayload)
			p.Put(p.GetScratch(8192))
			p.Put(r)
		}},
		{"in vain", func(p *Pool) {
			r := p.Get(MaxPayload)
			p.Get(1)
			p.Put(r)
		}},
		{"another class", func(p *Pool) {
			p.Put(p.Get(MaxPayload))
			p.Put(p.Get(8192))
		}},
		{"stats", func(p *Pool) { p.Stats() }},
		{"trim", func(p *Pool) { p.Put(p.Get(1)); p.Trim(at(0)) }},
	} {
		p := New(Config{Cap: 1, Wake: func() {}})
		if n := testing.AllocsPerRun(100, func() { c.fn(p) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
		closeClean(t, p)
	}
}

// TestChurn circles 1 MiB runs of which two are always in flight: after the first
// few pages all are used again.
func TestChurn(t *testing.T) {
	p := New(Config{})
	var flying []*Run
	for range 10000 {
		r := p.Get(MaxPayload)
		if p.MayGate(r) {
			flying = append(flying, fly(p, r))
		} else {
			p.Put(r)
		}
		if len(flying) > 1 {
			flying[0].Release()
			flying = flying[1:]
		}
		if s := p.Stats(); s.Held*PageSize > DefaultCap {
			t.Fatalf("holds %d pages", s.Held)
		}
	}
	flying[0].Release()
	if s := p.Stats(); s.New > 3*258 {
		t.Errorf("%d of %d pages were new", s.New, s.Acquired)
	}
	closeClean(t, p)
}
