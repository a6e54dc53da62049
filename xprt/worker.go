package xprt

import (
	"sync"
	"sync/atomic"
	"time"

	"eddy.example/bufpool"
)

// resumesPerTurn bounds how many waiting records go on in one go.
const resumesPerTurn = 16

// maxFree bounds how many records a worker keeps for use again, minFree how many of those it
// keeps without need.
const (
	maxFree = 4096
	minFree = 64
)

// worker is an event loop with the connections that belong to it, one pool for what they
// send and one store for what they receive. All of it is used by its goroutine only,
// except for post and what says otherwise.
type worker struct {
	t    *Transport
	id   int
	poll poller

	pool  *bufpool.Pool
	store store

	conns   []*Conn
	packets []*packetConn
	free    recordList
	kept    int // records in free
	unused  int // the fewest of them since the last trim

	ready   []turner   // with more to do
	dirty   []*Conn    // with something to send
	touched []*Conn    // to be settled
	starved recordList // waiting for pages
	lenders []*Record  // with pages
	briefs  recordList // with brief work
	astray  int        // goroutines that were the worker, and are kept by brief work

	datagram []byte // where replies to datagrams are written
	sys      syscalls

	now      time.Time // of the last tick
	stopping bool
	spare    []event // becomes queue

	// Any goroutine's.
	mu       sync.Mutex
	queue    []event
	pending  atomic.Bool // something is in queue
	roomMade atomic.Bool // the pool may have pages again
	owing    atomic.Bool // peers have something to take, or records wait for pages: tick me soon
	load     atomic.Int64
	foreign  atomic.Int64  // bytes of backends' memory that are queued
	ticked   atomic.Int64  // now, in Unix ns
	brief    atomic.Uint64 // counts the beginnings and ends of brief work: odd within
	longest  atomic.Int64  // since when a peer has taken nothing, in Unix ns; or 0
	counters counters
}

// turner is what gets its share of a worker by turns.
type turner interface{ turn() }

// event is what other goroutines tell a worker.
type event struct {
	kind   eventKind
	conn   *Conn
	rec    *Record
	n      int
	err    error
	budget *budget
	packet *packetConn
	list   *listing
}

type eventKind uint8

const (
	evOpen       eventKind = iota // conn is new
	evRecord                      // rec comes back
	evStray                       // rec comes back, with a goroutine that was the worker
	evGrant                       // conn got n bytes of budget
	evRead                        // conn's reader has received n bytes, or err
	evWrote                       // conn's writer has sent n bytes, or err
	evGone                        // conn's link has ended
	evAbort                       // conn is to end because of err
	evPacket                      // packet is new
	evPacketRead                  // packet's reader has received n bytes, or err
	evPacketGone                  // one of packet's goroutines has ended
	evTick                        // time passes; n is the number of ticks
	evDrain                       // end connections when they are idle
	evCut                         // end connections now
	evShed                        // end the connection that is stalled longest
	evList                        // list describes the connections
	evStop                        // end: nothing is left and nothing will come
)

func newWorker(t *Transport, id int) (*worker, error) {
	w := &worker{t: t, id: id, now: t.cfg.Clock.Now()}
	w.ticked.Store(w.now.UnixNano())
	w.store.max = t.cfg.RecvBudget / t.cfg.Workers
	w.pool = bufpool.New(bufpool.Config{Cap: t.cfg.PoolCap, Wake: w.poolWake})
	if err := w.poll.init(w); err != nil {
		return nil, err
	}
	return w, nil
}

// post tells the worker something. Any goroutine may call it.
func (w *worker) post(e event) {
	w.mu.Lock()
	w.queue = append(w.queue, e)
	w.mu.Unlock()
	w.pending.Store(true)
	w.poll.wake()
}

// poolWake is called by the pool, on any goroutine.
func (w *worker) poolWake() {
	w.roomMade.Store(true)
	w.poll.wake()
}

// hasNews reports whether other goroutines have something for the worker.
func (w *worker) hasNews() bool { return w.pending.Load() || w.roomMade.Load() }

// busy reports whether the worker has something to do before it waits.
func (w *worker) busy() bool {
	return len(w.ready) > 0 || len(w.touched) > 0 || !w.briefs.empty() || w.hasNews()
}

// run is the worker's goroutine.
func (w *worker) run() {
	w.pool.Tick(w.now) // from here on it counts the time without demand
	w.loop()
}

// loop is the worker's work, until that is over or another goroutine's.
func (w *worker) loop() {
	for !w.over() {
		w.poll.wait(!w.busy())
		w.takeEvents()
		w.turns()
		w.feed()
		w.settle()
		if !w.runBriefs() {
			return
		}
	}
	w.poll.close()
	w.pool.Close()
}

func (w *worker) over() bool {
	return w.stopping && len(w.conns) == 0 && len(w.packets) == 0
}

func (w *worker) takeEvents() {
	if !w.pending.Load() {
		return
	}
	w.pending.Store(false)
	w.mu.Lock()
	events := w.queue
	w.queue = w.spare[:0]
	w.mu.Unlock()
	for i := range events {
		w.handle(&events[i])
		events[i] = event{}
	}
	w.spare = events
	w.flush()
}

