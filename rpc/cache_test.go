package rpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eddy.example/rpc/xdr"
	"pgregory.net/rapid"
)

// counter is a program with a procedure that is not idempotent: it returns how
// often it has run.
type counter struct {
	*toy
	runs atomic.Uint32
	// gate, if not nil, is waited for off the event loop; entered is told
	// before.
	gate    func(c *Call) <-chan struct{}
	entered chan struct{}
}

func newCounter() *counter {
	p := &counter{toy: newToy(), entered: make(chan struct{}, 100)}
	p.add(procOnce, Proc{Name: "ONCE", Cached: true}, p.once)
	return p
}

func (p *counter) once(c *Call) error {
	if p.gate != nil {
		if !c.MayWait {
			return ErrWouldBlock
		}
		p.entered <- struct{}{}
		<-p.gate(c)
	}
	c.Reply(xdr.AppendUint32(c.Results(4), p.runs.Add(1)))
	return nil
}

// stop makes every call wait for the channel returned.
func (p *counter) stop() chan struct{} {
	gate := make(chan struct{})
	p.gate = func(*Call) <-chan struct{} { return gate }
	return gate
}

// run is the reply of the nth run.
func run(xid, n uint32) []byte { return xdr.AppendUint32(appendAccepted(nil, xid, SUCCESS), n) }

func wantReply(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s: reply %x, want %x", what, got, want)
	}
}

func TestReplayAfterCut(t *testing.T) {
	p := newCounter()
	w := serve(t, new(Server), p)
	addr := w.listen()
	call := callBytes(1, toyProg, 2, procOnce)
	for range 3 {
		c := w.dial(addr)
		wantReply(t, "from any port", exchange(t, c, call), run(1, 1))
		wantReply(t, "on the same connection", exchange(t, c, call), run(1, 1))
		c.Close()
	}
}

// TestReplayOfUnsentReply cuts the connection while the call runs.
func TestReplayOfUnsentReply(t *testing.T) {
	p := newCounter()
	release := p.stop()
	w := serve(t, new(Server), p)
	addr := w.listen()
	call := callBytes(1, toyProg, 2, procOnce)
	c := w.dial(addr)
	send(t, c, call)
	<-p.entered
	c.Close()
	close(release)
	wantReply(t, "on the next connection", exchange(t, w.dial(addr), call), run(1, 1))
}

func TestDuplicatesOfRunningCall(t *testing.T) {
	p := newCounter()
	release := p.stop()
	o := &begins{want: 7, all: make(chan struct{})}
	w := serve(t, &Server{Observer: o}, p)
	addr := w.listen()
	call, null := callBytes(1, toyProg, 2, procOnce), callBytes(2, toyProg, 2, 0)
	first, second, third := w.dial(addr), w.dial(addr), w.dial(addr)
	send(t, first, call)
	<-p.entered
	for _, c := range []net.Conn{first, second, third, second} {
		send(t, c, call)
	}
	// NULL is answered behind them: they have been seen.
	for _, c := range []net.Conn{first, second} {
		wantReply(t, "NULL", exchange(t, c, null), appendAccepted(nil, 2, SUCCESS))
	}
	<-o.all
	third.Close()
	close(release)
	// One reply each, and nothing more.
	for _, c := range []net.Conn{first, second} {
		wantReply(t, "when it ends", receive(t, c), run(1, 1))
		wantReply(t, "NULL", exchange(t, c, null), appendAccepted(nil, 2, SUCCESS))
	}
}

