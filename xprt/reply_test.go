package xprt

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eddy.example/bufpool"
)

// countingOwner counts releases.
type countingOwner struct{ released atomic.Int32 }

func (o *countingOwner) Release() { o.released.Add(1) }

func testFile(t *testing.T, content []byte) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestSendSegments(t *testing.T) {
	content := pattern(3 << 20)
	forEach(t, func(t *testing.T, network string) {
		f := testFile(t, content)
		var owner countingOwner
		s := start(t, network, Config{Workers: 1}, &handler{record: func(r *Record) {
			r.SendSegments(r.Data[:4],
				bufpool.Segment{Mem: content[:100_001], Owner: &owner},
				bufpool.Segment{Owner: &owner},
				bufpool.Segment{File: f, Off: 4321, Len: 2 << 20, Owner: &owner},
				bufpool.Segment{Mem: content[5:6]},
			)
			// Another reply comes behind it.
			r.SendSmall(append(r.Small(4), r.Data[:4]...))
			r.Done()
		}})
		want := append([]byte("head"), content[:100_001]...)
		want = append(want, content[4321:4321+2<<20]...)
		want = append(want, content[5], 0, 0)
		c := s.dial()
		for i := range int32(3) {
			send(t, c, []byte("head and more"))
			if got := receive(t, c); !bytes.Equal(got, want) {
				t.Fatalf("%d bytes, not the segments", len(got))
			}
			if got := receive(t, c); string(got) != "head" {
				t.Fatalf("%q", got)
			}
			until(t, func() bool { return owner.released.Load() == 3*(i+1) })
		}
		if s.Stats().Sends.File == 0 {
			t.Error("no file was sent")
		}
	})
}

// TestFileTooShort promises more of a file than there is: the connection ends, because
// no other byte may come in its place.
func TestFileTooShort(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		f := testFile(t, pattern(10_000))
		var owner countingOwner
		s := start(t, network, Config{}, &handler{record: func(r *Record) {
			r.SendSegments(r.Data[:4], bufpool.Segment{File: f, Off: 0, Len: 20_000, Owner: &owner})
			r.Done()
		}})
		c := s.dial()
		send(t, c, []byte("head"))
		b, _ := io.ReadAll(c)
		if len(b) > 8+10_000 {
			t.Errorf("%d bytes came", len(b))
		}
		until(t, func() bool { return owner.released.Load() == 1 })
	})
}

// TestFileThatIsNone sends from what the kernel cannot send from.
func TestFileThatIsNone(t *testing.T) {
	f, err := os.Open("/proc/self/maps") // of a length that it does not tell
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	forEach(t, func(t *testing.T, network string) {
		s := start(t, network, Config{}, &handler{record: func(r *Record) {
			r.SendSegments(r.Data[:4], bufpool.Segment{File: f, Len: 200})
			r.Done()
		}})
		c := s.dial()
		send(t, c, []byte("head"))
		if got := receive(t, c); len(got) != 204 || got[4] == 0 {
			t.Errorf("%q", got)
		}
	})
}

// TestSegmentsUnsent ends the connection while segments are queued: their owners are released
// nevertheless, once.
func TestSegmentsUnsent(t *testing.T) {
	content := pattern(1 << 20)
	forEach(t, func(t *testing.T, network string) {
		var owner countingOwner
		s := start(t, network, Config{Workers: 1}, &handler{record: func(r *Record) {
			r.SendSegments(r.Data[:4], bufpool.Segment{Mem: content, Owner: &owner})
			r.Done()
		}})
		c := s.dial()
		for range 16 {
			if _, err := c.Write(encode([]byte("head"))); err != nil {
				t.Fatal(err)
			}
		}
		until(t, func() bool { return s.Stats().Records > 0 })
		n := s.Stats().Records
		c.Close()
		until(t, func() bool { return s.Stats().Connections == 0 })
		if got := int64(owner.released.Load()); got < n || got != s.Stats().Records {
			t.Errorf("%d segments released of %d", got, s.Stats().Records)
		}
	})
}

// TestLongHead sends heads that do not fit into a run's room.
func TestLongHead(t *testing.T) {
	s := start(t, "tcp", Config{Workers: 1}, &handler{record: func(r *Record) {
		run := r.Lend(1000)
		if run == nil {
			r.Wait()
			return
		}
		fillPayload(run.Bytes()[:1000], 7)
		r.SendRun(run, r.Data, 1000)
		r.Done()
	}})
	c := s.dial()
	for _, n := range []int{0, 1, bufpool.PageSize - 4, bufpool.PageSize - 3, 3 * bufpool.PageSize} {
		head := pattern(n + 1)[:n+1]
		send(t, c, head)
		got := receive(t, c)
		want := make([]byte, 1000)
		fillPayload(want, 7)
		if !bytes.Equal(got, append(head, want...)) {
			t.Errorf("a head of %d bytes", n+1)
		}
	}
}

// TestPadding checks that padding is zeros also in a run that was used before.
func TestPadding(t *testing.T) {
	for _, network := range networks {
		s := start(t, network, Config{Workers: 1}, &handler{record: func(r *Record) {
			n := int(r.Data[0])
			run := r.Lend(n)
			if run == nil {
				r.Wait()
				return
			}
			for i := range run.Bytes()[:100] {
				run.Bytes()[i] = 0xee
			}
			r.SendRun(run, r.Data[:4], n)
			r.Done()
		}})
		c := s.dial()
		for n := 1; n <= 8; n++ {
			send(t, c, []byte{byte(n), 0, 0, 0})
			want := append([]byte{byte(n), 0, 0, 0}, bytes.Repeat([]byte{0xee}, n)...)
			want = append(want, make([]byte, -n&3)...)
			if got := receive(t, c); !bytes.Equal(got, want) {
				t.Errorf("%x", got)
			}
		}
	}
}

