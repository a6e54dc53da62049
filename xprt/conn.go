package xprt

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"eddy.example/bufpool"
)

// Why connections end. They are logged, and the cause of Conn.Context.
var (
	// ErrAborted is the end of a connection by Conn.Abort or when the transport closes.
	ErrAborted = errors.New("connection aborted")

	// ErrTimeout is the end of one whose peer took or sent too little for too long.
	ErrTimeout = errors.New("peer too slow")

	// ErrBudget is the end of one whose peer does not take its replies while others
	// need the memory.
	ErrBudget = errors.New("peer takes no replies and their memory is needed")

	errReplyTooLong = errors.New("reply longer than allowed")
	errIdleTooLong  = errors.New("connection idle")
	errFileTooShort = errors.New("file shorter than the reply promises")
)

// Conn is a connection, or where one datagram came from. Its methods may be called by any
// goroutine; Attachment is for the goroutine that the [Handler] is called on.
//
// The Conn of a datagram is the Record's: it is valid until Done, and is used again for
// another peer then. It is never Opened or Closed, and its Attachment stays with it.
type Conn struct {
	// Attachment is the handler's.
	Attachment any

	w       *worker
	link    link
	packet  *packetConn // for a datagram
	network string
	remote  netip.AddrPort
	local   netip.AddrPort
	peer    Peer
	hasPeer bool
	kernel  bool // replies are read by the kernel only
	owner   owner
	ctx     context.Context
	cancel  context.CancelCauseFunc
	ended   chan struct{} // closed when nothing is left of it

	// Of a datagram: where it came from, as its link has it, and a list of those
	// that are to be used again.
	origin   any
	nextFree *Conn

	// From here on all is the worker's.
	rx       receiver
	tx       sender
	calls    int        // records that are not done
	received int        // bytes of budget that its records hold
	waiting  recordList // records whose pages have to wait for tx

	overdrawn bool // rx waits for received to become less
	paused    bool // there is more to read, but it may not
	scheduled bool // in worker.ready
	dirty     bool // in worker.dirty
	touched   bool // in worker.touched
	eof       bool // the peer sends nothing more
	draining  bool // nothing more is read
	finished  bool // the link was told that all has been said
	dead      bool // nothing more is sent
	buried    bool // what it had was given back
	told      bool // the handler knows that it is closed

	times times
	index int // in worker.conns, or removed
}

const removed = -1

// Peer is the process at the other end of a Unix socket, when it connected.
type Peer struct {
	UID, GID uint32
	PID      int // 0 where the system does not say
}

// link is how the bytes of a stream travel. All methods are called by the worker, and
// none blocks.
type link interface {
	// open begins.
	open()

	// read gets bytes to where the receiver wants them. It returns false if none have
	// come yet: then the connection is scheduled when they have.
	read() bool

	// gate is called when the receiver is at its gate, and lets it through or returns
	// false. Then it is called again when more has come.
	gate() bool

	// transmit sends from the front of the connection's queue, what can be sent now.
	transmit()

	// runs calls f once for each run that has been sent and is still looked at.
	runs(f func(*bufpool.Run))

	// finish is told that all has been sent and nothing will be read: the connection fails
	// with nil when the peer has had time to get it.
	finish()

	// abort ends the connection at once. Later the link calls Conn.gone, when nothing
	// looks at the connection's memory any more.
	abort()

	// tick is called now and then. It reports whether the peer still has
	// something to take, and whether it has taken any since it was last called.
	tick() (owed, moved bool)

	// roundTrip is how long the peer's answers usually take, 0 if that is not known.
	roundTrip() time.Duration

	// closed reports whether nothing is left of the link, not even references to runs.
	closed() bool
}

// RemoteAddr is the peer's address, the zero AddrPort if it has none.
func (c *Conn) RemoteAddr() netip.AddrPort { return c.remote }

// LocalAddr is the address that the peer has connected or sent to.
func (c *Conn) LocalAddr() netip.AddrPort { return c.local }

// Network is "tcp", "udp", "unix", "pipe", "tls", "smux" or what the net.Conn says by
// a method of this name.
func (c *Conn) Network() string { return c.network }

// Worker is the number of the worker that the connection belongs to, from 0 on.
func (c *Conn) Worker() int { return c.w.id }

// Ticked is when the worker was last told the time. That is every second, as
// long as the handler returns.
func (c *Conn) Ticked() time.Time { return time.Unix(0, c.w.ticked.Load()) }

// Datagram reports whether records are datagrams: they may be lost, and
// replies are short.
func (c *Conn) Datagram() bool { return c.packet != nil }

// MaxReply is the longest reply in bytes, head and padding included: of SendSmall, and on
// a datagram of all. Longer ones are dropped there.
func (c *Conn) MaxReply() int {
	if c.packet != nil {
		return maxDatagram
	}
	return maxReply
}

// Peer returns who is at the other end of a Unix socket.
func (c *Conn) Peer() (p Peer, ok bool) { return c.peer, c.hasPeer }

// KernelSends reports whether the segments of replies leave by system calls, and
// nothing in this process reads them: on TCP and Unix sockets that a worker has
// taken over. What may vanish while it is read, a mapping of a file that
// others may cut, is for these only: there it ends the connection.
func (c *Conn) KernelSends() bool { return c.kernel }

// Context ends with the connection, as soon as the peer has closed it or it has
// failed; for datagrams with the transport.
func (c *Conn) Context() context.Context { return c.ctx }

