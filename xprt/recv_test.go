package xprt

import (
	"bytes"
	"slices"
	"testing"
	"time"
	"unsafe"

	"eddy.example/bufpool"
	"pgregory.net/rapid"
)

const testMaxRecord = 128 << 10

// rig is a connection without a transport around it that runs: the test is its worker
// and its link, and a record is done as soon as it has arrived unless keep is set.
type rig struct {
	t       testing.TB
	w       *worker
	conn    *Conn
	staging bool // as on a link that cannot see how much has arrived
	keep    bool

	place   Placement
	records [][]byte
	kept    []*Record
	copied  int
	wrong   int // addresses that are not as asked
}

func newRig(t testing.TB, staging bool) *rig {
	g := &rig{t: t, staging: staging}
	tr := &Transport{handler: g}
	tr.cfg = Config{MaxRecord: testMaxRecord, Workers: 1}
	tr.cfg.setDefaults()
	tr.received.limit = int64(tr.cfg.RecvBudget)
	tr.staged.limit = int64(tr.cfg.RecvBudget) / 4
	g.w = &worker{t: tr, pool: bufpool.New(bufpool.Config{}), now: time.Unix(1000, 0)}
	g.w.store.max = 1 << 20
	g.conn = &Conn{w: g.w, link: g, cancel: func(error) {}}
	g.w.add(g.conn)
	return g
}

func (g *rig) Opened(*Conn) {}
func (g *rig) Closed(*Conn) {}

func (g *rig) Place(c *Conn, head []byte, n int) Placement {
	if len(head) < minHead || len(head) > n {
		g.t.Errorf("Place sees %d bytes of %d", len(head), n)
	}
	return g.place
}

func (g *rig) Record(r *Record) {
	g.records = append(g.records, bytes.Clone(r.Data))
	g.copied += r.PayloadCopied
	if p := g.place; p.Unit > 1 && len(r.Data) > headSize {
		at := addressOf(r.Data) + uintptr(p.At)
		if at%uintptr(p.Unit) != uintptr(p.Offset%uint64(p.Unit)) || cap(r.Data) < len(r.Data)+p.Unit {
			g.wrong++
		}
	}
	if g.keep {
		g.kept = append(g.kept, r)
	} else {
		r.Done()
	}
}

func (g *rig) Resume(*Record) {}

func (g *rig) open()                    {}
func (g *rig) read() bool               { return false }
func (g *rig) transmit()                {}
func (g *rig) runs(func(*bufpool.Run))  {}
func (g *rig) roundTrip() time.Duration { return 0 }
func (g *rig) finish()                  {}
func (g *rig) abort()                   { g.conn.gone() }
func (g *rig) tick() (bool, bool)       { return false, false }
func (g *rig) closed() bool             { return false }

func (g *rig) gate() bool {
	if x := &g.conn.rx; g.staging || !x.marks.whole() {
		x.stage()
	} else {
		x.begin()
	}
	return true
}

// feed lets the stream arrive in pieces.
func (g *rig) feed(stream []byte, piece int) {
	for b := range slices.Chunk(stream, piece) {
		for len(b) > 0 && !g.conn.dead {
			g.turns()
			if g.conn.dead || g.conn.rx.state == rxWait || !g.conn.mayRead() {
				return
			}
			to, next := g.conn.rx.want()
			n := copy(to, b)
			if n == len(to) {
				n += copy(next, b[n:])
			}
			if n == 0 {
				g.t.Fatal("the receiver wants nothing")
			}
			g.conn.rx.got(n)
			b = b[n:]
		}
		g.turns()
	}
}

// turns lets the connection do what it can.
func (g *rig) turns() {
	g.w.schedule(g.conn)
	for len(g.w.ready) > 0 {
		g.w.turns()
	}
}

// end checks that nothing is left of the connection.
func (g *rig) end() {
	for _, r := range g.kept {
		r.Done()
	}
	g.conn.fail(nil)
	g.w.settle()
	t := g.w.t
	if n := t.received.used.Load(); n != 0 {
		g.t.Errorf("%d bytes of the budget are left", n)
	}
	if n := t.staged.used.Load(); n != 0 {
		g.t.Errorf("%d bytes of the stage budget are left", n)
	}
	if g.conn.received != 0 {
		g.t.Errorf("the connection holds %d bytes", g.conn.received)
	}
	g.w.pool.Close()
}

func TestReceive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := newRig(t, rapid.Bool().Draw(rt, "staging"))
		g.keep = rapid.Bool().Draw(rt, "keep")
		var stream []byte
		var want [][]byte
		for range rapid.IntRange(1, 6).Draw(rt, "records") {
			n := rapid.OneOf(
				rapid.IntRange(1, 300),
				rapid.IntRange(headSize-8, headSize+8),
				rapid.IntRange(stageSize-8, stageSize+8),
				rapid.IntRange(1, testMaxRecord),
			).Draw(rt, "size")
			want = append(want, pattern(n))
			var cuts []int
			if rapid.IntRange(0, 3).Draw(rt, "fragmented") == 0 {
				cuts = genFragments(rt, n)
			}
			stream = append(stream, encode(pattern(n), cuts...)...)
		}
		g.feed(stream, rapid.IntRange(1+len(stream)/2000, len(stream)).Draw(rt, "piece"))
		if !slices.EqualFunc(g.records, want, bytes.Equal) {
			rt.Fatalf("%d records of %d", len(g.records), len(want))
		}
		g.end()
	})
}