func (w *worker) handle(e *event) {
	c := e.conn
	switch e.kind {
	case evOpen:
		w.add(c)
	case evRecord:
		w.resume(e.rec)
	case evStray:
		w.strayed(e.rec)
	case evGrant:
		if c.dead {
			e.budget.release(e.n)
			return
		}
		c.rx.granted()
		w.schedule(c)
	case evRead, evWrote, evGone:
		c.link.(*stream).event(e)
	case evAbort:
		c.fail(e.err)
	case evPacket:
		e.packet.open()
	case evPacketRead, evPacketGone:
		e.packet.link.(*portablePacket).event(e)
	case evTick:
		w.tick(e.n)
	case evDrain:
		for _, p := range w.packets {
			p.drain()
		}
		for _, c := range w.conns {
			c.drain()
		}
	case evCut:
		for _, p := range w.packets {
			p.drain()
		}
		for _, c := range w.conns {
			c.fail(ErrAborted)
		}
	case evList:
		e.list.begin()
	case evShed:
		w.shed()
		w.t.shedding.Store(false)
	case evStop:
		w.stopping = true
	}
}

// add begins a connection.
func (w *worker) add(c *Conn) {
	c.index = len(w.conns)
	w.conns = append(w.conns, c)
	c.rx = receiver{c: c, marks: marks{max: w.t.cfg.MaxRecord}}
	c.tx = sender{w: w}
	c.times.heard, c.times.since = w.now, w.now
	w.t.handler.Opened(c)
	c.link.open()
	switch {
	case w.t.cutting.Load():
		c.fail(ErrAborted)
	case w.t.closing.Load():
		c.drain()
	}
}

// remove forgets a connection of which nothing is left.
func (w *worker) remove(c *Conn) {
	last := len(w.conns) - 1
	w.conns[c.index] = w.conns[last]
	w.conns[c.index].index = c.index
	w.conns[last] = nil
	w.conns = w.conns[:last]
	c.index = removed
	w.load.Add(-1)
	w.t.closed(c)
}

func (w *worker) schedule(c *Conn) {
	if !c.scheduled {
		c.scheduled = true
		w.ready = append(w.ready, c)
	}
}

// turns gives each who is ready now one turn.
func (w *worker) turns() {
	n := len(w.ready)
	for _, x := range w.ready[:n] {
		x.turn()
		w.flush()
	}
	rest := copy(w.ready, w.ready[n:])
	clear(w.ready[rest:])
	w.ready = w.ready[:rest]
}

// flush sends what has been queued.
func (w *worker) flush() {
	for i := 0; i < len(w.dirty); i++ {
		c := w.dirty[i]
		w.dirty[i] = nil
		c.dirty = false
		c.flush()
	}
	w.dirty = w.dirty[:0]
}

// feed lets records go on that wait for pages.
func (w *worker) feed() {
	if !w.roomMade.Swap(false) {
		return
	}
	for range resumesPerTurn {
		r := w.starved.pop()
		if r == nil {
			return
		}
		w.resume(r)
		w.flush()
		if w.starved.front == r {
			return // it is still not enough
		}
	}
	w.roomMade.Store(true)
}

// resumeStarved lets the connection's records go on that wait for pages.
func (w *worker) resumeStarved(c *Conn) {
	var others recordList
	for r := w.starved.pop(); r != nil; r = w.starved.pop() {
		if r.Conn == c {
			w.resume(r)
		} else {
			others.pushBack(r)
		}
	}
	w.starved = others
	w.roomMade.Store(true) // whoever is the first now has not tried yet
}

func (w *worker) settle() {
	for i := 0; i < len(w.touched); i++ {
		c := w.touched[i]
		w.touched[i] = nil
		c.touched = false
		c.settle()
	}
	w.touched = w.touched[:0]
}

// deliver hands a record that has arrived to the handler.
func (w *worker) deliver(c *Conn, b *buffer, data []byte, copied int) {
	r := w.free.pop()
	if r == nil {
		r = new(Record)
	} else {
		w.kept--
		w.unused = min(w.unused, w.kept)
	}
	r.Conn, r.Data, r.buf, r.PayloadCopied = c, data, b, copied
	r.state, r.was = recordHeld, lackNothing
	c.calls++
	w.counters.record(len(data), copied)
	w.t.handler.Record(r)
}

// trim drops what has not been needed since it was last called.
func (w *worker) trim() {
	w.pool.Trim(w.now)
	w.store.trim()
	for ; w.unused > minFree; w.unused-- {
		w.free.pop()
		w.kept--
	}
	w.unused = w.kept
}

// resume gives a record back to the handler.
func (w *worker) resume(r *Record) {
	r.was = lackNothing
	if r.state == recordWaits {
		r.was = r.lack
	}
	r.state, r.lack = recordHeld, lackNothing
	w.t.handler.Resume(r)
}

// done takes a record back.
func (w *worker) done(r *Record) {
	c := r.Conn
	w.counters.calls.Add(-1)
	c.calls--
	if r.buf != nil {
		c.unref(r.buf)
	}
	r.Conn, r.Data, r.buf, r.state = nil, nil, nil, recordFree
	if w.kept < maxFree {
		w.kept++
		w.free.pushFront(r)
	}
	if c.packet != nil {
		c.packet.done(c)
		return
	}
	c.rx.rest()
	c.unpause()
	if !c.waiting.empty() && c.tx.mayGrow() {
		w.schedule(c) // r may have been what they waited for
	}
	if c.calls == 0 && (c.draining || c.dead) {
		c.touch()
	}
}
