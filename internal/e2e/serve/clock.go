package serve

import (
	"sync"
	"time"
)

// Clock is a server's clock (an xprt.Clock) that stands still until the test moves
// it. The zero Clock is ready. Its methods may be called by several goroutines, but
// Advance by one only.
type Clock struct {
	mu      sync.Mutex
	passed  time.Duration
	tickers map[*ticker]struct{}
}

type ticker struct {
	period, next time.Duration
	c            chan time.Time
	stopped      chan struct{}
}

// epoch is when a Clock starts.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Now is the time by this clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return epoch.Add(c.passed)
}

// NewTicker returns a channel that gets the time every d, and a function that
// ends this.
func (c *Clock) NewTicker(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := &ticker{period: d, next: c.passed + d, c: make(chan time.Time), stopped: make(chan struct{})}
	if c.tickers == nil {
		c.tickers = make(map[*ticker]struct{})
	}
	c.tickers[k] = struct{}{}
	return k.c, sync.OnceFunc(func() {
		close(k.stopped)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.tickers, k)
	})
}

// Advance moves the clock by d, from tick to tick: each is received before time
// goes on.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := c.passed + d; ; {
		k := c.earliest()
		if k == nil || k.next > end {
			c.passed = end
			return
		}
		c.passed = k.next
		k.next += k.period
		now := epoch.Add(c.passed)
		c.mu.Unlock()
		select {
		case k.c <- now:
		case <-k.stopped:
		}
		c.mu.Lock()
	}
}

func (c *Clock) earliest() (first *ticker) {
	for k := range c.tickers {
		if first == nil || k.next < first.next {
			first = k
		}
	}
	return first
}
