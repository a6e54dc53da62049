package xprt

import (
	"slices"

	"eddy.example/bufpool"
)

// maxReply is the longest reply on a stream that SendSmall takes, and
// maxDatagram on a datagram with all its parts: 32 KiB of data and a head.
const (
	maxReply    = bufpool.MaxPayload
	maxDatagram = 32<<10 + 1<<10
)

// Record is a record that has arrived, and the way to answer it. It belongs
// to the handler until Done, after which it is used again. All methods but Post
// are for the goroutine that the [Handler] is called on.
//
// One of the Send methods may be called, once; Done is called in any case. When the
// connection has ended they all work as before, with no effect. What does not answer
// at once keeps the record, goes to another goroutine, and comes back by Post:
//
//	handler:   Record(r) ──► another goroutine ... r.Post()
//	handler:   Resume(r) ──► r.SendSmall(b), r.Done()
type Record struct {
	// Data is the record without its marks. It is the handler's to
	// change, with the memory that Place has asked for around it, until Done.
	Data []byte

	// Conn is where it came from.
	Conn *Conn

	// PayloadCopied is how many of the bytes from Placement.At on were copied in
	// memory before they were here; of a record that was not placed, how many of all.
	PayloadCopied int

	// Attachment is the handler's. It stays when the Record is used again.
	Attachment any

	buf   *buffer // that Data is in
	next  *Record // in a list
	state recordState
	lack  lack // why Lend has returned nil
	was   lack // what it has waited for, longer than all others, when it was resumed

	lent   []*bufpool.Run // that it has
	lender int            // index in worker.lenders, if it has any
	away   bool           // it had them at the last tick
}

type recordState uint8

const (
	recordFree  recordState = iota
	recordHeld              // by the handler
	recordWaits             // in a queue for Resume
	recordBrief             // in the queue for Brief, or there
)

// lack is why Lend returned nil.
type lack uint8

const (
	lackNothing lack = iota
	lackPages        // the pool has none
	lackSpace        // earlier replies of the connection have to go first
)

// Small returns an empty slice with a capacity of at least n bytes, to append a
// small reply to: in memory that is sent together with other small replies. Nothing
// else is sent before it is given to [Record.SendSmall]. n is at most Conn.MaxReply.
func (r *Record) Small(n int) []byte {
	switch {
	case r.Conn.packet != nil:
		return r.Conn.w.datagram[:0:maxDatagram]
	case r.Conn.dead:
		// What the connection had was given back, and nothing will be again.
		return make([]byte, 0, n)
	}
	return r.Conn.tx.reserve(n)
}

// SendSmall sends b, as a rule appended to what Small returned. It has been copied
// when SendSmall returns, or lies where Small said.
func (r *Record) SendSmall(b []byte) {
	c := r.Conn
	switch {
	case c.dead:
	case c.packet != nil:
		c.packet.send(c, b, nil)
	case len(b) > maxReply:
		c.fail(errReplyTooLong)
	default:
		c.tx.commit(b)
		c.queued()
	}
}

// Lend returns pages for a payload of 1 to [bufpool.MaxPayload] bytes. They go
// back by SendRun or Unlend. While they lie with the record, which may be on another
// goroutine, that goroutine may fill them.
//
// Lend returns nil if there are none now: because the worker has no more to lend, or
// because the connection does not take earlier payloads. Then the handler calls Wait,
// returns, and starts anew in Resume.
func (r *Record) Lend(n int) *bufpool.Run {
	c, w := r.Conn, r.Conn.w
	var run *bufpool.Run
	switch {
	case c.dead || c.packet != nil || len(r.lent) > 0:
		// Nobody waits who has no connection to wait for, or holds what
		// others wait for.
		run = w.pool.GetScratch(n)
	case !c.tx.mayGrow() || r.was == lackNothing && !c.waiting.empty():
		r.lack = lackSpace
		return nil
	case r.was != lackPages && !w.starved.empty():
		r.lack = lackPages
		return nil
	default:
		if run = w.pool.Get(n); run == nil {
			r.lack = lackPages
			return nil
		}
	}
	if len(r.lent) == 0 {
		r.lender, r.away = len(w.lenders), false
		w.lenders = append(w.lenders, r)
	}
	r.lent = append(r.lent, run)
	return run
}

