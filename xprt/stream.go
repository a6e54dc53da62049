package xprt

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"eddy.example/bufpool"
)

const (
	// writeChunk is how much is written at once, so that progress shows.
	writeChunk = 256 << 10

	// maxVectors is in how many parts.
	maxVectors = 64
)

// SendDone is implemented by a net.Conn that may go on reading what was given to Write
// after Write has failed. The channel is closed when it reads nothing any more; till then
// the memory is left alone.
type SendDone interface {
	SendDone() <-chan struct{}
}

var errUnknownEnd = errors.New("connection may still read what it was to send")

// stream is the portable link: a net.Conn that one goroutine reads and another one
// writes, as the worker tells them by turns. They touch nothing that is the
// worker's but the memory they are given.
type stream struct {
	c       *Conn
	nc      net.Conn
	writev  bool // nc takes several buffers in one system call
	reads   chan readRequest
	writes  chan writeRequest
	abandon chan struct{} // closed when SendDone is not waited for any longer
	closing sync.Once

	progress atomic.Int64 // bytes read or written
	out      net.Buffers  // the writer's

	// The worker's.
	reading    bool
	writing    bool
	readEnded  bool
	ended      bool // finish or abort was called
	goroutines int
	seen       int64 // progress at the last tick
	abortedAt  time.Time
	abandoned  bool
	scratch    *bufpool.Run // that a file is read into
	vectors    [maxVectors][]byte
}

// readRequest asks for at least min bytes.
type readRequest struct {
	b   []byte
	min int
}

// writeRequest asks to write the buffers, or else n bytes of a file by way of buf.
type writeRequest struct {
	buffers net.Buffers
	file    bufpool.File
	off     int64
	buf     []byte
}

func newStream(c *Conn, nc net.Conn) *stream {
	s := &stream{
		c:       c,
		nc:      nc,
		reads:   make(chan readRequest, 1),
		writes:  make(chan writeRequest, 1),
		abandon: make(chan struct{}),
	}
	switch nc.(type) {
	case *net.TCPConn, *net.UnixConn:
		s.writev = true
	}
	return s
}

func (s *stream) open() {
	s.goroutines = 2
	go s.reader()
	go s.writer()
	s.c.w.schedule(s.c)
}

// reader is the goroutine that reads.
func (s *stream) reader() {
	for req := range s.reads {
		n := 0
		var err error
		for n < req.min && err == nil {
			var k int
			k, err = s.nc.Read(req.b[n:])
			n += k
			s.progress.Add(int64(k))
		}
		s.post(evRead, n, err)
	}
	s.post(evGone, 0, nil)
}

// writer is the goroutine that writes, and ends the connection.
func (s *stream) writer() {
	var err error
	for req := range s.writes {
		var n int
		n, err = s.write(req)
		s.post(evWrote, n, err)
	}
	s.closeConn()
	if err != nil {
		err = s.awaitSendDone()
	}
	s.post(evGone, 0, err)
}

