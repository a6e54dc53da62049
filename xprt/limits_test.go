package xprt

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// keeper is a handler that keeps records until they are let go.
type keeper struct {
	handler
	mu   sync.Mutex
	kept []*Record
	open bool // keep no more
}

func newKeeper() *keeper {
	k := new(keeper)
	k.record = func(r *Record) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.open {
			r.Post()
			return
		}
		k.kept = append(k.kept, r)
	}
	k.resume = echo.record
	return k
}

func (k *keeper) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.kept)
}

// letGo has the oldest n records answered.
func (k *keeper) letGo(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.kept[:n] {
		r.Post()
	}
	k.kept = k.kept[n:]
}

// letAllGo has all records answered that are there and that will come.
func (k *keeper) letAllGo() {
	k.mu.Lock()
	k.open = true
	k.mu.Unlock()
	k.letGo(k.count())
}

// TestLyingPeers has many connections that send one byte, or announce a long
// record and send a little of it. They cost no budget, and others are served.
func TestLyingPeers(t *testing.T) {
	for _, test := range []struct {
		network string
		conns   int
		sends   []byte
		budget  int64 // that they may hold all together
	}{
		{"tcp", 1000, []byte{0x80}, 0},
		{"tcp", 100, encode(pattern(1 << 20))[:4], 0},
		{"tcp", 100, encode(pattern(1 << 20))[:40_000], 0},
		{"unix", 100, encode(pattern(1 << 20))[:100], 0},
		{"pipe", 100, []byte{0x80}, 0},
		{"pipe", 100, encode(pattern(1 << 20))[:5000], 8 << 20}, // the stage budget
		{"tcp portable", 100, encode(pattern(1 << 20))[:5000], 8 << 20},
	} {
		s := start(t, test.network, Config{Workers: 2}, echo)
		for range test.conns {
			c := s.dial()
			if _, err := c.Write(test.sends); err != nil {
				t.Fatal(err)
			}
		}
		c := s.dial()
		for range 4 {
			var sending sync.WaitGroup
			sending.Go(func() { send(t, c, pattern(100), pattern(50_000)) })
			receive(t, c)
			receive(t, c)
			sending.Wait()
		}
		until(t, func() bool { return s.Stats().Connections == int64(test.conns)+1 })
		if n := s.Stats().ReceiveAdmitted; n > test.budget {
			t.Errorf("%s: %d liars hold %d bytes of the budget", test.network, test.conns, n)
		}
		s.Close()
	}
}

// TestBudget has records kept until no more are admitted, and checks that what waits is
// admitted in its order as they are let go.
func TestBudget(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		const size, fit = 100_000, 5
		k := newKeeper()
		s := start(t, network, Config{Workers: 2, RecvBudget: fit*size + size/2, ConnRecvBudget: 2 * size}, k)
		var clients sync.WaitGroup
		for range 4 {
			c := s.dial()
			clients.Go(func() {
				for range 3 {
					send(t, c, pattern(size))
				}
			})
			clients.Go(func() {
				for range 3 {
					if b, err := receiveRecord(c); err != nil || !bytes.Equal(b, pattern(size)) {
						t.Error("not the record that was sent:", err)
					}
				}
			})
		}
		for left := 12; left > 0; {
			until(t, func() bool { return k.count() >= min(left, 1) })
			if n := s.Stats().ReceiveAdmitted; n > 12*size || k.count() > fit {
				t.Errorf("%d records, %d bytes are admitted", k.count(), n)
			}
			k.letGo(1)
			left--
		}
		clients.Wait()
	})
}

// TestHalfAdmitted has many connections that send at the same time, each in small pieces, what
// all together is far over the budget: all get on.
func TestHalfAdmitted(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		s := start(t, network, Config{Workers: 2, RecvBudget: 600_000, MaxRecord: 300_000}, echo)
		var clients sync.WaitGroup
		for i := range 20 {
			c := s.dial()
			var cuts []int
			if i%2 == 1 {
				cuts = []int{1000, 100_000}
			}
			clients.Go(func() {
				stream := encode(pattern(250_000), cuts...)
				for len(stream) > 0 {
					n := min(30_000, len(stream))
					if _, err := c.Write(stream[:n]); err != nil {
						t.Error(err)
						return
					}
					stream = stream[n:]
				}
			})
			clients.Go(func() {
				if b, err := receiveRecord(c); err != nil || !bytes.Equal(b, pattern(250_000)) {
					t.Error("not the record that was sent:", err)
				}
			})
		}
		clients.Wait()
	})
}

