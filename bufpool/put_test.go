//go:build !ungated

package bufpool

import "testing"

func TestPut(t *testing.T) {
	p := New(Config{})
	r := p.Get(1)
	p.Put(r)
	if s := p.Stats(); s.Free != 3 || s.Lent != 0 || s.InFlight != 0 || s.Held != 3 {
		t.Errorf("free: %+v", s)
	}
	p.Get(1).Retain()
	r.Retain()
	p.Put(r)
	if s := p.Stats(); s.Free != 0 || s.Lent != 0 || s.InFlight != 3 || s.Held != 3 {
		t.Errorf("in flight: %+v", s)
	}
	r.Release()
	if s := p.Stats(); s.InFlight != 3 {
		t.Errorf("one reference left: %+v", s)
	}
	r.Release()
	if s := p.Stats(); s.Free != 3 || s.InFlight != 0 {
		t.Errorf("no reference left: %+v", s)
	}
	closeClean(t, p)
}

// TestMayGate lends until the gate is denied. The cap of 1024 pages leaves room
// for two runs in flight and one to circle.
func TestMayGate(t *testing.T) {
	p := New(Config{})
	a, b, c := p.Get(MaxPayload), p.Get(MaxPayload), p.Get(MaxPayload)
	if !p.MayGate(a) || !p.MayGate(b) {
		t.Error("two may")
	}
	if p.MayGate(c) {
		t.Error("a third would leave none to circle, even before the others are put")
	}
	if !p.MayGate(a) {
		t.Error("a yes holds")
	}
	fly(p, a)
	fly(p, b)
	if p.MayGate(c) {
		t.Error("a third would leave none to circle")
	}
	p.Detach(a)
	if !p.MayGate(c) {
		t.Error("one that is detached does not count")
	}
	b.Release()
	p.Put(c)
	c = p.Get(MaxPayload)
	if !p.MayGate(c) {
		t.Error("what was put without a reference does not count")
	}
	p.Detach(c)
	if p.MayGate(c) {
		t.Error("what is detached may not")
	}
	if p.reserved != 0 {
		t.Errorf("%d pages still reserved", p.reserved)
	}
	p.Put(c)
	a.Release()
	closeClean(t, p)
}

// TestMayGateExactly has room for just one beside the one that circles.
func TestMayGateExactly(t *testing.T) {
	for _, c := range []struct {
		pages int
		want  bool
	}{{515, false}, {516, true}} {
		p := New(Config{Cap: c.pages * PageSize})
		r := p.Get(MaxPayload)
		if got := p.MayGate(r); got != c.want {
			t.Errorf("cap of %d pages: %v", c.pages, got)
		}
		p.Put(r)
		closeClean(t, p)
	}
}

func TestDetach(t *testing.T) {
	for _, c := range []struct {
		name string
		fn   func(p *Pool) *Run // returns it with two references
	}{
		{"lent", func(p *Pool) *Run {
			r := p.Get(1)
			r.Retain()
			r.Retain()
			p.Detach(r)
			if s := p.Stats(); s.Lent != 0 || s.Detached != 3 {
				t.Errorf("lent and detached: %+v", s)
			}
			p.Put(r)
			return r
		}},
		{"in flight", func(p *Pool) *Run {
			r := p.Get(1)
			r.Retain()
			fly(p, r)
			p.Detach(r)
			p.Detach(r)
			return r
		}},
	} {
		p := New(Config{})
		r := c.fn(p)
		if s := p.Stats(); s.Held != 0 || s.Lent != 0 || s.Detached != 3 {
			t.Errorf("%s: %+v", c.name, s)
		}
		r.Release()
		r.Release()
		if s := p.Stats(); s.Detached != 0 || s.Trimmed != 3 {
			t.Errorf("%s, then released: %+v", c.name, s)
		}
		if p.Get(1) != r {
			t.Errorf("%s: the address range is not used again", c.name)
		}
		p.Put(r)
		closeClean(t, p)
	}
}

// TestDetachReady detaches a run that the pool has not noticed to be ready.
func TestDetachReady(t *testing.T) {
	p := New(Config{})
	r := fly(p, p.Get(1))
	r.Release()
	p.Detach(r)
	p.GiveUp(r)
	if s := p.Stats(); s.Free != 3 || s.Detached != 0 || s.GivenUp != 0 {
		t.Errorf("%+v", s)
	}
	if p.Get(1) != r {
		t.Error("it is not lent again")
	}
	p.Put(r)
	closeClean(t, p)
}

func TestGiveUp(t *testing.T) {
	for _, c := range []struct {
		name string
		fn   func(p *Pool, r *Run)
	}{
		{"lent", func(p *Pool, r *Run) {}},
		{"lent and reserved", func(p *Pool, r *Run) { p.MayGate(r) }},
		{"in flight", func(p *Pool, r *Run) { fly(p, r) }},
		{"lent and detached", func(p *Pool, r *Run) { p.Detach(r) }},
		{"in flight and detached", func(p *Pool, r *Run) { fly(p, r); p.Detach(r) }},
	} {
		p := New(Config{})
		r := p.Get(1)
		r.Retain()
		c.fn(p, r)
		p.GiveUp(r)
		p.GiveUp(r)
		p.Detach(r)
		s := p.Stats()
		if s.GivenUp != 3 || s.Held != 0 || s.Lent != 0 || s.Detached != 0 || s.Trimmed != 0 {
			t.Errorf("%s: %+v", c.name, s)
		}
		if p.reserved != 0 || p.classes[0].busy != 0 {
			t.Errorf("%s: %d pages reserved, %d runs busy", c.name, p.reserved, p.classes[0].busy)
		}
		r.Release()
		if q := p.Get(1); q == r {
			t.Errorf("%s: lent again", c.name)
		} else {
			p.Put(q)
		}
		_ = r.Bytes()[0]
		closeClean(t, p)
		_ = r.Bytes()[0]
	}
}