// Wait asks for Resume after Lend has returned nil.
func (r *Record) Wait() {
	w := r.Conn.w
	queue := &w.starved
	switch r.lack {
	case lackSpace:
		queue = &r.Conn.waiting
	case lackNothing:
		w.roomMade.Store(true) // as if
	}
	r.state = recordWaits
	if r.lack == r.was {
		queue.pushFront(r)
	} else {
		queue.pushBack(r)
	}
	if queue == &w.starved {
		w.owe(0) // a tick takes pages from who has had them for long
	}
}

// SendRun sends head, the first n bytes of the lent pages and zeros up to a
// multiple of four. head is copied; the pages go back when they have been sent.
func (r *Record) SendRun(run *bufpool.Run, head []byte, n int) {
	r.forget(run)
	c := r.Conn
	if c.dead {
		c.w.pool.Put(run)
		return
	}
	pad := -n & 3
	clear(run.Bytes()[n : n+pad])
	if c.packet != nil {
		c.packet.send(c, head, run.Bytes()[:n+pad])
		c.w.pool.Put(run)
		return
	}
	front := markSize + len(head)
	if front > bufpool.PageSize {
		c.tx.begin(head, n+pad)
		front = 0
	}
	frame := run.Frame(front, n+pad)
	if front > 0 {
		putMark(frame, len(head)+n+pad)
		copy(frame[markSize:], head)
	}
	c.tx.push(piece{mem: frame, run: run, put: true, large: true})
	c.queued()
}

// SendSegments sends head, the segments and zeros up to a multiple of four. head is
// copied; the owner of each segment is released when it has been sent.
func (r *Record) SendSegments(head []byte, segments ...bufpool.Segment) {
	c := r.Conn
	if c.dead {
		releaseSegments(segments)
		return
	}
	n := 0
	for i := range segments {
		n += segments[i].Size()
	}
	pad := -n & 3
	if c.packet != nil {
		c.packet.sendSegments(c, head, segments, pad)
		releaseSegments(segments)
		return
	}
	c.tx.begin(head, n+pad)
	for i := range segments {
		s := &segments[i]
		p := piece{mem: s.Mem, owner: s.Owner, large: true}
		if s.File != nil {
			p = piece{file: s.File, off: s.Off, left: s.Len, owner: s.Owner, large: true}
		}
		if p.size() == 0 {
			releaseSegments(segments[i : i+1])
			continue
		}
		c.tx.push(p)
	}
	c.tx.pad(pad)
	c.queued()
}

func releaseSegments(segments []bufpool.Segment) {
	for i := range segments {
		if o := segments[i].Owner; o != nil {
			o.Release()
		}
	}
}

// Unlend gives pages back that are not needed after all.
func (r *Record) Unlend(run *bufpool.Run) {
	r.forget(run)
	r.Conn.w.pool.Put(run)
}

func (r *Record) forget(run *bufpool.Run) {
	i := slices.Index(r.lent, run)
	if i < 0 {
		panic("xprt: a run that the record was not lent")
	}
	r.lent = slices.Delete(r.lent, i, i+1)
	if len(r.lent) == 0 {
		w := r.Conn.w
		last := len(w.lenders) - 1
		w.lenders[r.lender] = w.lenders[last]
		w.lenders[r.lender].lender = r.lender
		w.lenders[last] = nil
		w.lenders = w.lenders[:last]
	}
}

// Post hands the record back to its worker, which calls Resume. Any goroutine
// may call it; it never blocks.
func (r *Record) Post() {
	r.Conn.w.post(event{kind: evRecord, rec: r})
}

// Done ends the record.
func (r *Record) Done() {
	if r.state != recordHeld || len(r.lent) > 0 {
		panic("xprt: Done of a record that is not the handler's, or has pages lent")
	}
	r.Conn.w.done(r)
}

// recordList is a list of records in order.
type recordList struct{ front, back *Record }

func (l *recordList) empty() bool { return l.front == nil }

func (l *recordList) pushBack(r *Record) {
	r.next = nil
	if l.front == nil {
		l.front = r
	} else {
		l.back.next = r
	}
	l.back = r
}

func (l *recordList) pushFront(r *Record) {
	r.next = l.front
	if l.front == nil {
		l.back = r
	}
	l.front = r
}

func (l *recordList) pop() *Record {
	r := l.front
	if r != nil {
		l.front = r.next
		r.next = nil
	}
	return r
}