func TestMaxCalls(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		k := newKeeper()
		s := start(t, network, Config{Workers: 1, MaxCalls: 10}, k)
		c := s.dial()
		for range 25 {
			send(t, c, pattern(100))
		}
		for _, n := range []int{10, 10, 5} {
			until(t, func() bool { return k.count() == n })
			if calls := s.Stats().Calls; calls != int64(n) {
				t.Errorf("%d calls", calls)
			}
			k.letGo(n)
			for range n {
				receive(t, c)
			}
		}
	})
}

func TestMaxConns(t *testing.T) {
	s := start(t, "tcp", Config{Workers: 1, MaxConns: 2}, echo)
	a, b := s.dial(), s.dial()
	for _, c := range []net.Conn{a, b} {
		send(t, c, pattern(10))
		receive(t, c)
	}
	expectEnd(t, s.dial())
	if n := s.Stats().Refused; n != 1 {
		t.Error(n, "connections refused")
	}
	a.Close()
	until(t, func() bool { return s.Stats().Connections == 1 })
	c := s.dial()
	send(t, c, pattern(10))
	receive(t, c)
}

// TestSmallRepliesUnread has a peer that asks and asks, and does not read: it is not
// read either, while another one is served.
func TestSmallRepliesUnread(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		// Each call is answered with 50 times as much.
		clock := newFakeClock()
		s := start(t, network, Config{Workers: 1, Clock: clock, SendTimeout: 10 * time.Second}, &handler{record: func(r *Record) {
			r.SendSmall(append(r.Small(5000), pattern(5000)...))
			r.Done()
		}})
		greedy := s.dial()
		var asking sync.WaitGroup
		asking.Go(func() {
			for {
				if _, err := greedy.Write(encode(pattern(100))); err != nil {
					return
				}
			}
		})
		// So much may wait for it, and no more than a turn beyond.
		unsent := 0
		until(t, func() bool {
			s.onWorker(func(w *worker) {
				if len(w.conns) > 0 { // it is let in by and by
					unsent = w.conns[0].tx.small
				}
			})
			return unsent >= maxUnsent
		})
		if unsent > maxUnsent+turnBytes/recordCost*5004 {
			t.Errorf("%d bytes are unsent", unsent)
		}
		c := s.dial()
		for range 10 {
			send(t, c, pattern(100))
			receive(t, c)
		}
		clock.run(t)
		until(t, func() bool { return s.Stats().Timeouts > 0 })
		greedy.Close()
		asking.Wait()
	})
}

// TestReplyBudget has peers that do not read: those that have not for longest have to go.
func TestReplyBudget(t *testing.T) {
	const peers, budget = 6, 3 << 20
	clock := newFakeClock()
	s := start(t, "tcp", Config{Workers: 1, Clock: clock, SendTimeout: time.Hour, ReplyBudget: budget}, read)
	var conns []net.Conn
	for range peers {
		c := s.dial()
		conns = append(conns, c)
		for i := range uint32(8) {
			send(t, c, readCall(i, 1<<20))
		}
		// Until it costs nobody else anything.
		until(t, func() bool {
			clock.advance(tick)
			time.Sleep(time.Millisecond)
			st := s.Stats()
			return st.Accepted == int64(len(conns)) && st.Records == 8*st.Accepted && st.Pools[0].Lent == 0
		})
	}
	until(t, func() bool {
		clock.advance(tick)
		return s.Stats().ReplyMemory <= budget
	})
	left := make(map[netip.AddrPort]bool)
	s.onWorker(func(w *worker) {
		for _, c := range w.conns {
			left[c.remote] = !c.dead
		}
	})
	var ended []int
	for i, c := range conns {
		if !left[addrPort(c.LocalAddr())] {
			ended = append(ended, i)
		}
	}
	if len(ended) == 0 || len(ended) == peers || ended[len(ended)-1] != len(ended)-1 {
		t.Errorf("of %d peers, %v were ended", peers, ended)
	}
	clock.run(t)
}

