package rpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"runtime"
	"time"
)

// streamLink is the link of a client over a stream.
//
// Calls are encoded into out by their callers. Whoever has the sender's role
// takes all of out, sends it and looks again, so that calls which come together
// leave together. That is a caller as long as the connection takes bytes
// without delay; else, and for payloads, it is the link's own goroutine, since
// a caller must be able to leave. While replies come in a group the receiver has
// the role, and sends what their callers want next when it has seen all of them.
type streamLink struct {
	c      *Client
	direct *directWriter // nil if the connection can only be written to with waiting
	role   chan struct{} // hands the sender's role to sendLoop

	// Protected by Client.mu.
	sending bool // somebody has the sender's role
	hurried bool // the sender has a deadline
	out     outbox

	// The sender's.
	way     outbox // what is on its way
	buffers net.Buffers
	unsent  net.Buffers // what is left of buffers

	// The receiver's.
	records *recordReader
	large   []byte // results that are too long for records to keep
	corked  bool   // it has the sender's role
}

// outbox holds encoded records. Payloads that are sent from where they lie
// belong in between the bytes of buf.
type outbox struct {
	buf  []byte
	gone int // bytes of buf that have been sent
	cuts []cut
}

// cut is a payload that belongs in front of buf[at].
type cut struct {
	at      int
	payload []byte
	call    *clientCall // nil if payload is a copy
}

const (
	// keptBytes is the largest buffer that a client keeps.
	keptBytes = 128 << 10

	// callerRounds is how often a caller looks again for what to send.
	callerRounds = 2
)

var (
	errPayloadTooLong = errors.New("payload longer than the memory for it")

	// expired is a deadline that interrupts input or output.
	expired = time.Unix(1, 0)
)

func newStreamLink(c *Client) *streamLink {
	l := &streamLink{
		c:      c,
		direct: newDirectWriter(c.conn),
		role:   make(chan struct{}, 1),
	}
	l.records = newRecordReader((*uncorked)(l), c.config.MaxReply)
	c.owned.Go(l.sendLoop)
	c.owned.Go(l.receiveLoop)
	return l
}

func (l *streamLink) send(p *clientCall) error {
	start := len(l.out.buf)
	b := p.appendCall(append(l.out.buf, 0, 0, 0, 0), p.xid)
	pad := -len(p.payload) & 3
	size := len(b) - start - 4 + len(p.payload) + pad
	if int64(size) >= lastFragment {
		return errRecordTooLong
	}
	binary.BigEndian.PutUint32(b[start:], lastFragment|uint32(size))
	if len(p.payload) > 0 {
		p.unsent = true
		l.out.cuts = append(l.out.cuts, cut{len(b), p.payload, p})
		b = append(b, zeros[:pad]...)
	}
	l.out.buf = b
	if !l.sending {
		l.sending = true
		l.sendDirect()
	}
	return nil
}

var zeros [3]byte

// sendDirect is the sender's role in a caller. Client.mu is held, but not while
// it writes.
func (l *streamLink) sendDirect() {
	for range callerRounds {
		if len(l.c.pending) > 1 {
			// Replies come in groups: others that were woken with this caller
			// have something to send, too.
			l.c.mu.Unlock()
			runtime.Gosched()
			l.c.mu.Lock()
		}
		if l.direct == nil || len(l.out.cuts) > 0 {
			break
		}
		if len(l.out.buf) == 0 {
			l.sending = false
			return
		}
		l.out, l.way = l.way, l.out
		l.c.mu.Unlock()
		n, err := l.direct.write(l.way.buf)
		l.c.mu.Lock()
		if err != nil {
			l.c.failLocked(connectionError(err))
			return
		}
		if l.way.gone = n; n < len(l.way.buf) {
			break
		}
		l.way.clear()
		if len(l.out.buf) == 0 {
			l.sending = false
			return
		}
	}
	l.role <- struct{}{}
}

// sendLoop is the sender's role where it may take time.
func (l *streamLink) sendLoop() {
	for {
		select {
		case <-l.role:
			l.sendAll()
		case <-l.c.closed:
			return
		}
	}
}

func (l *streamLink) sendAll() {
	c := l.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil {
		if len(l.way.buf) == 0 {
			if len(l.out.buf) == 0 {
				l.sending = false
				return
			}
			l.out, l.way = l.way, l.out
		}
		c.mu.Unlock()
		err := l.write()
		c.mu.Lock()
		if l.hurried {
			l.hurried = false
			c.conn.SetWriteDeadline(time.Time{})
		}
		l.release(&l.way)
		l.way.clear()
		if err != nil {
			c.failLocked(connectionError(err))
		}
	}
}

