package mux

import (
	"maps"
	"net"
	"slices"
	"sync"
)

// Listener makes a session of each connection that another listener accepts, and
// accepts their streams.
type Listener struct {
	l      net.Listener
	config Config

	accepted chan accepted
	closed   chan struct{}
	closing  sync.Once
	running  sync.WaitGroup

	mu       sync.Mutex
	sessions map[*Session]struct{}
}

type accepted struct {
	nc  net.Conn
	err error
}

// NewListener accepts the streams of sessions over connections that l accepts.
// It takes l over.
func NewListener(l net.Listener, c Config) *Listener {
	c.setDefaults()
	m := &Listener{
		l:        l,
		config:   c,
		accepted: make(chan accepted),
		closed:   make(chan struct{}),
		sessions: make(map[*Session]struct{}),
	}
	m.running.Go(m.acceptSessions)
	return m
}

// Accept returns the next stream of any session, a *[Stream]; or the error that accepting a
// connection has failed with, after which it may be called again.
func (m *Listener) Accept() (net.Conn, error) {
	select {
	case a := <-m.accepted:
		return a.nc, a.err
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Addr is the address of the other listener.
func (m *Listener) Addr() net.Addr { return m.l.Addr() }

// Close takes no more sessions and no more streams. A session ends when its last
// stream has been closed, which Wait waits for.
func (m *Listener) Close() error {
	var err error
	m.closing.Do(func() {
		close(m.closed)
		err = m.l.Close()
		m.mu.Lock()
		sessions := slices.Collect(maps.Keys(m.sessions))
		m.mu.Unlock()
		for _, s := range sessions {
			s.closeWithLast()
		}
	})
	return err
}

// Wait returns when the listener has been closed and all its sessions have ended.
func (m *Listener) Wait() { m.running.Wait() }

// deliver gives to Accept, and reports whether there is one any more.
func (m *Listener) deliver(a accepted) bool {
	select {
	case m.accepted <- a:
		return true
	case <-m.closed:
		return false
	}
}

func (m *Listener) acceptSessions() {
	for {
		nc, err := m.l.Accept()
		if err != nil {
			if !m.deliver(accepted{err: err}) {
				return
			}
			continue
		}
		s, err := Server(nc, m.config)
		if err != nil {
			m.deliver(accepted{err: err})
			return
		}
		m.running.Go(func() { m.acceptStreams(s) })
	}
}

// acceptStreams accepts the streams of a session until it ends.
func (m *Listener) acceptStreams(s *Session) {
	m.mu.Lock()
	m.sessions[s] = struct{}{}
	m.mu.Unlock()
	defer func() {
		s.Close()
		<-s.wire.done
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.sessions, s)
	}()
	select {
	case <-m.closed:
		return // Close may have come before the session was in the map
	default:
	}
	for {
		nc, err := s.Accept()
		if err != nil {
			return
		}
		if s.streams() > m.config.MaxStreams || !m.deliver(accepted{nc: nc}) {
			nc.Close()
		}
	}
}
