//go:build invariants && !ungated

package bufpool

import (
	"fmt"
	"strings"
	"testing"
)

func TestOwnerChecked(t *testing.T) {
	p := New(Config{})
	r := p.Get(1)
	for name, fn := range map[string]func(){
		"Get":        func() { p.Get(1) },
		"GetScratch": func() { p.GetScratch(1) },
		"MayGate":    func() { p.MayGate(r) },
		"Put":        func() { p.Put(r) },
		"Detach":     func() { p.Detach(r) },
		"GiveUp":     func() { p.GiveUp(r) },
		"Tick":       func() { p.Tick(at(0)) },
		"Trim":       func() { p.Trim(at(0)) },
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			mustPanic(t, name+" on another goroutine", fn)
		}()
		<-done
	}
	p.Put(r)
	closeClean(t, p)
}

func TestPoison(t *testing.T) {
	for _, c := range []struct {
		name string
		fn   func(p *Pool, r *Run)
	}{
		{"free", func(p *Pool, r *Run) { p.Put(r) }},
		{"ready", func(p *Pool, r *Run) { fly(p, r).Release() }},
	} {
		p := New(Config{})
		r := p.Get(1)
		stamp(r, 1)
		c.fn(p, r)
		for i, b := range r.mem {
			if b != 0xdb {
				t.Fatalf("%s: byte %d is %#x", c.name, i, b)
			}
		}
		r.Bytes()[77] = 0
		mustPanic(t, c.name+", then written and lent", func() { p.Get(1) })
	}
}

// TestLeak closes a pool with a run out in each of the ways that are a mistake.
func TestLeak(t *testing.T) {
	for _, c := range []struct {
		name string
		fn   func(p *Pool, r *Run)
	}{
		{"lent", func(p *Pool, r *Run) {}},
		{"in flight", func(p *Pool, r *Run) { fly(p, r) }},
		{"detached", func(p *Pool, r *Run) { fly(p, r); p.Detach(r) }},
	} {
		p := New(Config{})
		p.Put(p.Get(8192))
		c.fn(p, acquireHere(p))
		func() {
			defer func() {
				report := fmt.Sprint(recover())
				if !strings.Contains(report, "acquireHere") || strings.Count(report, "pages with") != 1 {
					t.Errorf("%s: %s", c.name, report)
				}
			}()
			p.Close()
		}()
	}
}

func acquireHere(p *Pool) *Run { return p.Get(1) }
