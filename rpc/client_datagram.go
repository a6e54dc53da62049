package rpc

import (
	"errors"
	"net"
	"syscall"
	"time"

	"eddy.example/xprt"
)

// datagramLink is the link of a client over datagrams. A call is sent again,
// with the same XID, until a reply comes.
type datagramLink struct {
	c     *Client
	clock xprt.Clock
	wake  chan struct{} // a call is pending
}

// datagram is what a call needs to be sent again.
type datagram struct {
	message []byte
	tries   int
	wait    time.Duration
	due     time.Time
}

// maxDatagram is the longest datagram of UDP.
const maxDatagram = 64 << 10

// ticksPerWait is how often it is looked for calls to send again in the time
// after which the first one is.
const ticksPerWait = 4

func newDatagramLink(c *Client) *datagramLink {
	l := &datagramLink{c: c, clock: c.config.Clock, wake: make(chan struct{}, 1)}
	if l.clock == nil {
		l.clock = systemClock{}
	}
	c.owned.Go(l.resendLoop)
	c.owned.Go(l.receiveLoop)
	return l
}

func (l *datagramLink) send(p *clientCall) error {
	b := p.appendCall(p.datagram.message[:0], p.xid)
	b = append(b, p.payload...)
	b = append(b, zeros[:-len(p.payload)&3]...)
	p.datagram = datagram{
		message: b,
		tries:   1,
		wait:    l.c.config.Retransmit,
		due:     l.clock.Now().Add(l.c.config.Retransmit),
	}
	if _, err := l.c.conn.Write(b); err != nil {
		return connectionError(err)
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return nil
}

func (l *datagramLink) resendLoop() {
	for {
		select {
		case <-l.wake:
		case <-l.c.closed:
			return
		}
		tick, stop := l.clock.NewTicker(l.c.config.Retransmit / ticksPerWait)
		for now := l.clock.Now(); l.resend(now); {
			select {
			case now = <-tick:
			case <-l.c.closed:
			}
		}
		stop()
	}
}

// resend sends again what is due, and reports whether calls are pending.
func (l *datagramLink) resend(now time.Time) bool {
	c := l.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for xid, p := range c.pending {
		d := &p.datagram
		if now.Before(d.due) {
			continue
		}
		err := ErrTimeout
		if d.tries < c.config.Tries {
			d.tries++
			d.wait *= 2
			d.due = now.Add(d.wait)
			if _, err = c.conn.Write(d.message); err == nil {
				continue
			}
			err = connectionError(err)
		}
		delete(c.pending, xid)
		c.end(p, err)
	}
	return len(c.pending) > 0
}

func (l *datagramLink) receiveLoop() {
	b := make([]byte, maxDatagram)
	for {
		n, err := l.c.conn.Read(b)
		switch {
		case err == nil:
			l.receive(b[:n])
		case errors.Is(err, syscall.ECONNREFUSED):
			// Nobody is there now. That ends the calls, but another may
			// succeed.
			l.failPending(connectionError(err))
		case errors.Is(err, net.ErrClosed):
			l.c.fail(ErrClosed)
			return
		default:
			l.c.fail(connectionError(err))
			return
		}
	}
}

func (l *datagramLink) failPending(err error) {
	c := l.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for xid, p := range c.pending {
		delete(c.pending, xid)
		c.end(p, err)
	}
}

// receive takes a datagram. Anybody can send one: what is no reply to a pending
// call is ignored.
func (l *datagramLink) receive(b []byte) {
	xid, ok := replyXID(b)
	if !ok {
		return
	}
	p := l.c.claim(xid)
	if p == nil {
		return
	}
	results, err := parseReply(b)
	switch {
	case err != nil:
	case p.head != nil:
		p.n, err = consumePayload(p, results)
	case p.res != nil:
		if _, err = p.res.ConsumeXDR(results); err != nil {
			err = badResults(err)
		}
	}
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	l.c.end(p, err)
}

// consumePayload copies the payload of results that are all there.
func consumePayload(p *clientCall, results []byte) (int, error) {
	n, rest, err := p.head.ConsumeXDRHead(results)
	switch {
	case err != nil:
		return 0, badResults(err)
	case int64(n) > int64(len(p.into)):
		return 0, badResults(errPayloadTooLong)
	case int64(n) > int64(len(rest)):
		return 0, badResults(errRecordTooShort)
	}
	return copy(p.into, rest[:n]), nil
}

// What was passed to a call is used in no system call that takes time.

func (l *datagramLink) leave(*clientCall) bool { return true }
func (l *datagramLink) interrupt()             {}
func (l *datagramLink) fail()                  {}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) NewTicker(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(d)
	return t.C, t.Stop
}
