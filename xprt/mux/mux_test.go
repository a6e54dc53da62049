package mux

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eddy.example/xprt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reader answers a record of 8 bytes (a number and a size) with the number and as many bytes
// that begin with it.
type reader struct{}

func (reader) Opened(*xprt.Conn)                                {}
func (reader) Closed(*xprt.Conn)                                {}
func (reader) Place(*xprt.Conn, []byte, int) (p xprt.Placement) { return p }
func (h reader) Record(r *xprt.Record)                          { h.Resume(r) }

func (reader) Resume(r *xprt.Record) {
	n := int(binary.BigEndian.Uint32(r.Data[4:]))
	run := r.Lend(n)
	if run == nil {
		r.Wait()
		return
	}
	fill(run.Bytes()[:n], binary.BigEndian.Uint32(r.Data))
	r.SendRun(run, r.Data[:4], n)
	r.Done()
}

func fill(b []byte, id uint32) {
	for i := 0; i+4 <= len(b); i += 4 {
		binary.BigEndian.PutUint32(b[i:], id<<12+uint32(i/4))
	}
	clear(b[len(b)&^3:])
}

// call is a record that asks for n bytes.
func call(id uint32, n int) []byte {
	b := binary.BigEndian.AppendUint32(nil, 1<<31|8)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, id), uint32(n))
}

// answer reads a reply to call(id, n) from c.
func answer(c net.Conn, n int) (id uint32, err error) {
	b := make([]byte, 8+(n+3)&^3)
	if _, err := io.ReadFull(c, b); err != nil {
		return 0, err
	}
	id = binary.BigEndian.Uint32(b[4:])
	want := make([]byte, len(b))
	binary.BigEndian.PutUint32(want, 1<<31|uint32(len(b)-4))
	binary.BigEndian.PutUint32(want[4:], id)
	fill(want[8:8+n], id)
	if !bytes.Equal(b, want) {
		return id, errors.New("not the payload that was asked for")
	}
	return id, nil
}

// stillClock lets no deadline pass, so that nothing is given up for being slow.
type stillClock struct{}

func (stillClock) Now() time.Time                                     { return time.Unix(0, 0) }
func (stillClock) NewTicker(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

// server serves streams by a transport.
type server struct {
	*xprt.Transport
	l      *Listener
	served sync.WaitGroup
}

func start(t *testing.T, c Config) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Transport: xprt.New(xprt.Config{Workers: 2, Clock: stillClock{}}, reader{}), l: NewListener(l, c)}
	s.served.Go(func() {
		if err := s.Serve(s.l); !errors.Is(err, xprt.ErrClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		s.Close()
		s.served.Wait()
		s.l.Wait()
		for _, p := range s.Stats().Pools {
			if p.Lent+p.InFlight+p.Held+p.Detached != 0 || p.New != p.Trimmed+p.GivenUp {
				t.Errorf("pages left behind: %+v", p)
			}
		}
	})
	return s
}

