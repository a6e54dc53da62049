//go:build !ungated

package bufpool

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model is what a pool ought to be: it keeps the books by hand and looks into
// the pool only to learn which free runs were given back.
type model struct {
	pool *Pool
	cap  int
	runs map[*Run]*modelRun
	want Stats

	nextID       uint64
	armed        bool // Wake is due
	woken, wakes int  // how often it was called, and should have been
	now          time.Time
	quiet        time.Time // when a run was last in use
}

type modelRun struct {
	id       uint64
	owner    bool // has its reference
	others   int
	outside  bool
	gone     bool
	cold     bool
	reserved bool
	since    time.Time
}

func (m *modelRun) busy() bool { return m.owner || m.others > 0 }
func (m *modelRun) idle() bool { return !m.busy() && !m.cold && !m.gone }

// roomMade says that a Get may succeed that did not before.
func (m *model) roomMade() {
	if m.armed {
		m.armed = false
		m.wakes++
	}
}

// pick draws one of the runs that satisfy ok, or returns nil.
func (m *model) pick(t *rapid.T, ok func(*modelRun) bool) (*Run, *modelRun) {
	var some []*Run
	for _, r := range m.pool.runs {
		if ok(m.runs[r]) {
			some = append(some, r)
		}
	}
	if len(some) == 0 {
		return nil, nil
	}
	r := some[rapid.IntRange(0, len(some)-1).Draw(t, "run")]
	return r, m.runs[r]
}

// keptPages is what counts against the cap.
func (m *model) keptPages() int { return int(m.want.Free + m.want.Lent + m.want.InFlight) }

// noteRetired takes note of which idle runs the pool has given back, and returns
// the size of the smallest.
func (m *model) noteRetired() (smallest int) {
	for r, mr := range m.runs {
		if !mr.idle() || r.state != cold {
			continue
		}
		mr.cold = true
		m.want.Free -= uint64(r.Pages())
		m.want.Trimmed += uint64(r.Pages())
		if smallest == 0 || r.Pages() < smallest {
			smallest = r.Pages()
		}
	}
	return smallest
}

func (m *model) get(t *rapid.T, scratch bool) {
	n := rapid.SampledFrom([]int{1, 65536, MaxPayload / 4, MaxPayload / 2, MaxPayload}).Draw(t, "n")
	class := &m.pool.classes[classOf(n)]
	idle, spare := 0, 0
	for r, mr := range m.runs {
		switch {
		case !mr.idle():
		case r.class == class:
			idle++
		default:
			spare += r.Pages()
		}
	}
	before := m.keptPages()

	var r *Run
	if scratch {
		r = m.pool.GetScratch(n)
	} else {
		r = m.pool.Get(n)
	}
	fits := idle > 0 || before-spare+class.pages() <= m.cap
	if r == nil {
		if scratch || fits {
			t.Fatalf("got nothing, scratch %v, %d idle of the class, %d pages of others", scratch, idle, spare)
		}
		m.noteRetired()
		m.armed = true
		return
	}
	if r.class != class {
		t.Fatalf("asked for %d bytes, got %d", n, len(r.Bytes()))
	}
	mr, known := m.runs[r]
	if known && mr.busy() {
		t.Fatalf("lent with references: %+v", *mr)
	}
	if known && mr.gone {
		t.Fatal("lent after it was given up")
	}
	if !known {
		mr = &modelRun{cold: true}
		m.runs[r] = mr
	}
	fresh := mr.cold
	mr.cold, mr.owner = false, true
	smallest := m.noteRetired()
	pages := uint64(r.Pages())
	switch {
	case !fresh:
		m.want.Reused += pages
		m.want.Free -= pages
		m.want.Lent += pages
	case fits:
		m.want.New += pages
		m.want.Lent += pages
		if smallest > 0 && m.keptPages()+smallest <= m.cap {
			t.Fatalf("gave back more than needed: %d of %d pages are kept, %d too many", m.keptPages(), m.cap, smallest)
		}
	default:
		if !scratch {
			t.Fatalf("lent beyond the cap: %d of %d pages", before, m.cap)
		}
		m.want.New += pages
		m.want.BeyondCap += pages
		m.want.Detached += pages
		mr.outside = true
	}
	m.nextID++
	mr.id = m.nextID
	stamp(r, mr.id)
}

// dropped follows the last reference going.
func (m *model) dropped(r *Run, mr *modelRun, from *uint64) {
	if mr.busy() || mr.gone {
		return
	}
	pages := uint64(r.Pages())
	if mr.outside {
		m.want.Detached -= pages
		m.want.Trimmed += pages
		mr.outside, mr.cold = false, true
		return
	}
	*from -= pages
	m.want.Free += pages
	m.roomMade()
}

func (m *model) check(t *rapid.T, r *Run, mr *modelRun) {
	if !mr.gone && !stamped(r, mr.id) {
		t.Fatalf("run %d changed while it had references", mr.id)
	}
}

func (m *model) put(t *rapid.T) {
	r, mr := m.pick(t, func(mr *modelRun) bool { return mr.owner })
	if r == nil {
		return
	}
	m.check(t, r, mr)
	m.pool.Put(r)
	mr.owner, mr.reserved, mr.since = false, false, m.now
	if mr.others > 0 && !mr.outside {
		m.want.Lent -= uint64(r.Pages())
		m.want.InFlight += uint64(r.Pages())
	}
	m.dropped(r, mr, &m.want.Lent)
}

