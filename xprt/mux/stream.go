package mux

import (
	"net"
	"sync"
	"time"

	"github.com/xtaci/smux"
)

// Stream is a connection within a session.
type Stream struct {
	smux    *smux.Stream
	session *Session
	closing sync.Once
}

var _ net.Conn = (*Stream)(nil)

func (s *Stream) Read(b []byte) (int, error) { return s.smux.Read(b) }

// Write sends b. If it fails, b must not be changed before [Stream.SendDone] says so.
func (s *Stream) Write(b []byte) (int, error) {
	n, err := s.smux.Write(b)
	if err != nil {
		s.session.writeFailed()
	}
	return n, err
}

// SendDone returns a channel that is closed when nothing that was given to Write is looked at
// any more: when the session has ended.
func (s *Stream) SendDone() <-chan struct{} { return s.session.wire.done }

// CloseWrite ends the direction to the peer.
func (s *Stream) CloseWrite() error { return s.smux.CloseWrite() }

// Close ends the stream. It waits until the end has been sent behind what was written,
// at most 30 seconds.
func (s *Stream) Close() error {
	err := s.smux.Close()
	s.closing.Do(s.session.streamClosed)
	return err
}

func (s *Stream) LocalAddr() net.Addr  { return s.smux.LocalAddr() }
func (s *Stream) RemoteAddr() net.Addr { return s.smux.RemoteAddr() }

// Network is "smux".
func (s *Stream) Network() string { return "smux" }

// SetDeadline and its like are for what is called after them.
func (s *Stream) SetDeadline(t time.Time) error      { return s.smux.SetDeadline(t) }
func (s *Stream) SetReadDeadline(t time.Time) error  { return s.smux.SetReadDeadline(t) }
func (s *Stream) SetWriteDeadline(t time.Time) error { return s.smux.SetWriteDeadline(t) }
