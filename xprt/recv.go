package xprt

const (
	// gateSize is how much of a large record has to have arrived before the
	// rest gets memory: what only has been announced costs a head buffer.
	gateSize = 60 << 10

	// stageSize is how much of a record is collected in a buffer that is not
	// its own, where it cannot be known how much has arrived.
	stageSize = 64 << 10

	// minHead is how much of a large record Handler.Place gets to see.
	minHead = 1 << 10

	// turnBytes is how much a connection may receive before it is the turn of
	// others; each record counts recordCost more.
	turnBytes  = 256 << 10
	recordCost = 4 << 10
)

// receiver turns the bytes of a stream into records. It does no input itself: its
// link asks where the next bytes belong ([receiver.want]), puts them there
// and tells ([receiver.got]). All records but large and fragmented ones stay
// where they first lay, in a head buffer:
//
//	         head.mem                          a large record's own buffer
//	+--------+--------+---------+        +------+---------------+-----------+------+
//	| done   | r ..w  |  want 0 |        | unit | head, payload | want 0 .. | unit |
//	+--------+--------+---------+        +------+---------------+-----------+------+
//	                                       and want 1 is the next head buffer
type receiver struct {
	c     *Conn
	marks marks

	head    *buffer // nil if nothing is in it
	r, w    int     // what is in it and has not been consumed
	reading bool    // a goroutine of the link receives into it

	// The record that is not in the head buffer, if there is one.
	body   *buffer
	start  int  // where in body it begins
	filled int  // bytes of it in body
	limit  int  // as many belong there
	direct bool // bytes go there without passing the head buffer
	at     int  // Placement.At
	copied int  // payload bytes that were copied there

	// What it holds of the budgets, or has asked for.
	staged  int
	claimed int // becomes the body's charge

	state rxState
	then  func(*receiver) // what to do when there is budget
	waits *budget         // where it is in the queue
	share int             // of the connection's turn that is left

	total   int64 // bytes that have arrived
	records int64 // records that were delivered
}

type rxState uint8

const (
	rxRead rxState = iota // more bytes are wanted
	rxGate                // a large record has begun: call begin or stage
	rxWait                // no budget for now
)

// want returns where the next bytes go: first to a, then to b.
func (x *receiver) want() (a, b []byte) {
	if x.head == nil || x.r == x.w {
		x.rewind()
	}
	if !x.direct {
		return x.head.mem[x.w:], nil
	}
	a = x.body.mem[x.start+x.filled : x.start+x.limit]
	if x.limit == x.marks.size {
		b = x.head.mem[x.w:] // for what follows the record
	}
	return a, b
}

// rewind makes room in a head buffer that has nothing in it.
func (x *receiver) rewind() {
	switch {
	case x.head == nil:
		x.r, x.w = 0, 0
		x.head = x.c.w.store.get(headSize)
	case x.head.refs == 1:
		x.r, x.w = 0, 0
	case len(x.head.mem)-x.w < minHead:
		x.moveHead()
	}
}

// moveHead goes on in a new head buffer with what has not been consumed.
func (x *receiver) moveHead() {
	b := x.c.w.store.get(headSize)
	x.w = copy(b.mem, x.head.mem[x.r:x.w])
	x.r = 0
	x.dropHead()
	x.head = b
}

// dropHead lets go of the head buffer. Records that are in it keep it.
func (x *receiver) dropHead() {
	b := x.head
	x.head = nil
	if b.refs > 1 {
		x.c.charge(b)
	}
	x.c.unref(b)
}

// rest drops a head buffer that has nothing in it, so that a connection
// without work costs none.
func (x *receiver) rest() {
	if x.head != nil && x.r == x.w && x.head.refs == 1 && !x.reading {
		x.dropHead()
	}
}

// got tells that n bytes have arrived where want said.
func (x *receiver) got(n int) {
	x.share -= n
	x.total += int64(n)
	if x.direct {
		k := min(n, x.limit-x.filled)
		x.filled += k
		x.marks.take(k)
		n -= k
	}
	x.w += n
}

// advance delivers what can be delivered.
func (x *receiver) advance() {
	for x.state == rxRead && x.share > 0 && x.c.mayRead() && x.step() {
	}
}

// step does the next thing with what has arrived, and reports whether there is more
// to do before the next input.
func (x *receiver) step() bool {
	if x.body != nil {
		switch {
		case x.marks.complete():
			x.finish()
			return true
		case x.filled == x.limit && x.claimed == 0:
			x.admit((*receiver).extend)
			return true
		case x.direct:
			return false
		}
	}
	if x.head == nil {
		return false
	}
	m := &x.marks
	if m.rest == 0 {
		n, err := m.next(x.head.mem[x.r:x.w])
		x.r += n
		if err != nil {
			x.c.fail(err)
			return false
		}
		if m.rest == 0 {
			return m.complete()
		}
	}
	have := x.w - x.r
	switch {
	case x.body != nil:
		return x.gather()
	case !m.whole():
		x.state = rxGate
	case m.size <= have:
		b := x.head
		b.refs++
		data := b.mem[x.r : x.r+m.size : x.r+m.size]
		x.r += m.size
		x.deliver(b, data, 0)
		return true
	case m.size <= headSize:
		return x.roomFor(m.size)
	case have < minHead:
		return x.roomFor(minHead)
	default:
		x.state = rxGate
	}
	return false
}

// roomFor makes sure that n bytes from r on fit into the head buffer. It
// returns false, because they have still to arrive.
func (x *receiver) roomFor(n int) bool {
	if x.r+n > len(x.head.mem) {
		x.moveHead()
	}
	return false
}

