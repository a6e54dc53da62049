package xprt

import "time"

// Clock tells the time to a [Transport]. Deadlines are measured in its ticks.
type Clock interface {
	Now() time.Time

	// NewTicker returns a channel that gets the time every d, and a function
	// that ends this.
	NewTicker(d time.Duration) (c <-chan time.Time, stop func())
}

// tick is how often deadlines are looked at while something is on its way, and
// how long a connection may be without progress before it is stalled.
const tick = 100 * time.Millisecond

// ticksPerSecond is how often an idle worker is spared a tick.
const ticksPerSecond = int(time.Second / tick)

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) NewTicker(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(d)
	return t.C, t.Stop
}