// TestSmallOutgrown appends more to a small reply than was asked for.
func TestSmallOutgrown(t *testing.T) {
	s := start(t, "tcp", Config{Workers: 1}, &handler{record: func(r *Record) {
		for _, n := range []int{10, 5000, batchSize - 100, batchSize, 100_000} {
			r.SendSmall(append(r.Small(4), pattern(n)...))
		}
		r.Done()
	}})
	c := s.dial()
	send(t, c, pattern(4))
	for _, n := range []int{10, 5000, batchSize - 100, batchSize, 100_000} {
		if !bytes.Equal(receive(t, c), pattern(n)) {
			t.Errorf("reply of %d bytes", n)
		}
	}
}

func TestReplyTooLong(t *testing.T) {
	s := start(t, "tcp", Config{Workers: 1}, &handler{record: func(r *Record) {
		n := r.Conn.MaxReply() + int(r.Data[0])
		r.SendSmall(append(r.Small(n), make([]byte, n)...))
		r.Done()
	}})
	c := s.dial()
	send(t, c, []byte{0})
	if n := len(receive(t, c)); n != maxReply {
		t.Error(n, "bytes")
	}
	send(t, c, []byte{1})
	expectEnd(t, c)
}

// TestPost answers from other goroutines, in another order than asked.
func TestPost(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		const calls = 50
		var away []*Record
		var backend sync.WaitGroup
		ask := func(r *Record) {
			run := r.Lend(1000)
			if run == nil {
				r.Wait()
				return
			}
			r.Attachment = run
			backend.Go(func() {
				fillPayload(run.Bytes()[:1000], binary.BigEndian.Uint32(r.Data))
				r.Post()
			})
		}
		s := start(t, network, Config{Workers: 1}, &handler{
			record: ask,
			resume: func(r *Record) {
				if r.Attachment == nil {
					ask(r)
					return
				}
				away = append(away, r) // until all have come
				if len(away) < calls {
					return
				}
				for i := len(away) - 1; i >= 0; i-- {
					r := away[i]
					r.SendRun(r.Attachment.(*bufpool.Run), r.Data[:4], 1000)
					r.Attachment = nil
					r.Done()
				}
				away = nil
			},
		})
		c := s.dial()
		for range 3 {
			for i := range uint32(calls) {
				send(t, c, readCall(i, 1000))
			}
			seen := make(map[uint32]bool)
			for range calls {
				b := receive(t, c)
				id := binary.BigEndian.Uint32(b)
				checkPayload(t, b, id, 1000)
				seen[id] = true
			}
			if len(seen) != calls {
				t.Errorf("%d answers", len(seen))
			}
		}
		backend.Wait()
	})
}

// TestLendWaits has records whose backend is slow hold all pages. Small calls go on, large
// ones wait, in their order, until the pages of the slow ones count no longer.
func TestLendWaits(t *testing.T) {
	clock := newFakeClock()
	var held []*Record
	var runs []*bufpool.Run
	s := start(t, "tcp", Config{Workers: 1, Clock: clock, PoolCap: 4 << 20}, &handler{record: func(r *Record) {
		switch binary.BigEndian.Uint32(r.Data) {
		case 0: // slow
			run := r.Lend(1 << 20)
			if run == nil {
				t.Error("no pages for a slow call")
			}
			held, runs = append(held, r), append(runs, run)
		case 1: // let the slow ones go
			for i, h := range held {
				h.SendRun(runs[i], h.Data[:4], 8)
				h.Done()
			}
			held, runs = nil, nil
			r.Done()
		case 2:
			r.SendSmall(append(r.Small(4), r.Data[:4]...))
			r.Done()
		default:
			read.record(r)
		}
	}})
	slow, large, small := s.dial(), s.dial(), s.dial()
	send(t, slow, readCall(0, 0), readCall(0, 0), readCall(0, 0))
	until(t, func() bool { return s.Stats().Calls == 3 })
	for i := range uint32(5) {
		send(t, large, readCall(10+i, 1<<20))
	}
	until(t, func() bool { return s.Stats().Calls == 8 })
	for range 1000 {
		send(t, small, readCall(2, 0))
		receive(t, small)
	}
	// After a tick or two the slow calls have their pages to themselves.
	until(t, func() bool {
		clock.advance(time.Second)
		return s.Stats().Pools[0].Detached > 0
	})
	for i := range uint32(5) {
		b := receive(t, large)
		checkPayload(t, b, 10+i, 1<<20)
	}
	send(t, slow, readCall(1, 0))
	for range 3 {
		receive(t, slow)
	}
	clock.run(t)
}

// TestLendTwice asks for pages while it has some: it is not made to wait for itself.
func TestLendTwice(t *testing.T) {
	s := start(t, "tcp", Config{Workers: 1, PoolCap: 1 << 20}, &handler{record: func(r *Record) {
		a := r.Lend(1 << 20)
		if a == nil {
			r.Wait()
			return
		}
		b := r.Lend(1 << 20)
		fillPayload(b.Bytes(), 5)
		r.Unlend(a)
		r.SendRun(b, r.Data[:4], 1<<20)
		r.Done()
	}})
	c := s.dial()
	for range 5 {
		send(t, c, readCall(5, 0))
		checkPayload(t, receive(t, c), 5, 1<<20)
	}
}
