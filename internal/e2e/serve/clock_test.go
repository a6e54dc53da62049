package serve

import (
	"slices"
	"testing"
	"time"
)

func TestClockTicksInOrder(t *testing.T) {
	var c Clock
	start := c.Now()
	var got []time.Duration
	slow, stopSlow := c.NewTicker(3 * time.Second)
	fast, stopFast := c.NewTicker(2 * time.Second)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for len(got) < 5 {
			select {
			case now := <-slow:
				got = append(got, now.Sub(start))
			case now := <-fast:
				got = append(got, -now.Sub(start))
			}
		}
	}()
	c.Advance(7 * time.Second)
	stopSlow()
	stopFast()
	<-done
	// A negative number is one of the faster ticker; both are due at 6.
	slices.Sort(got[3:])
	if want := []time.Duration{-2, 3, -4, -6, 6}; !slices.EqualFunc(got, want, func(g, w time.Duration) bool {
		return g == w*time.Second
	}) {
		t.Errorf("got %v, want %v seconds", got, want)
	}
	if passed := c.Now().Sub(start); passed != 7*time.Second {
		t.Errorf("%v have passed", passed)
	}
}

func TestClockGoesOnAfterAStop(t *testing.T) {
	var c Clock
	_, stop := c.NewTicker(time.Second)
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		c.Advance(2 * time.Second) // waits for somebody to receive
	}()
	stop()
	stop()
	<-moved
}
