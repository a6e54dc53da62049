package rpc

import (
	"context"

	"eddy.example/bufpool"
	"eddy.example/xprt"
	"github.com/valyala/bytebufferpool"
)

// Call is one call on a server. It belongs to [Program.Serve] until that
// returns, and with it everything that lies in it. Its methods are for Serve's
// goroutine.
type Call struct {
	Header

	// Cred is the caller as it introduced itself.
	Cred Cred

	// Args are the arguments as they lie in the record, including whatever
	// follows them.
	Args []byte

	// Conn is where the call came from.
	Conn *xprt.Conn

	// MayWait is true if Serve may block.
	MayWait bool

	srv  *Server
	rec  *xprt.Record
	peer *peer
	msg  callMessage
	gids [maxGIDs]uint32

	prog  Program
	proc  *Proc
	step  step
	token int64

	// run is memory lent for a payload, and want how much of it was asked for
	// in vain.
	run  *bufpool.Run
	want int

	reply  reply
	status Status
	failed string
	undone bool
	buf    []byte                     // a small reply from its XID on, kept from call to call
	big    *bytebufferpool.ByteBuffer // holds the reply instead if that is large
	head   []byte                     // the reply up to its payload: in buf or big
	pages  int                        // bytes in run
	segs   []bufpool.Segment

	entry *entry // in the reply cache
	next  *Call  // in a queue of waiting calls, or of duplicates

	flight flight // in the list of those that are not over at once
}

// step is what is to be done with a call when its worker sees it again.
type step uint8

const (
	stepServe  step = iota // run it, there may be pages now
	stepWait               // let it wait
	stepLend               // lend pages and let it wait again
	stepSend               // send the reply
	stepReplay             // send the reply that lies in entry
)

// reply is the form of a reply.
type reply uint8

const (
	replyNone reply = iota // Serve has not replied
	replySmall
	replyPages
	replySegments
	replyDrop
)

const (
	// keptReply is the size of Call.buf, which stays with a connection.
	keptReply = 1024

	// batchedReply is the longest message that is copied to leave with others.
	batchedReply = 8192
)

// Procedure is what the call asks for. It is nil if the server does not have
// it, or has not looked yet.
func (c *Call) Procedure() *Proc { return c.proc }

// Context ends when the call is no longer of use: for a ReadOnly procedure with
// its connection, for any other only with the server.
func (c *Call) Context() context.Context {
	if c.proc.ReadOnly && !c.proc.Cached {
		return c.Conn.Context()
	}
	return c.srv.base
}

// Results returns an empty slice with room for max bytes of results, to be
// appended to and given to Reply, ReplyPages or ReplySegments. Appending more
// is possible but costs a copy.
func (c *Call) Results(max int) []byte {
	return c.room(max)[replyHead:replyHead]
}

// room returns memory for a reply with n bytes of results.
func (c *Call) room(n int) []byte {
	n += replyHead
	if n <= keptReply {
		if c.buf == nil {
			c.buf = make([]byte, keptReply)
		}
		return c.buf
	}
	if c.big == nil {
		c.big = bytebufferpool.Get()
	}
	if cap(c.big.B) < n {
		c.big.B = make([]byte, n)
	}
	return c.big.B[:cap(c.big.B)]
}

// frame puts the reply's head before results.
func (c *Call) frame(results []byte) {
	n := replyHead + len(results)
	for _, b := range [2][]byte{c.buf, c.bigBytes()} {
		// Usually the results lie where Results said.
		if len(b) >= n && sameStart(results, b[replyHead:]) {
			appendAccepted(b[:0], c.XID, SUCCESS)
			c.head = b[:n]
			return
		}
	}
	b := c.room(len(results))
	copy(b[replyHead:], results)
	appendAccepted(b[:0], c.XID, SUCCESS)
	c.head = b[:n]
}

func sameStart(a, b []byte) bool {
	return cap(a) > 0 && cap(b) > 0 && &a[:1][0] == &b[:1][0]
}