func (s *server) dial(t *testing.T, c Config) *Session {
	t.Helper()
	session, err := Dial(t.Context(), "tcp", s.l.Addr().String(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

func open(t *testing.T, s *Session) net.Conn {
	t.Helper()
	c, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStreams(t *testing.T) {
	for _, version := range []int{1, 2} {
		config := Config{Version: version}
		s := start(t, config)
		var clients sync.WaitGroup
		for range 2 {
			session := s.dial(t, config)
			for range 4 {
				c := open(t, session)
				clients.Go(func() {
					defer c.Close()
					for i, n := range []int{1, 100, 4097, 65536, 1 << 20, 3} {
						if _, err := c.Write(call(uint32(i), n)); err != nil {
							t.Error(err)
							return
						}
						if id, err := answer(c, n); err != nil || id != uint32(i) {
							t.Error(id, err)
							return
						}
					}
				})
			}
		}
		clients.Wait()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// TestPipelined has a window full of payloads on their way in each stream.
func TestPipelined(t *testing.T) {
	s := start(t, Config{})
	session := s.dial(t, Config{})
	var clients sync.WaitGroup
	for range 3 {
		c := open(t, session)
		clients.Go(func() {
			defer c.Close()
			for i := range uint32(12) {
				if _, err := c.Write(call(i, 1<<20)); err != nil {
					t.Error(err)
				}
			}
			for range 12 {
				if _, err := answer(c, 1<<20); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
}

func TestStreamIsAConn(t *testing.T) {
	a, b := xprt.Pipe()
	server, err := Server(a, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := Client(b, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c := open(t, client)
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	d, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 100)
	if n, err := d.Read(p); err != nil || string(p[:n]) != "hello" {
		t.Errorf("%q, %v", p[:n], err)
	}
	d.SetReadDeadline(time.Now().Add(time.Millisecond))
	var timeout net.Error
	if _, err := d.Read(p); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Error(err)
	}
	d.SetReadDeadline(time.Time{})
	c.(*Stream).CloseWrite()
	if _, err := d.Read(p); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if _, err := d.Write([]byte("still there")); err != nil {
		t.Error(err)
	}
	if n, err := c.Read(p); err != nil || string(p[:n]) != "still there" {
		t.Errorf("%q, %v", p[:n], err)
	}
	c.Close()
	d.Close()
	if _, err := Client(b, Config{Version: 3}); err == nil {
		t.Error("a version that there is not")
	}
}

func TestMaxStreams(t *testing.T) {
	s := start(t, Config{MaxStreams: 2})
	session := s.dial(t, Config{})
	ask := func(c net.Conn) error {
		if _, err := c.Write(call(1, 100)); err != nil {
			return err
		}
		_, err := answer(c, 100)
		return err
	}
	a, b, c := open(t, session), open(t, session), open(t, session)
	if err := errors.Join(ask(a), ask(b)); err != nil {
		t.Error(err)
	}
	if ask(c) == nil {
		t.Error("a stream too many was served")
	}
	a.Close()
	for ask(open(t, session)) != nil {
		// until the server knows
	}
}

// TestListenerEnds closes the listener while a stream is open: it is served to its end, and
// then nothing is left.
func TestListenerEnds(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := NewListener(tcp, Config{})
	used, err := Dial(t.Context(), "tcp", tcp.Addr().String(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	unused, err := Dial(t.Context(), "tcp", tcp.Addr().String(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer unused.Close()
	c := open(t, used)
	d, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := unused.Accept(); err == nil {
		t.Error("a stream from a listener that is closed")
	}
	if _, err := d.Write([]byte("to the end")); err != nil {
		t.Error(err)
	}
	p := make([]byte, 100)
	if n, err := c.Read(p); err != nil || string(p[:n]) != "to the end" {
		t.Errorf("%q, %v", p[:n], err)
	}
	d.Close()
	l.Wait()
	if _, err := used.Accept(); err == nil {
		t.Error("a stream from a listener that is closed")
	}
}

// failingListener fails once before it accepts.
type failingListener struct {
	net.Listener
	err error
}

func (l *failingListener) Accept() (net.Conn, error) {
	if err := l.err; err != nil {
		l.err = nil
		return nil, err
	}
	return l.Listener.Accept()
}

func TestAcceptError(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	l := NewListener(&failingListener{tcp, broken}, Config{})
	if _, err := l.Accept(); !errors.Is(err, broken) {
		t.Error(err)
	}
	session, err := Dial(t.Context(), "tcp", tcp.Addr().String(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, session)
	d, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	d.Close()
	session.Close()
	l.Close()
	l.Wait()
}

// TestSessionCut cuts sessions while replies are being sent: after the transport has
// closed, no page is left behind, and none was given up.
func TestSessionCut(t *testing.T) {
	s := start(t, Config{})
	for range 10 {
		session := s.dial(t, Config{StreamBuffer: 100 << 10})
		for range 3 {
			c := open(t, session)
			for i := range uint32(4) {
				if _, err := c.Write(call(i, 1<<20)); err != nil {
					t.Error(err)
				}
			}
			io.ReadFull(c, make([]byte, 1000))
		}
		session.Close()
	}
	s.Close()
	if n := s.Stats(); n.GivenUp != 0 {
		t.Errorf("%d connections were given up", n.GivenUp)
	}
}
