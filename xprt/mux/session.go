package mux

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/xtaci/smux"
)

// maxFailed is how many writes of a session may fail. As each may leave memory
// that cannot be used before the session has ended, it is ended then.
const maxFailed = 16

// Session is one connection that carries streams. Any goroutine may use it.
type Session struct {
	smux   *smux.Session
	wire   *wire
	failed atomic.Int32 // writes

	mu   sync.Mutex
	open int  // streams
	last bool // end with the last stream
}

// Dial connects to a server of sessions.
func Dial(ctx context.Context, network, addr string, c Config) (*Session, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return Client(nc, c)
}

// Client makes nc, which it takes over, the client's side of a session.
func Client(nc net.Conn, c Config) (*Session, error) { return newSession(nc, c, smux.Client) }

// Server makes nc, which it takes over, the server's side of a session. A
// [Listener] does so with all connections that it accepts.
func Server(nc net.Conn, c Config) (*Session, error) { return newSession(nc, c, smux.Server) }

func newSession(nc net.Conn, c Config, side func(io.ReadWriteCloser, *smux.Config) (*smux.Session, error)) (*Session, error) {
	c.setDefaults()
	w := newWire(nc, c.WriteTimeout)
	m, err := side(w, c.smux())
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("mux: %w", err)
	}
	return &Session{smux: m, wire: w}, nil
}

// Open opens a stream.
func (s *Session) Open() (net.Conn, error) {
	m, err := s.smux.OpenStream()
	if err != nil {
		return nil, fmt.Errorf("mux: opening a stream: %w", err)
	}
	return s.stream(m), nil
}

// Accept returns the next stream that the peer opens.
func (s *Session) Accept() (net.Conn, error) {
	m, err := s.smux.AcceptStream()
	if err != nil {
		return nil, fmt.Errorf("mux: accepting a stream: %w", err)
	}
	return s.stream(m), nil
}

func (s *Session) stream(m *smux.Stream) *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	return &Stream{smux: m, session: s}
}

// Close ends the session and all its streams.
func (s *Session) Close() error { return s.smux.Close() }

// closeWithLast ends the session as soon as it has no streams.
func (s *Session) closeWithLast() {
	s.mu.Lock()
	s.last = true
	now := s.open == 0
	s.mu.Unlock()
	if now {
		s.Close()
	}
}

func (s *Session) streams() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// streamClosed is called once for each stream.
func (s *Session) streamClosed() {
	s.mu.Lock()
	s.open--
	now := s.last && s.open == 0
	s.mu.Unlock()
	if now {
		s.Close()
	}
}

// writeFailed is called when a stream could not write all of something.
func (s *Session) writeFailed() {
	if s.failed.Add(1) == maxFailed {
		s.Close()
	}
}
