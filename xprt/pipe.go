package xprt

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeSize is how many bytes a direction of a pipe holds.
const pipeSize = 256 << 10

// Pipe returns the two ends of a connection in memory, for tests and for
// clients in the same process. A write returns when the bytes are in the pipe's
// buffer; transfers do not allocate. Deadlines work as for any net.Conn.
func Pipe() (server, client net.Conn) {
	a, b := newPipeHalf(), newPipeHalf()
	return &pipeConn{r: a, w: b}, &pipeConn{r: b, w: a}
}

// pipeConn is one end: it reads one half and writes the other.
type pipeConn struct{ r, w *pipeHalf }

func (c *pipeConn) Read(b []byte) (int, error)  { return c.r.read(b) }
func (c *pipeConn) Write(b []byte) (int, error) { return c.w.write(b) }

// Close ends both directions. The peer reads what is in the pipe before it reads
// io.EOF.
func (c *pipeConn) Close() error {
	c.r.closeRead()
	c.w.closeWrite()
	return nil
}

// CloseWrite ends the direction to the peer.
func (c *pipeConn) CloseWrite() error {
	c.w.closeWrite()
	return nil
}

func (c *pipeConn) SetDeadline(t time.Time) error {
	c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.r.setDeadline(&c.r.readDeadline, t)
	return nil
}

func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.w.setDeadline(&c.w.writeDeadline, t)
	return nil
}

func (*pipeConn) LocalAddr() net.Addr  { return pipeAddr{} }
func (*pipeConn) RemoteAddr() net.Addr { return pipeAddr{} }
func (*pipeConn) Network() string      { return "pipe" }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// pipeHalf is one direction: a ring of bytes.
type pipeHalf struct {
	mu      sync.Mutex
	changed sync.Cond

	ring    []byte
	at, n   int  // where the bytes in the ring begin, and how many they are
	ended   bool // nothing more will be written
	refused bool // nothing more will be read

	readDeadline, writeDeadline deadline
}

// deadline is passed when its timer has fired.
type deadline struct {
	timer  *time.Timer
	passed bool
}

func newPipeHalf() *pipeHalf {
	h := new(pipeHalf)
	h.changed.L = &h.mu
	return h
}

func (h *pipeHalf) read(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.refused:
			return 0, io.ErrClosedPipe
		case h.readDeadline.passed:
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		case h.n > 0:
			return h.take(b), nil
		case h.ended:
			return 0, io.EOF
		}
		h.changed.Wait()
	}
}

func (h *pipeHalf) take(b []byte) int {
	n := copy(b, h.ring[h.at:min(h.at+h.n, len(h.ring))])
	n += copy(b[n:], h.ring[:max(0, h.at+h.n-len(h.ring))])
	h.at = (h.at + n) % len(h.ring)
	h.n -= n
	h.changed.Broadcast()
	return n
}

func (h *pipeHalf) write(b []byte) (n int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.ended || h.refused:
			return n, io.ErrClosedPipe
		case h.writeDeadline.passed:
			return n, os.ErrDeadlineExceeded
		case n == len(b):
			return n, nil
		case h.n < pipeSize:
			n += h.put(b[n:])
		default:
			h.changed.Wait()
		}
	}
}

func (h *pipeHalf) put(b []byte) int {
	if h.ring == nil {
		h.ring = make([]byte, pipeSize)
	}
	end := (h.at + h.n) % len(h.ring)
	space := len(h.ring) - h.n
	n := copy(h.ring[end:min(end+space, len(h.ring))], b)
	n += copy(h.ring[:max(0, end+space-len(h.ring))], b[n:])
	h.n += n
	h.changed.Broadcast()
	return n
}

func (h *pipeHalf) closeWrite() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	h.stop(&h.writeDeadline)
	h.changed.Broadcast()
}

func (h *pipeHalf) closeRead() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused = true
	h.stop(&h.readDeadline)
	h.changed.Broadcast()
}

func (h *pipeHalf) stop(d *deadline) {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

func (h *pipeHalf) setDeadline(d *deadline, t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop(d)
	wait := time.Until(t)
	d.passed = !t.IsZero() && wait <= 0
	if wait > 0 && !t.IsZero() {
		var timer *time.Timer
		timer = time.AfterFunc(wait, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if d.timer == timer {
				d.passed = true
				h.changed.Broadcast()
			}
		})
		d.timer = timer
	}
	h.changed.Broadcast()
}
