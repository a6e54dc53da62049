package xprt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handler is a Handler of functions, of which only record is required.
type handler struct {
	record func(*Record)
	resume func(*Record) // nil is record
	place  func(c *Conn, head []byte, n int) Placement
	opened func(*Conn)
	closed func(*Conn)
}

func (h *handler) Record(r *Record) { h.record(r) }

func (h *handler) Resume(r *Record) {
	if h.resume == nil {
		h.record(r)
	} else {
		h.resume(r)
	}
}

func (h *handler) Place(c *Conn, head []byte, n int) Placement {
	if h.place == nil {
		return Placement{}
	}
	return h.place(c, head, n)
}

func (h *handler) Opened(c *Conn) {
	if h.opened != nil {
		h.opened(c)
	}
}

func (h *handler) Closed(c *Conn) {
	if h.closed != nil {
		h.closed(c)
	}
}

// echo answers each record with itself: as a small reply, or from lent pages if it
// is larger than 8 KiB.
var echo = &handler{record: func(r *Record) {
	const head = 4
	n := len(r.Data) - head
	if n <= 8<<10 {
		r.SendSmall(append(r.Small(len(r.Data)), r.Data...))
		r.Done()
		return
	}
	run := r.Lend(n)
	if run == nil {
		r.Wait()
		return
	}
	copy(run.Bytes()[:n], r.Data[head:])
	r.SendRun(run, r.Data[:head], n)
	r.Done()
}}

// read answers a record of 8 bytes (a number and a size) with the number and as many
// bytes of pattern that begin with it.
var read = &handler{record: func(r *Record) {
	n := int(binary.BigEndian.Uint32(r.Data[4:]))
	run := r.Lend(n)
	if run == nil {
		r.Wait()
		return
	}
	fillPayload(run.Bytes()[:n], binary.BigEndian.Uint32(r.Data))
	r.SendRun(run, r.Data[:4], n)
	r.Done()
}}

func fillPayload(b []byte, id uint32) {
	for i := 0; i+4 <= len(b); i += 4 {
		binary.BigEndian.PutUint32(b[i:], id<<12+uint32(i/4))
	}
	clear(b[len(b)&^3:])
}

func readCall(id uint32, n int) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, id), uint32(n))
}

// checkPayload checks a reply to readCall(id, n).
func checkPayload(t testing.TB, reply []byte, id uint32, n int) {
	t.Helper()
	want := make([]byte, max(0, 4+(n+3)&^3))
	if n < 0 {
		t.Fatalf("a second reply to %d", id)
	}
	binary.BigEndian.PutUint32(want, id)
	fillPayload(want[4:4+n], id)
	if !bytes.Equal(reply, want) {
		t.Errorf("reply %d of %d bytes is not what was to be sent", id, len(reply))
	}
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// server is a transport with a listener.
type server struct {
	*Transport
	t      testing.TB
	l      net.Listener
	served sync.WaitGroup
}

// start serves h on network: "tcp", "unix", "pipe", or "tcp portable" and "unix
// portable". When the test ends the server is closed and all accounts are checked.
func start(t testing.TB, network string, c Config, h Handler) *server {
	t.Helper()
	switch network {
	case "tcp portable":
		network, c.portable = "tcp", true
	case "unix portable":
		network, c.portable = "unix", true
	}
	if c.Clock == nil && c.SendTimeout == 0 {
		// A machine that is slow, or emulated, is no reason to end connections.
		c.SendTimeout, c.RecvTimeout = time.Hour, time.Hour
	}
	s := &server{t: t, Transport: New(c, h)}
	addr := "127.0.0.1:0"
	switch network {
	case "unix":
		addr = filepath.Join(t.TempDir(), "socket")
		fallthrough
	case "tcp":
		var err error
		if s.l, err = Listen(context.Background(), network, addr); err != nil {
			t.Fatal(err)
		}
		s.served.Go(func() {
			if err := s.Serve(s.l); !errors.Is(err, ErrClosed) {
				t.Error("Serve:", err)
			}
		})
	}
	t.Cleanup(s.end)
	return s
}

var networks = []string{"tcp", "unix", "pipe", "tcp portable", "unix portable"}

// forEach runs a test once for each network.
func forEach(t *testing.T, f func(t *testing.T, network string)) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) { f(t, network) })
	}
}

