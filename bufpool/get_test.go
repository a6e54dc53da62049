//go:build !ungated

package bufpool

import (
	"slices"
	"testing"
)

// fill lends runs with n bytes until there is nothing more.
func fill(p *Pool, n int) []*Run {
	var runs []*Run
	for r := p.Get(n); r != nil; r = p.Get(n) {
		runs = append(runs, r)
	}
	return runs
}

// fly puts a run to which it keeps a reference.
func fly(p *Pool, r *Run) *Run {
	r.Retain()
	p.Put(r)
	return r
}

func putAll(p *Pool, runs []*Run) {
	for _, r := range runs {
		p.Put(r)
	}
}

func TestGetReusesLast(t *testing.T) {
	p := New(Config{})
	a, b := p.Get(1), p.Get(1)
	p.Put(a)
	p.Put(b)
	if p.Get(1) != b || p.Get(1) != a {
		t.Error("want first what was put last: it is in the cache")
	}
	s := p.Stats()
	if s.New != 6 || s.Reused != 6 || s.Acquired != 12 || s.Lent != 6 {
		t.Errorf("%+v", s)
	}
	p.Put(a)
	p.Put(b)
	closeClean(t, p)
}

// TestGetScans has runs in flight become ready in various places.
func TestGetScans(t *testing.T) {
	for _, c := range []struct {
		name  string
		ready int // which of 12 in flight is ready
		found bool
	}{
		{"oldest", 0, true},
		{"second", 1, true},
		{"last within the limit", scanLimit - 1, true},
		{"first beyond", scanLimit, false},
		{"youngest", 11, false},
	} {
		p := New(Config{})
		var runs []*Run
		for range 12 {
			runs = append(runs, p.Get(1))
		}
		for _, r := range runs {
			fly(p, r)
		}
		runs[c.ready].Release()
		r := p.Get(1)
		if found := r == runs[c.ready]; found != c.found {
			t.Errorf("%s: found: %v", c.name, found)
		}
		p.Put(r)
		for i, r := range runs {
			if i != c.ready {
				r.Release()
			}
		}
		closeClean(t, p)
	}
}

// TestGetLooksEverywhere reaches the cap with the only ready run at the end.
func TestGetLooksEverywhere(t *testing.T) {
	p := New(Config{})
	runs := fill(p, 1)
	for _, r := range runs {
		fly(p, r)
	}
	last := runs[len(runs)-1]
	last.Release()
	if r := p.Get(1); r != last {
		t.Fatalf("got %p, want %p", r, last)
	}
	p.Put(last)
	for _, r := range runs[:len(runs)-1] {
		r.Release()
	}
	closeClean(t, p)
}

func TestCap(t *testing.T) {
	for _, c := range []struct{ cap, n, runs int }{
		{0, MaxPayload, 3},  // 1024 pages, 258 each
		{0, 65536, 56},      // 18 each
		{0, 1, 341},         // 3 each
		{1, MaxPayload, 1},  // never less than that
		{-1, MaxPayload, 1}, //
		{8 << 20, MaxPayload, 7},
	} {
		p := New(Config{Cap: c.cap})
		runs := fill(p, c.n)
		if want := c.runs; len(runs) != want {
			t.Errorf("cap of %d: %d runs with %d bytes, want %d", c.cap, len(runs), c.n, want)
		}
		putAll(p, runs)
		closeClean(t, p)
	}
}

// TestMakeRoom has a full pool of free runs make room for another class.
func TestMakeRoom(t *testing.T) {
	for _, c := range []struct {
		name    string
		free    []int // one class each, taken until 258 pages are full
		get     int
		trimmed uint64
	}{
		{"the smallest that is enough", []int{8192, 65536, 131072}, 32768, 18},
		{"the largest first where none is", []int{8192, 16384}, 32768, 10},
	} {
		p := New(Config{Cap: 1})
		var runs []*Run
		for _, n := range slices.Backward(c.free) {
			if n == c.free[0] {
				runs = append(runs, fill(p, n)...)
			} else {
				runs = append(runs, p.Get(n), p.Get(n))
			}
		}
		putAll(p, runs)
		r := p.Get(c.get)
		if r == nil {
			t.Errorf("%s: no room made", c.name)
			continue
		}
		if got := p.Stats().Trimmed; got != c.trimmed {
			t.Errorf("%s: %d pages given back, want %d", c.name, got, c.trimmed)
		}
		p.Put(r)
		closeClean(t, p)
	}
}

// TestMakeNoRoom asks for more than all that is free.
func TestMakeNoRoom(t *testing.T) {
	p := New(Config{Cap: 1})
	runs := fill(p, 65536)
	p.Put(runs[0])
	if r := p.Get(131072); r != nil {
		t.Error("got a run beyond the cap")
	}
	if s := p.Stats(); s.Trimmed != 0 || s.Free != 18 {
		t.Errorf("given back for nothing: %+v", s)
	}
	putAll(p, runs[1:])
	closeClean(t, p)
}

func TestScratch(t *testing.T) {
	p := New(Config{Cap: 1})
	r := p.GetScratch(MaxPayload)
	if s := p.Stats(); s.BeyondCap != 0 || s.Lent != 258 {
		t.Errorf("there was room: %+v", s)
	}
	x := p.GetScratch(8192)
	if s := p.Stats(); s.BeyondCap != 4 || s.Detached != 4 || s.Lent != 258 {
		t.Errorf("%+v", s)
	}
	if p.MayGate(x) {
		t.Error("scratch may be gated")
	}
	p.Detach(x) // it is already
	fly(p, x)
	if s := p.Stats(); s.Detached != 4 || s.InFlight != 0 {
		t.Errorf("in flight: %+v", s)
	}
	x.Release()
	if s := p.Stats(); s.Detached != 0 || s.Trimmed != 4 {
		t.Errorf("released: %+v", s)
	}
	if y := p.GetScratch(8192); y != x {
		t.Error("its address range is not used again")
	} else if s := p.Stats(); s.New != 258+8 || s.Reused != 0 {
		t.Errorf("again: %+v", s)
	}
	p.Put(x)
	p.Put(r)
	closeClean(t, p)
}