func (s *stream) write(req writeRequest) (int, error) {
	switch {
	case req.file != nil:
		n, err := req.file.ReadAt(req.buf, req.off)
		if n < len(req.buf) {
			return 0, errors.Join(errFileTooShort, err)
		}
		return s.nc.Write(req.buf)
	case s.writev:
		s.out = req.buffers
		orderSend() // writev goes past package syscall in package net, too
		n, err := s.out.WriteTo(s.nc)
		s.progress.Add(n)
		return int(n), err
	}
	sum := 0
	for _, b := range req.buffers {
		n, err := s.nc.Write(b)
		sum += n
		s.progress.Add(int64(n))
		if err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// awaitSendDone waits until nobody looks at what could not be written.
func (s *stream) awaitSendDone() error {
	if nc, ok := s.nc.(SendDone); ok {
		select {
		case <-nc.SendDone():
		case <-s.abandon:
			return errUnknownEnd
		}
	}
	return nil
}

func (s *stream) closeConn() { s.closing.Do(func() { s.nc.Close() }) }

func (s *stream) post(kind eventKind, n int, err error) {
	s.c.w.post(event{kind: kind, conn: s.c, n: n, err: err})
}

// event takes what the goroutines say.
func (s *stream) event(e *event) {
	c := s.c
	switch e.kind {
	case evRead:
		s.reading, c.rx.reading = false, false
		if c.dead {
			return
		}
		c.rx.got(e.n)
		if e.err != nil {
			s.readEnded = true
			switch {
			case s.ended:
				c.fail(nil)
			case errors.Is(e.err, io.EOF):
				c.closedByPeer()
			default:
				c.fail(e.err)
			}
		}
		c.w.schedule(c)
	case evWrote:
		s.writing = false
		if e.err == nil {
			s.dropScratch()
		}
		if c.dead {
			return // the pieces go with the goroutines
		}
		if e.n > 0 {
			c.w.counters.sent.Add(int64(e.n))
			c.tx.advance(e.n)
		}
		if e.err != nil {
			c.fail(e.err)
			return
		}
		c.flush()
		c.sent()
	case evGone:
		s.goroutines--
		if e.err != nil {
			s.leavePieces()
		}
		if s.goroutines == 0 {
			s.dropScratch()
			c.gone()
		}
	}
}

func (s *stream) gate() bool {
	s.c.rx.stage()
	return true
}

func (s *stream) read() bool {
	if s.reading || s.readEnded || s.ended {
		return false
	}
	s.reading, s.c.rx.reading = true, true
	b, _ := s.c.rx.want()
	req := readRequest{b, 1}
	if s.c.rx.direct {
		// Not all of it, which may take long: the worker has to see that it comes.
		req.min = min(len(b), minProgress/2)
	}
	s.reads <- req
	return false
}

func (s *stream) transmit() {
	if s.writing || s.ended {
		return
	}
	var req writeRequest
	left, n := writeChunk, 0
	for i := range s.c.tx.pieces() {
		p := &s.c.tx.pieces()[i]
		if p.file != nil || n == len(s.vectors) || left == 0 {
			break
		}
		s.vectors[n] = p.mem[:min(len(p.mem), left)]
		left -= len(s.vectors[n])
		n++
	}
	if n > 0 {
		req.buffers = s.vectors[:n]
		s.c.w.counters.sendCopy.Add(1)
	} else {
		p := &s.c.tx.pieces()[0]
		k := min(p.left, writeChunk)
		s.scratch = s.c.w.pool.GetScratch(k)
		req = writeRequest{file: p.file, off: p.off, buf: s.scratch.Bytes()[:k]}
		s.c.w.counters.file.Add(1)
	}
	s.writing = true
	s.writes <- req
}

func (s *stream) dropScratch() {
	if s.scratch != nil {
		s.c.w.pool.Put(s.scratch)
		s.scratch = nil
	}
}

// finish lets the writer close the connection, which ends the reader.
func (s *stream) finish() {
	s.ended = true
	close(s.writes)
	if !s.reading {
		s.c.fail(nil)
	}
}

// abort ends the goroutines whatever they do.
func (s *stream) abort() {
	if !s.ended {
		s.ended = true
		close(s.writes)
	}
	close(s.reads)
	s.abortedAt = s.c.w.now
	// Close may block, where it has something to say to the peer.
	s.goroutines++
	go func() {
		s.nc.SetDeadline(time.Unix(1, 0))
		s.closeConn()
		s.post(evGone, 0, nil)
	}()
}

func (s *stream) runs(func(*bufpool.Run)) {}

func (s *stream) roundTrip() time.Duration { return 0 }

// tick ends the wait for SendDone a second after the transport was closed.
func (s *stream) tick() (owed, moved bool) {
	n := s.progress.Load()
	moved = n != s.seen
	s.seen = n
	if s.c.dead && !s.abandoned && s.c.w.t.closing.Load() && s.c.w.now.Sub(s.abortedAt) >= time.Second {
		s.abandoned = true
		close(s.abandon)
	}
	return s.writing, moved
}

// leavePieces gives up the memory that nc may go on reading.
func (s *stream) leavePieces() {
	w := s.c.w
	w.counters.givenUp.Add(1)
	s.c.tx.abandon()
	if s.scratch != nil {
		w.pool.GiveUp(s.scratch)
		s.scratch = nil
	}
}

func (s *stream) closed() bool { return s.goroutines == 0 }