func TestTimeouts(t *testing.T) {
	for _, test := range []struct {
		name  string
		sends []byte
		after time.Duration
		err   error
	}{
		{"nothing", nil, 40 * time.Second, errIdleTooLong},
		{"part of a mark", []byte{0x80}, 30 * time.Second, ErrTimeout},
		{"part of a small record", encode(pattern(1000))[:500], 30 * time.Second, ErrTimeout},
		{"part of a large record", encode(pattern(1 << 20))[:5000], 30 * time.Second, ErrTimeout},
		{"part of a record that is admitted", encode(pattern(1 << 20))[:80_000], 30 * time.Second, ErrTimeout},
		{"part of a fragment", encode(pattern(5000), 1000)[:3000], 30 * time.Second, ErrTimeout},
	} {
		forEach(t, func(t *testing.T, network string) {
			clock := newFakeClock()
			causes := make(chan error, 1)
			opened := make(chan struct{})
			s := start(t, network, Config{Clock: clock, IdleTimeout: 40 * time.Second}, &handler{
				record: echo.record,
				opened: func(*Conn) { close(opened) },
				closed: func(c *Conn) { causes <- context.Cause(c.Context()) },
			})
			c := s.dial()
			<-opened
			began := clock.Now()
			if _, err := c.Write(test.sends); err != nil {
				t.Fatal(err)
			}
			until(t, func() bool {
				clock.advance(time.Second)
				return len(causes) > 0
			})
			if d := clock.Now().Sub(began); d < test.after {
				t.Errorf("%s: ended after %v", test.name, d)
			}
			if err := <-causes; !errors.Is(err, test.err) {
				t.Errorf("%s: ended because %v", test.name, err)
			}
			clock.run(t)
			expectEnd(t, c)
		})
	}
}

// TestNoTimeouts has a call in flight for long, and a peer that speaks now and then.
func TestNoTimeouts(t *testing.T) {
	clock := newFakeClock()
	k := newKeeper()
	s := start(t, "tcp", Config{Clock: clock}, k)
	waits, speaks := s.dial(), s.dial()
	send(t, waits, pattern(10))
	until(t, func() bool { return k.count() == 1 })
	for range 3 {
		clock.advance(9 * time.Minute)
		send(t, speaks, pattern(10))
		until(t, func() bool { return k.count() == 2 })
		k.mu.Lock()
		r := k.kept[1]
		k.kept = k.kept[:1]
		k.mu.Unlock()
		r.Post()
		receive(t, speaks)
	}
	k.letGo(1)
	receive(t, waits)
	clock.run(t)
}

// flakyListener fails with the errors before it accepts.
type flakyListener struct {
	net.Listener
	errs []error
}

func (l *flakyListener) Accept() (net.Conn, error) {
	if len(l.errs) > 0 {
		err := l.errs[0]
		l.errs = l.errs[1:]
		return nil, err
	}
	return l.Listener.Accept()
}

func TestAcceptErrors(t *testing.T) {
	clock := newFakeClock()
	tr := New(Config{Clock: clock}, echo)
	l, err := Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	full := &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	served := make(chan error)
	go func() { served <- tr.Serve(&flakyListener{l, []error{full, full, full}}) }()
	// It waits between attempts, so nothing happens as long as the clock stands still.
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	send(t, c, pattern(10))
	clock.run(t)
	receive(t, c)
	tr.Close()
	if err := <-served; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}

	broken := errors.New("broken")
	tr = New(Config{}, echo)
	defer tr.Close()
	if err := tr.Serve(&flakyListener{l, []error{broken}}); !errors.Is(err, broken) {
		t.Error(err)
	}
}
