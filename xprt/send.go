package xprt

import (
	"encoding/binary"
	"slices"

	"eddy.example/bufpool"
)

const (
	// batchSize is the payload of the run that small replies are gathered in.
	batchSize = 16 << 10

	// flushSize is how much is queued at most before it is handed on.
	flushSize = 64 << 10

	// maxUnsent is how many bytes of small replies may wait for a connection that
	// does not take them, before nothing more is read from it.
	maxUnsent = 256 << 10

	// maxForeign is the same for memory that is not the pool's. One reply of any length
	// always may.
	maxForeign = 1 << 20
)

// piece is part of what a connection has to send: memory, or a range of a file.
type piece struct {
	mem   []byte
	run   *bufpool.Run  // that mem lies in, or nil
	put   bool          // the owner's reference to run goes with the piece
	large bool          // a payload
	owner bufpool.Owner // or nil

	file bufpool.File
	off  int64
	left int // bytes of file
}

func (p *piece) size() int {
	if p.file != nil {
		return p.left
	}
	return len(p.mem)
}

// foreign reports whether the piece is a backend's memory.
func (p *piece) foreign() bool { return p.run == nil && p.file == nil }

// sender is what a connection has to send, in order. Its link takes from the front
// and says how much is gone.
type sender struct {
	w     *worker
	queue []piece
	head  int    // of queue
	base  uint64 // number of the piece queue[0]

	bytes   int // in the queue
	small   int // of them in small replies
	foreign int // of them in memory that is not the pool's
	large   int // payloads in the queue

	sent int64 // bytes that have left the queue for the peer

	// The run that small replies are gathered in, if there is one. The last
	// piece that points to it has the number batchPiece.
	batch      *bufpool.Run
	fill       int
	batchPiece uint64

	stuck bool // not all could be sent when that was last tried
	moved bool // something has gone since the last tick, or is new
}

func (s *sender) empty() bool { return s.head == len(s.queue) }

// mayGrow reports whether one more payload may be queued: not before those that the
// peer does not take, and not more than leave together.
func (s *sender) mayGrow() bool {
	return s.large == 0 || !s.stuck && s.bytes < flushSize
}

// pieces are what is to be sent. The slice is valid until the next call.
func (s *sender) pieces() []piece { return s.queue[s.head:] }

func (s *sender) push(p piece) {
	n := p.size()
	if s.empty() {
		s.moved = true
	}
	if p.foreign() {
		s.addForeign(n)
	}
	s.bytes += n
	if p.large {
		s.large++
	} else {
		s.small += n
	}
	s.queue = append(s.queue, p)
}

func (s *sender) addForeign(n int) {
	s.foreign += n
	s.w.foreign.Add(int64(n))
}

// pushFront queues memory of the first piece before the rest of that.
func (s *sender) pushFront(p piece) {
	s.large++
	s.queue = slices.Insert(s.queue, s.head, p)
	if s.fill > 0 {
		s.batchPiece++
	}
}

// reserve returns memory for a small reply of up to n bytes, with space for its
// mark in front.
func (s *sender) reserve(n int) []byte {
	return s.room(markSize + min(n, maxReply))[markSize:markSize]
}

// commit queues a small reply with its mark.
func (s *sender) commit(b []byte) {
	n := markSize + len(b)
	mem := s.room(n)
	putMark(mem, len(b))
	if len(b) > 0 && &mem[markSize] != &b[0] {
		copy(mem[markSize:], b) // it has outgrown what was reserved
	}
	s.append(n)
}

// begin queues the mark and the head of a record that goes on for n bytes.
func (s *sender) begin(head []byte, n int) {
	mem := s.room(markSize + len(head))
	putMark(mem, len(head)+n)
	copy(mem[markSize:], head)
	s.append(len(mem))
}

// pad queues n zeros.
func (s *sender) pad(n int) {
	if n > 0 {
		clear(s.room(n))
		s.append(n)
	}
}

// room returns the next n bytes of the batch run, which is changed for
// another one if it has no more.
func (s *sender) room(n int) []byte {
	if s.batch != nil && s.fill+n > cap(s.batch.Bytes()) {
		s.seal()
	}
	if s.batch == nil {
		s.batch = s.w.pool.GetScratch(min(max(n, batchSize), bufpool.MaxPayload))
	}
	return s.batch.Bytes()[s.fill : s.fill+n : s.fill+n]
}

// append queues the next n bytes of the batch run.
func (s *sender) append(n int) {
	mem := s.batch.Bytes()[s.fill : s.fill+n]
	if last := len(s.queue) - 1; s.batched() && s.batchPiece == s.base+uint64(last) {
		p := &s.queue[last]
		p.mem = p.mem[:len(p.mem)+n]
		s.bytes += n
		s.small += n
	} else {
		s.batchPiece = s.base + uint64(len(s.queue))
		s.push(piece{mem: mem, run: s.batch})
	}
	s.fill += n
}

// batched reports whether a piece in the queue points to the batch run.
func (s *sender) batched() bool {
	return s.fill > 0 && s.batchPiece >= s.base+uint64(s.head)
}

// seal ends the batch run. It is put when its last piece has gone.
func (s *sender) seal() {
	switch {
	case s.batch == nil:
		return
	case s.batched():
		s.queue[s.batchPiece-s.base].put = true
	default:
		s.w.pool.Put(s.batch)
	}
	s.batch, s.fill = nil, 0
}

// advance is told that n more bytes are gone, and releases what they lay in.
func (s *sender) advance(n int) {
	s.moved = true
	s.sent += int64(n)
	s.bytes -= n
	for {
		p := &s.queue[s.head]
		k := min(n, p.size())
		if p.file != nil {
			p.off += int64(k)
			p.left -= k
		} else {
			p.mem = p.mem[k:]
		}
		if !p.large {
			s.small -= k
		}
		if p.foreign() {
			s.addForeign(-k)
		}
		n -= k
		if p.size() > 0 {
			return
		}
		s.pop()
		if n == 0 {
			break
		}
	}
	if s.empty() {
		s.seal()
	}
}

// pop releases the first piece.
func (s *sender) pop() {
	p := &s.queue[s.head]
	if p.large {
		s.large--
	}
	if p.foreign() {
		s.addForeign(-p.size())
	}
	if p.owner != nil {
		p.owner.Release()
	}
	if p.put {
		s.w.pool.Put(p.run)
	}
	*p = piece{}
	s.head++
	if s.head == len(s.queue) || s.head >= 64 && 2*s.head >= len(s.queue) {
		s.base += uint64(s.head)
		n := copy(s.queue, s.queue[s.head:])
		clear(s.queue[n:])
		s.queue, s.head = s.queue[:n], 0
	}
}

// drop releases everything unsent.
func (s *sender) drop() {
	s.seal()
	for !s.empty() {
		s.pop()
	}
	s.bytes, s.small = 0, 0
}

// abandon gives everything unsent up: somebody may look at it for ever. Owners are
// never told.
func (s *sender) abandon() {
	s.seal()
	for !s.empty() {
		p := &s.queue[s.head]
		if p.put {
			s.w.pool.GiveUp(p.run)
		}
		p.put, p.owner = false, nil
		s.pop()
	}
}

// putMark writes the mark of a record of one fragment (RFC 5531 §11).
func putMark(b []byte, n int) { binary.BigEndian.PutUint32(b, lastFragment|uint32(n)) }
