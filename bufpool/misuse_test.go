//go:build !ungated

package bufpool

import "testing"

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		name string
		fn   func(p *Pool, r *Run)
	}{
		{"put twice", func(p *Pool, r *Run) { p.Put(r); p.Put(r) }},
		{"released without a reference", func(p *Pool, r *Run) { p.Put(r); r.Release() }},
		{"the owner's reference released", func(p *Pool, r *Run) { r.Release() }},
		{"the owner's reference to scratch released", func(p *Pool, r *Run) { p.Detach(r); r.Release() }},
		{"retained without a reference", func(p *Pool, r *Run) { p.Put(r); r.Retain() }},
		{"detached after release", func(p *Pool, r *Run) { p.Put(r); p.Detach(r) }},
		{"given up after release", func(p *Pool, r *Run) { p.Put(r); p.GiveUp(r) }},
		{"asked for the gate after put", func(p *Pool, r *Run) { p.Put(r); p.MayGate(r) }},
		{"put after giving up", func(p *Pool, r *Run) { p.GiveUp(r); p.Put(r) }},
		{"get after close", func(p *Pool, r *Run) { p.Put(r); p.Close(); p.Get(1) }},
		{"detached run released twice", func(p *Pool, r *Run) {
			r.Retain()
			p.Detach(r)
			p.Put(r)
			r.Release()
			r.Release()
		}},
	} {
		p := New(Config{})
		r := p.Get(1)
		mustPanic(t, c.name, func() { c.fn(p, r) })
	}
}

// TestReleaseTwice needs a second reference, so that the first Release is the
// last: afterwards the run waits to be found.
func TestReleaseTwice(t *testing.T) {
	p := New(Config{})
	r := p.Get(1)
	r.Retain()
	p.Put(r)
	r.Release()
	mustPanic(t, "released twice", r.Release)
}