func (m *model) retain(t *rapid.T) {
	r, mr := m.pick(t, func(mr *modelRun) bool { return mr.busy() })
	if r != nil {
		r.Retain()
		mr.others++
	}
}

func (m *model) release(t *rapid.T) {
	r, mr := m.pick(t, func(mr *modelRun) bool { return mr.others > 0 })
	if r == nil {
		return
	}
	m.check(t, r, mr)
	r.Release()
	mr.others--
	m.dropped(r, mr, &m.want.InFlight)
}

// leave moves a busy run out of what counts against the cap.
func (m *model) leave(r *Run, mr *modelRun) {
	mr.reserved = false
	pages := uint64(r.Pages())
	switch {
	case mr.outside:
		m.want.Detached -= pages
		return
	case mr.owner:
		m.want.Lent -= pages
	default:
		m.want.InFlight -= pages
	}
	m.roomMade()
}

func (m *model) detach(t *rapid.T) {
	r, mr := m.pick(t, func(mr *modelRun) bool { return mr.busy() })
	if r == nil {
		return
	}
	m.pool.Detach(r)
	if !mr.gone && !mr.outside {
		m.leave(r, mr)
		mr.outside = true
		m.want.Detached += uint64(r.Pages())
	}
}

func (m *model) giveUp(t *rapid.T) {
	r, mr := m.pick(t, func(mr *modelRun) bool { return mr.busy() })
	if r == nil {
		return
	}
	m.pool.GiveUp(r)
	if !mr.gone {
		m.leave(r, mr)
		mr.gone, mr.owner = true, false
		m.want.GivenUp += uint64(r.Pages())
	}
}

func (m *model) mayGate(t *rapid.T) {
	r, mr := m.pick(t, func(mr *modelRun) bool { return mr.owner })
	if r == nil {
		return
	}
	flight := int(m.want.InFlight)
	for other, o := range m.runs {
		if o.reserved && other != r {
			flight += other.Pages()
		}
	}
	want := mr.reserved || !mr.outside && flight+2*r.Pages() <= m.cap
	if got := m.pool.MayGate(r); got != want {
		t.Fatalf("may gate: %v, with %d pages in flight", got, flight)
	}
	mr.reserved = want
}

func (m *model) trim(t *rapid.T) {
	m.now = m.now.Add(time.Duration(rapid.IntRange(0, 6000).Draw(t, "ms")) * time.Millisecond)
	m.pool.Trim(m.now)
	m.noteRetired()
	m.want.OldestInFlight = 0
	for r, mr := range m.runs {
		if mr.busy() && !mr.owner && !mr.outside && !mr.gone {
			m.want.OldestInFlight = max(m.want.OldestInFlight, m.now.Sub(mr.since))
		}
		if mr.idle() && r.state != free {
			t.Fatal("a run without references was not noticed")
		}
	}
	if m.now.Sub(m.quiet) >= 10*time.Second && m.want.Free*PageSize > 64<<10 {
		t.Fatalf("%d pages free after ten idle seconds", m.want.Free)
	}
}

// compare has the account, the wakes and the cap as they should be.
func (m *model) compare(t *rapid.T) {
	m.want.Acquired = m.want.New + m.want.Reused
	m.want.Held = m.want.Free + m.want.InFlight
	if got := m.pool.Stats(); got != m.want {
		t.Fatalf("the account is\n%+v, want\n%+v", got, m.want)
	}
	if w := m.want; w.New != w.Free+w.Lent+w.InFlight+w.Detached+w.Trimmed+w.GivenUp {
		t.Fatalf("pages are missing: %+v", w)
	}
	if m.keptPages() > m.cap {
		t.Fatalf("%d pages kept, the cap is %d", m.keptPages(), m.cap)
	}
	if m.woken != m.wakes {
		t.Fatalf("woken %d times, want %d", m.woken, m.wakes)
	}
	for _, mr := range m.runs {
		if mr.busy() && !mr.gone {
			m.quiet = m.now
		}
	}
}

func (m *model) close(t *rapid.T) {
	for r, mr := range m.runs {
		if mr.owner {
			m.pool.Put(r)
		}
		for range mr.others {
			r.Release()
		}
	}
	s := m.pool.Close()
	if s.Free+s.Lent+s.InFlight+s.Held+s.Detached != 0 || s.New != s.Trimmed+s.GivenUp {
		t.Fatalf("after Close: %+v", s)
	}
	for r, mr := range m.runs {
		if (r.mem == nil) == mr.gone {
			t.Fatalf("given up: %v, unmapped: %v", mr.gone, r.mem == nil)
		}
	}
}

// TestModel does to a pool whatever can be done to it, in any order.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{
			cap:  rapid.IntRange(258, 400).Draw(t, "cap"),
			runs: map[*Run]*modelRun{},
			now:  time.Unix(1e9, 0),
		}
		m.quiet = m.now
		m.pool = New(Config{Cap: m.cap * PageSize, Wake: func() { m.woken++ }})
		m.pool.Tick(m.now)
		t.Repeat(map[string]func(*rapid.T){
			"get":     func(t *rapid.T) { m.get(t, false) },
			"scratch": func(t *rapid.T) { m.get(t, true) },
			"put":     m.put,
			"retain":  m.retain,
			"release": m.release,
			"detach":  m.detach,
			"giveUp":  m.giveUp,
			"mayGate": m.mayGate,
			"trim":    m.trim,
			"":        m.compare,
		})
		m.close(t)
	})
}
