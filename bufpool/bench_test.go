//go:build !ungated

package bufpool

import (
	"sync"
	"testing"
)

func BenchmarkGetPut(b *testing.B) {
	p := New(Config{})
	for b.Loop() {
		p.Put(p.Get(65536))
	}
	p.Close()
}

// BenchmarkInFlight keeps some runs in flight and releases the oldest.
func BenchmarkInFlight(b *testing.B) {
	p := New(Config{})
	var ring [16]*Run
	i := 0
	for b.Loop() {
		if r := ring[i]; r != nil {
			r.Release()
		}
		r := p.Get(65536)
		r.Retain()
		p.Put(r)
		ring[i] = r
		i = (i + 1) % len(ring)
	}
	for _, r := range ring {
		if r != nil {
			r.Release()
		}
	}
	p.Close()
}

// BenchmarkReleaseElsewhere has another goroutine drop the last reference.
func BenchmarkReleaseElsewhere(b *testing.B) {
	woken, wake := signal()
	p := New(Config{Wake: wake})
	sent := make(chan *Run, 64)
	var wg sync.WaitGroup
	wg.Go(func() {
		for r := range sent {
			r.Release()
		}
	})
	for b.Loop() {
		r := p.Get(65536)
		for r == nil {
			<-woken
			r = p.Get(65536)
		}
		r.Retain()
		p.Put(r)
		sent <- r
	}
	close(sent)
	wg.Wait()
	p.Close()
}