// write sends all that is on its way.
func (l *streamLink) write() error {
	from := l.way.gone
	if len(l.way.cuts) == 0 {
		_, err := l.c.conn.Write(l.way.buf[from:])
		return err
	}
	l.buffers = l.buffers[:0]
	for _, cut := range l.way.cuts {
		l.buffers = append(l.buffers, l.way.buf[from:cut.at], cut.payload)
		from = cut.at
	}
	if from < len(l.way.buf) {
		l.buffers = append(l.buffers, l.way.buf[from:])
	}
	l.unsent = l.buffers
	_, err := l.unsent.WriteTo(l.c.conn)
	return err
}

// release tells the calls whose payloads are in o that these are out of use.
func (l *streamLink) release(o *outbox) {
	for _, cut := range o.cuts {
		if cut.call != nil {
			l.c.sent(cut.call)
		}
	}
	clear(o.cuts)
	o.cuts = o.cuts[:0]
}

func (o *outbox) clear() {
	if cap(o.buf) > keptBytes {
		o.buf = nil
	}
	o.buf = o.buf[:0]
	o.gone = 0
}

func (l *streamLink) leave(p *clientCall) bool {
	if !p.unsent {
		return true
	}
	for i := range l.out.cuts {
		if cut := &l.out.cuts[i]; cut.call == p {
			// The call's record has begun, so there has to be a payload.
			cut.payload = bytes.Clone(cut.payload)
			cut.call = nil
			p.unsent = false
			return true
		}
	}
	l.hurried = true
	if err := l.c.conn.SetWriteDeadline(expired); err != nil {
		l.c.failLocked(connectionError(err))
	}
	return false
}

func (l *streamLink) interrupt() {
	if err := l.c.conn.SetReadDeadline(expired); err != nil {
		l.c.failLocked(connectionError(err))
	}
}

func (l *streamLink) fail() { l.release(&l.out) }

func (l *streamLink) receiveLoop() {
	var err error
	for err == nil {
		err = l.receive()
	}
	l.c.fail(connectionError(err))
}

// uncorked is the connection for the receiver: nobody may wait for it while it
// waits for the server.
type uncorked streamLink

func (u *uncorked) Read(b []byte) (int, error) {
	l := (*streamLink)(u)
	if l.corked {
		l.corked = false
		l.c.mu.Lock()
		l.sendDirect()
		l.c.mu.Unlock()
	}
	return l.c.conn.Read(b)
}

// receive receives one record. What is not a reply that somebody waits for is
// ignored.
func (l *streamLink) receive() error {
	if err := l.records.next(); err != nil {
		return err
	}
	b, err := l.records.peek(maxReplyHead + PayloadHead)
	if err != nil {
		return err
	}
	if xid, ok := replyXID(b); ok {
		if p := l.c.claim(xid); p != nil {
			bad, err := l.receiveResults(p, b)
			if err = l.received(p, bad, err); err != nil {
				return err
			}
		}
	}
	return l.records.discard()
}

// receiveResults receives the results of p from a reply that begins with b. bad
// is why the call has failed, and err why the connection has.
func (l *streamLink) receiveResults(p *clientCall, b []byte) (bad, err error) {
	s := l.records
	results, bad := parseReply(b)
	if bad != nil || p.res == nil && p.head == nil {
		return bad, nil
	}
	s.skip(len(b) - len(results))
	if p.head != nil {
		return l.receivePayload(p, results)
	}
	if s.last && s.rest <= readerSize-4 {
		results, err = s.peek(s.rest)
	} else {
		l.large, err = s.appendRest(l.large[:0])
		results = l.large
		if cap(l.large) > keptBytes {
			l.large = nil
		}
	}
	if err != nil {
		return nil, err
	}
	if _, err := p.res.ConsumeXDR(results); err != nil {
		return badResults(err), nil
	}
	return nil, nil
}

func (l *streamLink) receivePayload(p *clientCall, results []byte) (bad, err error) {
	n, rest, err := p.head.ConsumeXDRHead(results)
	switch {
	case err != nil:
		return badResults(err), nil
	case n == 0:
		return nil, nil
	case int64(n) > int64(len(p.into)):
		return badResults(errPayloadTooLong), nil
	}
	l.records.skip(len(results) - len(rest))
	p.n, err = l.records.read(p.into[:n])
	if err == errRecordTooShort {
		return badResults(err), nil
	}
	return nil, err
}

// received ends a call after its results have been received. It returns err,
// unless that came from an interruption: then what is left of the reply can be
// discarded.
func (l *streamLink) received(p *clientCall, bad, err error) error {
	c := l.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.left {
		p.left = false
		c.conn.SetReadDeadline(time.Time{})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			bad, err = errLeft, nil
		}
	}
	if err != nil {
		bad = connectionError(err)
	}
	if l.direct != nil && !l.sending && l.records.ahead() > 0 {
		l.sending, l.corked = true, true
	}
	c.end(p, bad)
	return err
}
