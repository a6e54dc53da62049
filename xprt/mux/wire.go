package mux

import (
	"net"
	"sync"
	"time"
)

// wire is the connection below a session. It knows when the session's send loop
// looks at memory that was given to Write: only in WriteBuffers, and not after that
// has failed or Close has returned.
type wire struct {
	net.Conn
	timeout time.Duration
	writev  bool // Conn takes several buffers in one system call

	mu    sync.Mutex // held while a frame is being written
	ended bool
	done  chan struct{} // closed when ended
	out   net.Buffers
	frame []byte
}

func newWire(nc net.Conn, timeout time.Duration) *wire {
	w := &wire{Conn: nc, timeout: timeout, done: make(chan struct{})}
	switch nc.(type) {
	case *net.TCPConn, *net.UnixConn:
		w.writev = true
	}
	return w
}

// WriteBuffers writes a frame, of which v is the header and the payload. Smux calls
// it instead of Write.
func (w *wire) WriteBuffers(v [][]byte) (n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return 0, net.ErrClosed
	}
	if w.timeout > 0 {
		w.Conn.SetWriteDeadline(time.Now().Add(w.timeout))
	}
	if w.writev {
		w.out = v
		var sum int64
		sum, err = w.out.WriteTo(w.Conn)
		n = int(sum)
	} else {
		// One write, because it may be a packet or a TLS record.
		w.frame = w.frame[:0]
		for _, b := range v {
			w.frame = append(w.frame, b...)
		}
		n, err = w.Conn.Write(w.frame)
	}
	if err != nil {
		w.end()
	}
	return n, err
}

// Close ends the connection, and a write that is going on.
func (w *wire) Close() error {
	err := w.Conn.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end()
	return err
}

func (w *wire) end() {
	if !w.ended {
		w.ended = true
		close(w.done)
	}
}