// TestReceiveByteByByte is the same for all ways that a record can begin in a head buffer.
func TestReceiveByteByByte(t *testing.T) {
	for _, staging := range []bool{false, true} {
		for _, first := range []int{1, 3000, 3067, 3068, 3069, 4087, 4088, 4089, 4096} {
			g := newRig(t, staging)
			want := [][]byte{pattern(first), pattern(70000), pattern(4096), pattern(66)}
			var stream []byte
			for _, b := range want {
				stream = append(stream, encode(b)...)
			}
			g.feed(stream, 1)
			if !slices.EqualFunc(g.records, want, bytes.Equal) {
				t.Errorf("first %d, staging %v: got %d records", first, staging, len(g.records))
			}
			g.end()
		}
	}
}

func TestPlacement(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := newRig(t, rapid.Bool().Draw(rt, "staging"))
		n := rapid.IntRange(headSize+1, testMaxRecord).Draw(rt, "size")
		g.place = Placement{
			At:     rapid.IntRange(0, 600).Draw(rt, "at"),
			Offset: rapid.Uint64().Draw(rt, "offset"),
			Unit:   rapid.OneOf(rapid.SampledFrom([]int{512, 4096, 65536}), rapid.IntRange(2, 70000)).Draw(rt, "unit"),
		}
		if g.place.Unit > maxUnit {
			g.place = Placement{}
		}
		g.feed(encode(pattern(n)), rapid.IntRange(1+n/2000, n).Draw(rt, "piece"))
		if g.wrong != 0 || len(g.records) != 1 || !bytes.Equal(g.records[0], pattern(n)) {
			rt.Fatalf("%d records, %d of them in the wrong place", len(g.records), g.wrong)
		}
		if bound := headSize - g.place.At; !g.staging && g.copied > bound {
			rt.Fatalf("%d payload bytes copied, at most %d were to be", g.copied, bound)
		}
		g.end()
	})
}

func TestPlacementThatMakesNoSense(t *testing.T) {
	for _, p := range []Placement{{Unit: -1}, {Unit: maxUnit + 1}, {At: -1, Unit: 4096}, {At: 101, Unit: 4096}} {
		if got := p.check(100); got != (Placement{}) {
			t.Errorf("%+v becomes %+v", p, got)
		}
	}
}

func TestBufferClasses(t *testing.T) {
	last := 0
	for n := 1; n <= maxBuffer; n += 1 + n/100 {
		class, size := bufferClass(n)
		if size < n || class < 0 || class >= bufferClasses || class < last {
			t.Fatalf("%d bytes: class %d of %d bytes", n, class, size)
		}
		if c, s := bufferClass(size); c != class || s != size {
			t.Fatalf("class %d has %d bytes, which are of class %d with %d", class, size, c, s)
		}
		if n > headSize && size > n+n/4+1 {
			t.Fatalf("%d bytes get %d", n, size)
		}
		last = class
	}
	if class, size := bufferClass(maxBuffer + 1); class != -1 || size != maxBuffer+1 {
		t.Error("a buffer of no class")
	}
}

func TestStoreTrim(t *testing.T) {
	s := store{max: 1 << 20}
	var used []*buffer
	for range 10 {
		used = append(used, s.get(100<<10))
	}
	for _, b := range used {
		s.put(b)
	}
	if s.kept > s.max || s.kept < s.max*3/4 {
		t.Errorf("%d bytes are kept", s.kept)
	}
	s.trim() // what was free all the time since the last one: nothing
	before := s.kept
	s.put(s.get(100 << 10))
	s.trim() // all but the one in use
	if _, size := bufferClass(100 << 10); s.kept != size {
		t.Errorf("%d bytes are kept of %d, one buffer of %d was used", s.kept, before, size)
	}
	s.trim()
	s.trim()
	if s.kept != 0 {
		t.Errorf("%d bytes are kept by an idle store", s.kept)
	}
}

// TestSmallReferencePinsLittle keeps one small record of each head buffer.
func TestSmallReferencePinsLittle(t *testing.T) {
	g := newRig(t, false)
	g.keep = true
	var stream []byte
	for range 64 {
		stream = append(stream, encode(pattern(100))...)
	}
	g.feed(stream, len(stream))
	if len(g.kept) != 64 {
		t.Fatal(len(g.kept), "records")
	}
	// 64 records of 104 bytes are in two head buffers.
	if n := g.conn.received; n > 2*headSize {
		t.Errorf("%d bytes are charged", n)
	}
	g.end()
}

func TestMinimumRate(t *testing.T) {
	g := newRig(t, false)
	timeout := g.w.t.cfg.RecvTimeout
	now := g.w.now
	g.conn.tick(now)
	g.feed(encode(pattern(testMaxRecord))[:5000], 5000)
	// As long as 64 KiB come in each timeout, the connection may go on.
	g.conn.tick(now.Add(timeout))
	g.feed(pattern(minProgress), minProgress)
	g.conn.tick(now.Add(timeout + timeout - 1))
	g.conn.tick(now.Add(timeout + timeout + timeout/2))
	if g.conn.dead {
		t.Fatal("ended a connection that is fast enough")
	}
	g.feed(pattern(minProgress/2), minProgress)
	g.conn.tick(now.Add(4 * timeout))
	if !g.conn.dead {
		t.Fatal("did not end a connection that is too slow")
	}
	g.end()
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