// TestOthersDoNotSeeReplies varies everything that tells calls apart, and what
// does not.
func TestOthersDoNotSeeReplies(t *testing.T) {
	p := newCounter()
	p.add(99, Proc{Cached: true}, p.once)
	c := serve(t, new(Server), p).pipe()
	user := func(change func(*Cred)) *Cred {
		cred := &Cred{Flavor: AUTH_SYS, UID: 1000, GID: 100, GIDs: []uint32{101, 102}, Machine: []byte("krypton"), Stamp: 1}
		change(cred)
		return cred
	}
	same := user(func(*Cred) {})
	n := uint32(0)
	for _, test := range []struct {
		name string
		call []byte
	}{
		{"first", callAs(same, 1, toyProg, 2, procOnce, 0, 0, 0, 7)},
		{"other user", callAs(user(func(c *Cred) { c.UID = 0 }), 1, toyProg, 2, procOnce, 0, 0, 0, 7)},
		{"other group", callAs(user(func(c *Cred) { c.GID = 0 }), 1, toyProg, 2, procOnce, 0, 0, 0, 7)},
		{"other groups", callAs(user(func(c *Cred) { c.GIDs[1] = 0 }), 1, toyProg, 2, procOnce, 0, 0, 0, 7)},
		{"fewer groups", callAs(user(func(c *Cred) { c.GIDs = nil }), 1, toyProg, 2, procOnce, 0, 0, 0, 7)},
		{"other machine", callAs(user(func(c *Cred) { c.Machine = []byte("argon") }), 1, toyProg, 2, procOnce, 0, 0, 0, 7)},
		{"no identity", callBytes(1, toyProg, 2, procOnce, 0, 0, 0, 7)},
		{"nobody by name", callAs(&Cred{Flavor: AUTH_SYS, UID: Nobody, GID: Nobody}, 1, toyProg, 2, procOnce, 0, 0, 0, 7)},
		{"other XID", callAs(same, 2, toyProg, 2, procOnce, 0, 0, 0, 7)},
		{"other version", callAs(same, 1, toyProg, 3, procOnce, 0, 0, 0, 7)},
		{"other procedure", callAs(same, 1, toyProg, 2, 99, 0, 0, 0, 7)},
		{"other arguments", callAs(same, 1, toyProg, 2, procOnce, 0, 0, 0, 8)},
		{"more arguments", callAs(same, 1, toyProg, 2, procOnce, 0, 0, 0, 7, 0, 0, 0, 0)},
	} {
		n++
		xid := binary.BigEndian.Uint32(test.call)
		wantReply(t, test.name, exchange(t, c, test.call), run(xid, n))
		wantReply(t, test.name+" again", exchange(t, c, test.call), run(xid, n))
	}
	again := callAs(user(func(c *Cred) { c.Stamp = 2 }), 1, toyProg, 2, procOnce, 0, 0, 0, 7)
	wantReply(t, "other stamp", exchange(t, c, again), run(1, 1))
}