func (s *server) dial() net.Conn {
	s.t.Helper()
	if s.l == nil {
		server, client := Pipe()
		s.served.Go(func() { s.ServeConn(server) })
		s.t.Cleanup(func() { client.Close() })
		return client
	}
	c, err := net.Dial(s.l.Addr().Network(), s.l.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

// end closes the transport and checks that nothing is left.
func (s *server) end() {
	s.Close()
	s.served.Wait()
	s.check()
}

func (s *server) check() {
	s.t.Helper()
	st := s.Stats()
	if st.Connections != 0 || st.Calls != 0 || st.ReceiveAdmitted != 0 || st.ReplyMemory != 0 {
		s.t.Errorf("left behind: %d connections, %d calls, %d bytes admitted, %d bytes of replies",
			st.Connections, st.Calls, st.ReceiveAdmitted, st.ReplyMemory)
	}
	for _, p := range st.Pools {
		if p.Lent != 0 || p.InFlight != 0 || p.Held != 0 || p.Detached != 0 || p.New != p.Trimmed+p.GivenUp {
			s.t.Errorf("pages left behind: %+v", p)
		}
	}
	for _, w := range s.workers {
		if n := w.foreign.Load(); n != 0 {
			s.t.Errorf("%d bytes of foreign memory are accounted for", n)
		}
		if len(w.lenders) != 0 || !w.starved.empty() {
			s.t.Error("records are left waiting")
		}
	}
}

func send(t testing.TB, w io.Writer, records ...[]byte) {
	t.Helper()
	var b []byte
	for _, r := range records {
		b = append(b, encode(r)...)
	}
	if _, err := w.Write(b); err != nil {
		t.Error("sending:", err)
	}
}

func receive(t testing.TB, r io.Reader) []byte {
	t.Helper()
	b, err := receiveRecord(r)
	if err != nil {
		t.Fatal("receiving:", err)
	}
	return b
}

func receiveRecord(r io.Reader) ([]byte, error) {
	var mark [4]byte
	if _, err := io.ReadFull(r, mark[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(mark[:])
	if n&lastFragment == 0 {
		return nil, errors.New("a reply in fragments")
	}
	b := make([]byte, n&^lastFragment)
	_, err := io.ReadFull(r, b)
	return b, err
}

// until returns when f does so with true.
func until(t testing.TB, f func() bool) {
	t.Helper()
	for !f() {
		if t.Context().Err() != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// expectEnd reads until the connection ends.
func expectEnd(t testing.TB, c net.Conn) {
	t.Helper()
	io.Copy(io.Discard, c)
}

// fakeClock is a Clock that tests move.
type fakeClock struct {
	mu      sync.Mutex
	now     time.Time
	tickers map[*fakeTicker]struct{}
}

type fakeTicker struct {
	c       chan time.Time
	stopped chan struct{}
	every   time.Duration
	next    time.Time
}

func newFakeClock() *fakeClock {
	return &fakeClock{now: time.Unix(1_000_000, 0), tickers: make(map[*fakeTicker]struct{})}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) NewTicker(d time.Duration) (<-chan time.Time, func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := &fakeTicker{make(chan time.Time), make(chan struct{}), d, c.now.Add(d)}
	c.tickers[k] = struct{}{}
	return k.c, sync.OnceFunc(func() {
		close(k.stopped)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.tickers, k)
	})
}

// advance moves the clock by d in steps of a tick, and lets each tick be taken.
func (c *fakeClock) advance(d time.Duration) {
	for ; d > 0; d -= tick {
		c.mu.Lock()
		c.now = c.now.Add(min(d, tick))
		var due []*fakeTicker
		for k := range c.tickers {
			if !k.next.After(c.now) {
				k.next = k.next.Add(k.every)
				due = append(due, k)
			}
		}
		now := c.now
		c.mu.Unlock()
		for _, k := range due {
			select {
			case k.c <- now:
			case <-k.stopped:
			}
		}
	}
}

// run advances the clock until the test is over, because closing takes time.
func (c *fakeClock) run(t testing.TB) {
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				c.advance(tick)
				time.Sleep(100 * time.Microsecond)
			}
		}
	})
	t.Cleanup(func() {
		close(stop)
		running.Wait()
	})
}

// onWorker calls f on the first worker's goroutine, as the end of a connection that is
// none of its own.
func (s *server) onWorker(f func(w *worker)) {
	w, done := s.workers[0], make(chan struct{})
	c := &Conn{w: w, touched: true, cancel: func(error) {
		f(w)
		close(done)
	}}
	w.post(event{kind: evAbort, conn: c, err: ErrAborted})
	<-done
}