// gather copies bytes of the fragment from the head buffer to the body.
func (x *receiver) gather() bool {
	n := min(x.w-x.r, x.marks.rest, x.limit-x.filled)
	x.filled += copy(x.body.mem[x.start+x.filled:x.start+x.limit], x.head.mem[x.r:x.r+n])
	x.copied += n
	x.marks.take(n)
	x.r += n
	return n > 0
}

// need is how many bytes of the record have to lie in the socket before begin
// is called.
func (x *receiver) need() int {
	return min(x.marks.size-(x.w-x.r), gateSize)
}

// begin admits a large record of one fragment, of which enough has arrived.
func (x *receiver) begin() { x.admit((*receiver).receive) }

// receive takes a buffer for an admitted record and goes on there.
func (x *receiver) receive() {
	x.open(x.marks.size, x.place(x.head.mem[x.r:x.w]))
	x.direct = true
	x.moveIn()
}

// stage is begin where it cannot be known how much has arrived, or how long
// the record is. Bytes are collected under a budget of their own: as no record
// that has its whole length admitted waits for it, there is no deadlock.
func (x *receiver) stage() {
	x.state, x.then = rxWait, (*receiver).receiveStaged
	x.staged = stageSize
	x.wait(&x.c.w.t.staged, x.staged)
}

func (x *receiver) receiveStaged() {
	switch m := &x.marks; {
	case !m.whole():
		x.open(stageSize, Placement{})
	case m.size <= stageSize:
		x.receive()
	default:
		x.open(stageSize, Placement{})
		x.direct = true
		x.moveIn()
	}
}

// extend moves what has been staged to a buffer for the whole record.
func (x *receiver) extend() {
	stage, have := x.body, x.body.mem[x.start:x.start+x.filled]
	x.open(x.bound(), x.place(have))
	x.filled = copy(x.body.mem[x.start:], have)
	x.copied += max(0, len(have)-x.at)
	x.c.unref(stage)
	x.unstage()
}

// place asks the handler where a record of one fragment should lie, of which
// head is the beginning.
func (x *receiver) place(head []byte) Placement {
	n := x.marks.size
	if !x.marks.whole() {
		return Placement{}
	}
	return x.c.w.t.handler.Place(x.c, head, n).check(n)
}

// open takes a buffer for n bytes of a record.
func (x *receiver) open(n int, p Placement) {
	x.body = x.c.w.store.get(p.placedSize(n))
	x.start, x.filled, x.limit, x.at = p.place(x.body.mem), 0, n, p.At
}

// moveIn copies the beginning of the record from the head buffer to its own.
func (x *receiver) moveIn() {
	n := copy(x.body.mem[x.start:], x.head.mem[x.r:x.w])
	x.filled = n
	x.copied += max(0, n-x.at)
	x.marks.take(n)
	x.r += n
}

// finish delivers the record in the body. What was only staged is admitted first.
func (x *receiver) finish() {
	if x.claimed == 0 {
		x.admit((*receiver).finish)
		return
	}
	x.unstage()
	b := x.body
	b.charged, x.claimed = x.claimed, 0
	x.c.charge(b)
	data := b.mem[x.start : x.start+x.marks.size]
	copied := x.copied
	x.body, x.direct, x.copied = nil, false, 0
	x.deliver(b, data, copied)
}

// deliver hands a record to the handler, with the reference to its buffer.
func (x *receiver) deliver(b *buffer, data []byte, copied int) {
	x.marks.reset()
	x.share -= recordCost
	x.records++
	x.c.times.called = x.c.w.now
	x.c.w.deliver(x.c, b, data, copied)
}

// admit goes on with then as soon as the budget has bytes for the record.
func (x *receiver) admit(then func(*receiver)) {
	x.state, x.then = rxWait, then
	x.claim()
}

// claim asks for the record's bytes. A connection that uses its own share asks
// again when some of it is released.
func (x *receiver) claim() {
	c, n := x.c, x.bound()
	c.overdrawn = c.received > 0 && c.received+n > c.w.t.cfg.ConnRecvBudget
	if c.overdrawn {
		return
	}
	x.claimed = n
	c.received += n
	x.wait(&c.w.t.received, n)
}

func (x *receiver) wait(b *budget, n int) {
	if b.admit(x.c, n) {
		x.granted()
	} else {
		x.waits = b
	}
}

// bound is the size of the record, or what it may be at most.
func (x *receiver) bound() int {
	if x.marks.last {
		return x.marks.size
	}
	return x.marks.max
}

// granted goes on when the budget has bytes.
func (x *receiver) granted() {
	then := x.then
	x.state, x.then, x.waits = rxRead, nil, nil
	then(x)
}

func (x *receiver) unstage() {
	x.c.w.t.staged.release(x.staged)
	x.staged = 0
}

// incomplete reports whether part of a record has arrived.
func (x *receiver) incomplete() bool { return x.marks.parts > 0 || x.marks.have > 0 }

// drop gives back what the receiver has. Nobody receives into its buffers
// any more. What is granted all the same goes back when the event comes.
func (x *receiver) drop() {
	c, t := x.c, x.c.w.t
	switch x.waits {
	case &t.staged:
		x.staged = 0
	case &t.received:
		c.received -= x.claimed
		x.claimed = 0
	}
	if x.waits != nil {
		x.waits.cancel(c)
	}
	x.unstage()
	c.received -= x.claimed
	t.received.release(x.claimed)
	if x.body != nil {
		c.unref(x.body)
	}
	if x.head != nil {
		x.dropHead()
	}
	*x = receiver{c: c}
}
