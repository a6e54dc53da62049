//go:build !ungated

package bufpool

import "testing"

// TestTrim lets demand fall from four runs to one, and to none.
func TestTrim(t *testing.T) {
	p := New(Config{})
	p.Trim(at(0))
	use := func(n int) {
		var runs []*Run
		for range n {
			runs = append(runs, p.Get(1))
		}
		putAll(p, runs)
	}
	for _, c := range []struct {
		at   float64
		use  int
		free uint64
	}{
		{1, 4, 12},
		{4.9, 1, 12},
		{5, 1, 12}, // the window before needed four
		{9.9, 1, 12},
		{10, 1, 3},
		{14.9, 2, 6},
		{19.9, 0, 6},
		{20, 0, 0},
		{1000, 3, 0}, // nothing was known for long
		{1000.5, 3, 9},
	} {
		use(c.use)
		p.Trim(at(c.at))
		if s := p.Stats(); s.Free != c.free {
			t.Errorf("at %v s: %d pages free, want %d", c.at, s.Free, c.free)
		}
	}
	closeClean(t, p)
}

// TestTrimIdle fills a pool and lets it idle, whenever that begins.
func TestTrimIdle(t *testing.T) {
	for start := 0.0; start < 10; start += 1.3 {
		p := New(Config{Cap: 1})
		p.Trim(at(0))
		now := 0.0
		for ; now < start; now++ {
			p.Trim(at(now))
		}
		runs := fill(p, 65536)
		for _, r := range runs {
			fly(p, r).Release()
		}
		for ; now < start+10; now++ {
			p.Trim(at(now))
		}
		p.Trim(at(start + 10))
		if s := p.Stats(); s.Held*PageSize > 64<<10 {
			t.Errorf("idle for 10 s from %v s: %+v", start, s)
		}
		closeClean(t, p)
	}
}

// TestTrimLeavesTheBusy trims while everything is lent or in flight.
func TestTrimLeavesTheBusy(t *testing.T) {
	p := New(Config{})
	a, b := p.Get(1), fly(p, p.Get(1))
	for i := range 100 {
		p.Trim(at(float64(i)))
	}
	if s := p.Stats(); s.Lent != 3 || s.InFlight != 3 || s.Trimmed != 0 {
		t.Errorf("%+v", s)
	}
	p.Put(a)
	b.Release()
	p.Trim(at(100))
	if s := p.Stats(); s.Free != 6 {
		t.Errorf("was in use a second ago: %+v", s)
	}
	closeClean(t, p)
}

// TestTrimFindsReady has a run become ready behind one that does not.
func TestTrimFindsReady(t *testing.T) {
	p := New(Config{})
	a, b := p.Get(1), p.Get(1)
	fly(p, a)
	fly(p, b).Release()
	p.Trim(at(0))
	p.Trim(at(10))
	if s := p.Stats(); s.Free != 0 || s.InFlight != 3 {
		t.Errorf("%+v", s)
	}
	a.Release()
	closeClean(t, p)
}

func TestOldestInFlight(t *testing.T) {
	p := New(Config{})
	var runs []*Run
	for i := range 3 {
		p.Tick(at(float64(i)))
		runs = append(runs, fly(p, p.Get(PageSize<<i)))
	}
	for _, c := range []struct {
		at, want float64
		fn       func()
	}{
		{10, 10, func() {}},
		{9, 10, func() {}}, // time does not go back
		{11, 10, func() { runs[0].Release() }},
		{12, 10, func() { p.Detach(runs[1]) }},
		{13, 0, func() { runs[2].Release() }},
	} {
		c.fn()
		p.Tick(at(c.at))
		if got := p.Stats().OldestInFlight.Seconds(); got != c.want {
			t.Errorf("at %v s: %v s, want %v", c.at, got, c.want)
		}
	}
	runs[1].Release()
	closeClean(t, p)
}