// Abort ends the connection without sending what is queued.
func (c *Conn) Abort() {
	if c.packet == nil {
		c.w.post(event{kind: evAbort, conn: c, err: ErrAborted})
	}
}

// mayRead reports whether more records may be delivered.
func (c *Conn) mayRead() bool {
	return !c.draining && !c.dead && c.calls < c.w.t.cfg.MaxCalls &&
		c.tx.small < maxUnsent && c.tx.foreign < maxForeign && c.mayHold()
}

// mayHold reports whether the budget lets the connection read. A record that has been admitted is
// always finished, even if it is longer than the connection's share. And a connection that holds
// nothing is read whatever others hold: so each gets on, and what it holds comes back.
func (c *Conn) mayHold() bool {
	t := c.w.t
	return c.received == 0 || c.rx.claimed > 0 || c.received <= t.cfg.ConnRecvBudget && !t.received.over()
}

// turn gives the connection its share of the worker.
func (c *Conn) turn() {
	c.scheduled = false
	if c.dead {
		return
	}
	c.paused = false
	c.resume()
	c.rx.share = turnBytes
	if c.overdrawn {
		c.rx.claim()
	}
	c.receive()
}

// receive delivers what the peer sends, as far as the connection may read.
func (c *Conn) receive() {
	for x := &c.rx; ; {
		x.advance()
		switch {
		case c.dead || x.state == rxWait:
			return
		case !c.mayRead():
			c.paused = true
			return
		case x.share <= 0:
			c.w.schedule(c)
			return
		case x.state == rxGate:
			if !c.link.gate() {
				return
			}
		case c.eof:
			c.drain()
			return
		case !c.link.read():
			return
		}
	}
}

// resume lets records go on that wait for earlier payloads to be gone.
func (c *Conn) resume() {
	for range resumesPerTurn {
		if c.waiting.empty() || !c.tx.mayGrow() {
			return
		}
		r := c.waiting.pop()
		c.w.resume(r)
		if r.state == recordWaits {
			return // and those behind it
		}
	}
	c.w.schedule(c)
}

// queued is called when there is something to send.
func (c *Conn) queued() {
	if c.tx.bytes >= flushSize {
		c.flush()
	} else if !c.dirty {
		c.dirty = true
		c.w.dirty = append(c.w.dirty, c)
	}
}

// flush sends what can be sent now.
func (c *Conn) flush() {
	if c.dead || c.tx.empty() {
		return
	}
	c.link.transmit()
	c.sent()
}

// sent is called when the queue may have become shorter.
func (c *Conn) sent() {
	c.tx.stuck = !c.tx.empty()
	if c.tx.stuck {
		c.w.owe(c.tx.bytes)
	} else if c.draining {
		c.touch()
	}
	if c.tx.mayGrow() && !c.waiting.empty() {
		c.w.schedule(c)
	}
	c.unpause()
}

// unpause goes on reading if it may.
func (c *Conn) unpause() {
	if c.paused && c.mayRead() {
		c.w.schedule(c)
	}
}

// fail ends the connection because of err, nil if it was orderly.
func (c *Conn) fail(err error) {
	if c.dead {
		return
	}
	c.dead = true
	switch err {
	case nil:
		err = context.Canceled
	case ErrTimeout:
		c.w.counters.timeouts.Add(1)
	}
	c.w.t.cfg.Log.Debug("connection ended",
		zap.String("network", c.network), zap.Stringer("peer", c.remote), zap.Error(err))
	c.cancel(err)
	c.touch()
}

// closedByPeer is called when the peer sends nothing more. What it has asked for
// is still answered, although it may not be there to hear it.
func (c *Conn) closedByPeer() {
	c.eof = true
	c.cancel(context.Canceled)
}

// drain lets the connection end when the calls in flight have been answered.
func (c *Conn) drain() {
	c.draining = true
	c.touch()
}

func (c *Conn) touch() {
	if !c.touched {
		c.touched = true
		c.w.touched = append(c.w.touched, c)
	}
}

// settle ends the connection as far as it is over.
func (c *Conn) settle() {
	if !c.dead {
		if c.draining && !c.finished && c.calls == 0 && c.tx.empty() {
			c.finished = true
			c.link.finish()
		}
		return
	}
	if !c.buried {
		c.buried = true
		c.link.abort()
		for r := c.waiting.pop(); r != nil; r = c.waiting.pop() {
			c.w.resume(r)
		}
		c.w.resumeStarved(c)
	}
	if c.calls > 0 || c.index == removed {
		return
	}
	if !c.told {
		c.told = true
		c.w.t.handler.Closed(c)
	}
	if c.link.closed() {
		c.w.remove(c)
	}
}

// gone is called by the link when nothing looks at the connection's memory any more.
func (c *Conn) gone() {
	c.rx.drop()
	c.tx.drop()
	c.touch()
}

// charge counts the memory of a receive buffer that is with the handler, as far as it is not
// counted yet.
func (c *Conn) charge(b *buffer) {
	n := len(b.mem) - b.charged
	b.charged += n
	c.received += n
	c.w.t.received.force(n)
}

// unref drops a reference to a receive buffer of the connection.
func (c *Conn) unref(b *buffer) {
	if b.refs--; b.refs > 0 {
		return
	}
	if b.charged > 0 {
		c.received -= b.charged
		c.w.t.received.release(b.charged)
		b.charged = 0
		if c.overdrawn {
			c.w.schedule(c)
		}
		c.unpause()
	}
	c.w.store.put(b)
}