// TestPeers is about who is the same client on another connection.
func TestPeers(t *testing.T) {
	p := newCounter()
	w := serve(t, new(Server), p)
	call := callBytes(1, toyProg, 2, procOnce)
	path := filepath.Join(t.TempDir(), "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.transport.Serve(l)
	}()
	defer func() {
		l.Close()
		<-done
	}()
	unix := func() net.Conn {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	wantReply(t, "Unix socket", exchange(t, unix(), call), run(1, 1))
	wantReply(t, "another Unix socket", exchange(t, unix(), call), run(1, 1))
	pipe := w.pipe()
	wantReply(t, "pipe", exchange(t, pipe, call), run(1, 2))
	wantReply(t, "same pipe", exchange(t, pipe, call), run(1, 2))
	wantReply(t, "other pipe", exchange(t, w.pipe(), call), run(1, 3))
	wantReply(t, "TCP", exchange(t, w.dial(w.listen()), call), run(1, 4))
	wantReply(t, "TCP again", exchange(t, w.dial(w.listen()), call), run(1, 4))
}

func TestReplayAfterPanic(t *testing.T) {
	for _, wait := range []bool{false, true} {
		p, runs := newToy(), atomic.Int32{}
		p.add(procOnce, Proc{Cached: true}, func(c *Call) error {
			if wait && !c.MayWait {
				return ErrWouldBlock
			}
			runs.Add(1)
			panic("after the deed")
		})
		w := serve(t, new(Server), p)
		addr := w.listen()
		for range 3 {
			got := exchange(t, w.dial(addr), callBytes(1, toyProg, 2, procOnce))
			wantReply(t, "panic", got, appendAccepted(nil, 1, SYSTEM_ERR))
		}
		if n := runs.Load(); n != 1 {
			t.Errorf("wait %t: ran %d times", wait, n)
		}
	}
}

// TestPanicWithDuplicate has a duplicate wait for a call that panics, and one
// for a call that is dropped.
func TestPanicWithDuplicate(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	p := newToy().add(procOnce, Proc{Cached: true}, func(c *Call) error {
		if !c.MayWait {
			return ErrWouldBlock
		}
		entered <- struct{}{}
		<-release
		if c.XID == 1 {
			panic("after the deed")
		}
		return ErrDrop
	})
	w := serve(t, new(Server), p)
	addr := w.listen()
	first, second := w.dial(addr), w.dial(addr)
	for xid := uint32(1); xid <= 2; xid++ {
		send(t, first, callBytes(xid, toyProg, 2, procOnce))
		<-entered
		send(t, second, callBytes(xid, toyProg, 2, procOnce))
	}
	exchange(t, second, callBytes(3, toyProg, 2, 0))
	close(release)
	for _, c := range []net.Conn{first, second} {
		wantReply(t, "panic", receive(t, c), appendAccepted(nil, 1, SYSTEM_ERR))
		wantReply(t, "after the dropped call", exchange(t, c, callBytes(4, toyProg, 2, 0)), appendAccepted(nil, 4, SUCCESS))
	}
}

// TestNotDoneIsNotKept is about calls that have failed before they did
// anything.
func TestNotDoneIsNotKept(t *testing.T) {
	var runs atomic.Int32
	p := newToy().add(procOnce, Proc{Cached: true}, func(c *Call) error {
		if runs.Add(1) == 1 {
			return ErrGarbageArgs
		}
		c.Reply(nil)
		return nil
	})
	c := serve(t, new(Server), p).pipe()
	wantReply(t, "first", exchange(t, c, callBytes(1, toyProg, 2, procOnce)), appendAccepted(nil, 1, GARBAGE_ARGS))
	for range 2 {
		wantReply(t, "second", exchange(t, c, callBytes(1, toyProg, 2, procOnce)), appendAccepted(nil, 1, SUCCESS))
	}
	if n := runs.Load(); n != 2 {
		t.Errorf("ran %d times", n)
	}
}

// TestIdempotentRunsAgain makes sure that only Cached procedures are in the
// cache.
func TestIdempotentRunsAgain(t *testing.T) {
	p := newCounter()
	p.procs[procOnce].Cached = false
	c := serve(t, new(Server), p).pipe()
	for n := range uint32(3) {
		wantReply(t, "again", exchange(t, c, callBytes(1, toyProg, 2, procOnce)), run(1, n+1))
	}
}

func TestCachedReplyIsSmall(t *testing.T) {
	p := newToy().add(2, Proc{Cached: true}, func(c *Call) error {
		if _, err := c.Pages(10); err != nil {
			return err
		}
		c.ReplyPages(nil, 10)
		return nil
	}).add(3, Proc{Cached: true}, func(c *Call) error { c.ReplySegments(nil); return nil })
	c := serve(t, new(Server), p).client()
	for proc := uint32(2); proc <= 3; proc++ {
		if err := c.Call(background, toyProg, 2, proc, nil, nil, nil); !errors.Is(err, ErrSystem) {
			t.Errorf("procedure %d: %v", proc, err)
		}
	}
}

// handClock is a clock that is moved by hand.
type handClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestRepliesAge(t *testing.T) {
	clock := &handClock{now: time.Unix(1e9, 0)}
	p := newCounter()
	c := serve(t, &Server{Clock: clock, CacheAge: time.Minute}, p).pipe()
	call := callBytes(1, toyProg, 2, procOnce)
	wantReply(t, "first", exchange(t, c, call), run(1, 1))
	clock.advance(time.Minute)
	wantReply(t, "after a minute", exchange(t, c, call), run(1, 1))
	clock.advance(time.Nanosecond)
	wantReply(t, "later", exchange(t, c, call), run(1, 2))
	wantReply(t, "later again", exchange(t, c, call), run(1, 2))
}

// cacheBytes checks the cache's books and returns what it holds.
func cacheBytes(t *testing.T, rc *replyCache) (bytes, entries int) {
	t.Helper()
	for i := range rc.shards {
		s := &rc.shards[i]
		s.mu.Lock()
		sum, listed := 0, 0
		for k, e := range s.entries {
			if e.key != k {
				t.Errorf("shard %d: an entry under another key", i)
			}
			sum += entrySize + cap(e.reply)
		}
		for e := s.newest; e != nil; e = e.older {
			listed++
		}
		if sum != s.bytes || sum > rc.max || listed != len(s.entries) {
			t.Errorf("shard %d: %d bytes in %d entries, counted %d, listed %d, allowed %d", i, sum, len(s.entries), s.bytes, listed, rc.max)
		}
		bytes += sum
		entries += len(s.entries)
		s.mu.Unlock()
	}
	return bytes, entries
}

func TestCacheIsBounded(t *testing.T) {
	p := newToy().add(procOnce, Proc{Cached: true}, echo)
	s := &Server{CacheBytes: 256 << 10}
	c := serve(t, s, p).pipe()
	reply := func(xid uint32) []byte {
		args := bytes.Repeat(word(xid).AppendXDR(nil), 1+int(xid%50)*int(xid%7))
		got := exchange(t, c, callBytes(xid, toyProg, 2, procOnce, args...))
		wantReply(t, "echo", got, append(appendAccepted(nil, xid, SUCCESS), args...))
		return got
	}
	for xid := range uint32(5000) {
		reply(xid)
		if xid%1000 == 999 {
			cacheBytes(t, s.cache)
		}
	}
	b, n := cacheBytes(t, s.cache)
	if stats := s.Stats(); stats.CacheBytes != b || stats.CachedReplies != n {
		t.Errorf("%d bytes in %d entries, stats %+v", b, n, stats)
	}
	if b < 128<<10 || n < 100 {
		t.Errorf("only %d bytes in %d entries are used of %d", b, n, s.CacheBytes)
	}
	// A reply that is larger than all of the cache is sent, but not kept.
	args := make([]byte, 300<<10)
	if got := exchange(t, c, callBytes(1, toyProg, 2, procOnce, args...)); len(got) != replyHead+len(args) {
		t.Errorf("%d bytes", len(got))
	}
	cacheBytes(t, s.cache)
}

// TestLeastRecentlyUsedGoes uses one entry again and again while others come.
func TestLeastRecentlyUsedGoes(t *testing.T) {
	p := newCounter()
	s := &Server{CacheBytes: cacheShards * 4 * entrySize}
	c := serve(t, s, p).pipe()
	for n := range uint32(1000) {
		wantReply(t, "used", exchange(t, c, callBytes(1, toyProg, 2, procOnce)), run(1, 1))
		exchange(t, c, callBytes(2+n, toyProg, 2, procOnce))
	}
	if got := exchange(t, c, callBytes(2, toyProg, 2, procOnce)); bytes.Equal(got, run(2, 2)) {
		t.Error("the unused entry is still there")
	}
}

// TestDuplicates sends calls and duplicates of them over several connections,
// some of which are cut, in any order with the calls' progress. Each runs once,
// and all replies to it are equal.
func TestDuplicates(t *testing.T) {
	p := newCounter()
	base := uint32(0)
	var gates sync.Map // XID to channel
	p.gate = func(c *Call) <-chan struct{} { gate, _ := gates.Load(c.XID); return gate.(chan struct{}) }
	w := serve(t, new(Server), p)
	addr := w.listen()
	go func() {
		for range p.entered {
		}
	}()
	defer close(p.entered)

	rapid.Check(t, func(rt *rapid.T) {
		calls := uint32(rapid.IntRange(1, 4).Draw(rt, "calls"))
		first := base
		base += calls
		before := p.runs.Load()
		closed := make([]bool, calls)
		for i := range calls {
			gates.Store(first+i, make(chan struct{}))
		}
		release := func(i uint32) {
			if gate, _ := gates.Load(first + i); !closed[i] {
				closed[i] = true
				close(gate.(chan struct{}))
			}
		}
		conns := make([]net.Conn, rapid.IntRange(1, 4).Draw(rt, "connections"))
		for i := range conns {
			conns[i] = w.dial(addr)
		}
		for range rapid.IntRange(0, 30).Draw(rt, "steps") {
			i := rapid.Uint32Range(0, calls-1).Draw(rt, "call")
			c := rapid.IntRange(0, len(conns)-1).Draw(rt, "connection")
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				release(i)
			case 1:
				conns[c].Close()
				conns[c] = w.dial(addr)
			default:
				conns[c].Write(record(callBytes(first+i, toyProg, 2, procOnce)))
			}
		}
		answers := map[uint32][]byte{}
		for _, c := range conns {
			for i := range calls {
				release(i)
				c.Write(record(callBytes(first+i, toyProg, 2, procOnce)))
			}
			for seen := map[uint32]bool{}; len(seen) < int(calls); {
				got := receive(t, c)
				xid := binary.BigEndian.Uint32(got)
				if answers[xid] == nil {
					answers[xid] = got
				}
				if !bytes.Equal(got, answers[xid]) {
					rt.Fatalf("call %d: reply %x, and %x", xid-first, got, answers[xid])
				}
				seen[xid] = true
			}
			c.Close()
		}
		if got := p.runs.Load() - before; got != calls {
			rt.Fatalf("%d calls ran %d times", calls, got)
		}
		values := map[string]bool{}
		for _, a := range answers {
			values[string(a[replyHead:])] = true
		}
		if len(values) != int(calls) {
			rt.Fatalf("%d calls got %d different answers", calls, len(values))
		}
	})
}