func (c *Call) bigBytes() []byte {
	if c.big == nil {
		return nil
	}
	return c.big.B[:cap(c.big.B)]
}

func (c *Call) replyAs(form reply) {
	if c.reply != replyNone {
		panic("rpc: more than one reply to a call")
	}
	c.reply = form
}

// Reply answers the call. It is sent when Serve has returned nil.
func (c *Call) Reply(results []byte) {
	c.replyAs(replySmall)
	c.frame(results)
}

// Pages lends memory for a payload of n bytes, 1 to [bufpool.MaxPayload]: page
// aligned, len n, with at least a page of slack in its capacity. It is the
// call's until it has replied. Further calls return the same memory as long as
// that is large enough.
//
// While there is none it returns [ErrWouldBlock], which Serve passes on: it is
// called again when there is. A call that was given pages and then would block
// still has them when it runs again.
func (c *Call) Pages(n int) ([]byte, error) {
	if c.run == nil || len(c.run.Bytes()) < n {
		if c.MayWait || !c.lend(n) {
			c.want = n
			return nil, ErrWouldBlock
		}
	}
	return c.run.Bytes()[:n], nil
}

// lend gets a run of n bytes on the worker.
func (c *Call) lend(n int) bool {
	c.unlend()
	c.run = c.rec.Lend(n)
	return c.run != nil
}

func (c *Call) unlend() {
	if c.run != nil {
		c.rec.Unlend(c.run)
		c.run = nil
	}
}

// ReplyPages answers the call: its results are head, then the first n bytes of
// what Pages returned, then zeros up to a multiple of four. n may be 0.
func (c *Call) ReplyPages(head []byte, n int) {
	if c.proc.Cached {
		panic("rpc: a cached procedure answers with Reply")
	}
	if c.run == nil || n > cap(c.run.Bytes()) {
		panic("rpc: ReplyPages of pages that were not lent")
	}
	c.replyAs(replyPages)
	c.frame(head)
	c.pages = n
}

// ReplySegments answers the call: its results are head, then the segments, then
// zeros up to a multiple of four. It takes over the segments' owners, whatever
// Serve returns.
func (c *Call) ReplySegments(head []byte, segs ...bufpool.Segment) {
	c.segs = append(c.segs, segs...)
	if c.proc.Cached {
		panic("rpc: a cached procedure answers with Reply")
	}
	c.replyAs(replySegments)
	c.frame(head)
}

// Undone says that nothing has been done but to find out that the caller may
// not do it. The reply of a Cached procedure is not kept then: those who get
// nothing but refusals do not take the place of other clients' replies.
func (c *Call) Undone() { c.undone = true }

// Failed notes that the reply, though RPC calls it a success, is the program's
// error of that name, a constant: Observers count it.
func (c *Call) Failed(name string) { c.failed = name }

// Failure is what was given to Failed, or "".
func (c *Call) Failure() string { return c.failed }

// replay makes message, a reply from the cache, the reply; none if it is empty.
func (c *Call) replay(message []byte) {
	if len(message) == 0 {
		c.reply = replyDrop
		c.status = StatusDropped
		return
	}
	c.reply = replySmall
	c.status = StatusReplayed
	c.head = append(c.room(len(message) - replyHead)[:0], message...)
}

// discard takes back what Serve has replied, if anything.
func (c *Call) discard() {
	for i := range c.segs {
		if o := c.segs[i].Owner; o != nil {
			o.Release()
		}
	}
	clear(c.segs)
	c.segs = c.segs[:0]
	c.reply = replyNone
	c.undone = false
	c.failed = ""
	c.head = nil
	c.pages = 0
}

// reset forgets the call; c is used for the next one in the same record.
func (c *Call) reset() {
	if c.big != nil {
		bytebufferpool.Put(c.big)
	}
	clear(c.segs)
	*c = Call{srv: c.srv, buf: c.buf, segs: c.segs[:0]}
}
