package rpc

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"eddy.example/bufpool"
	"eddy.example/rpc/xdr"
	"eddy.example/xprt"
)

// Why a client has no reply.
var (
	// ErrClosed is the error of calls on a Client after Close, and of those
	// that it cut short.
	ErrClosed = errors.New("rpc: client is closed")

	// ErrConnection is wrapped, with the reason, when a connection has ended.
	// It is not known whether the call was executed.
	ErrConnection = errors.New("rpc: connection has failed")

	// ErrTimeout is the error of a call by datagrams that was not answered.
	ErrTimeout = errors.New("rpc: no reply")

	// ErrBadReply is wrapped when a reply or its results cannot be decoded.
	ErrBadReply = errors.New("rpc: reply cannot be decoded")
)

// Appender is arguments that can be encoded: AppendXDR appends them to b. It is
// called while the client is locked, so it must not use the client.
type Appender interface{ AppendXDR(b []byte) []byte }

// Consumer is what results are decoded into. ConsumeXDR gets all of them, and
// returns what follows. b is only valid until ConsumeXDR returns: what is
// decoded by reference has to be copied before.
//
// It is called by the client's own goroutine before the call returns, and never
// after; it must not block.
type Consumer interface {
	ConsumeXDR(b []byte) (rest []byte, err error)
}

// PayloadAppender is arguments that end in a payload: AppendXDRHead appends all
// of them but the n bytes of payload and their padding.
type PayloadAppender interface {
	AppendXDRHead(b []byte, n uint32) []byte
}

// PayloadConsumer is what results are decoded into that may end in a payload.
// ConsumeXDRHead gets the beginning of the results, at least [PayloadHead]
// bytes if there are so many. It returns the length of the payload, which
// starts at rest, or 0 if there is none. The same rules hold as for a
// [Consumer].
type PayloadConsumer interface {
	ConsumeXDRHead(b []byte) (n uint32, rest []byte, err error)
}

// PayloadHead is how many bytes of results a [PayloadConsumer] sees.
const PayloadHead = 512

// ClientConfig are the settings of a [Client]. The zero value is usable.
type ClientConfig struct {
	// MaxReply is the longest reply that is accepted, in bytes; a longer one
	// ends the connection. 0: 1 MiB and 64 KiB.
	MaxReply int

	// A datagram is sent again with the same XID when there is no reply after
	// Retransmit (0: 500 ms), and then after twice the time. After Tries of
	// them (0: 5) the call fails with ErrTimeout.
	Retransmit time.Duration
	Tries      int

	// Clock tells when. nil is the system's.
	Clock xprt.Clock
}

// Client calls a server over one connection: a stream, or a connected socket
// for datagrams. Any number of goroutines may call at once. Their calls are
// sent without waiting for replies, which come in any order. In the steady
// state a call allocates nothing.
//
// When a call's context ends it returns, and nothing that was passed to it is
// looked at or written to any more; whether the server executes the call is not
// known. A context that ends while the payload of its call is half on its way
// ends the connection as well, because nothing else can follow there.
//
// Calls fail with the errors of RFC 5531 that this package defines, with
// ErrConnection, ErrTimeout, ErrBadReply, ErrClosed, or as their context says.
type Client struct {
	conn   net.Conn
	config ClientConfig
	link   clientLink
	closed chan struct{} // when err is set
	owned  sync.WaitGroup

	mu      sync.Mutex
	err     error // why there are no more calls
	xid     uint32
	pending map[uint32]*clientCall
	free    *clientCall
}

// clientLink is how a client's calls travel. Its methods are called with
// Client.mu held.
type clientLink interface {
	// send sends a call, or queues it.
	send(p *clientCall) error

	// leave is told that the caller of p, which is not pending any more, wants
	// to go. It reports whether the payload is out of use; otherwise it
	// hurries, and calls Client.sent as soon as that is so.
	leave(p *clientCall) bool

	// interrupt hurries the reception of a reply whose caller has gone.
	interrupt()

	// fail is told that Client.err was set.
	fail()
}

// clientCall is a call on its way. It is protected by Client.mu; while its
// reply is being received what concerns results is the receiver's.
type clientCall struct {
	request
	xid   uint32
	state callState
	done  chan struct{} // gets a value when the call is over
	err   error
	n     int // bytes of payload received

	unsent bool // the payload it sends is in use
	left   bool // its caller only waits for its memory
	next   *clientCall

	datagram datagram
}

type callState uint8

const (
	callPending   callState = iota // in Client.pending
	callReceiving                  // its reply is being received
	callEnded                      // err is set
)

// errLeft is the error of a call whose caller has gone.
var errLeft = errors.New("rpc: caller has left")

// request is what a call is made of.
type request struct {
	prog, vers, proc uint32
	cred             *Cred
	args             Appender        // or
	payloadArgs      PayloadAppender // followed by
	payload          []byte
	res              Consumer        // or
	head             PayloadConsumer // followed by
	into             []byte
}

const (
	defaultMaxReply   = bufpool.MaxPayload + 64<<10
	defaultRetransmit = 500 * time.Millisecond
	defaultTries      = 5
)

// NewClient returns a client that calls over conn, by datagrams if that is a
// UDP or unixgram socket. The connection is the client's from now on.
func NewClient(conn net.Conn, config ClientConfig) *Client {
	config.MaxReply = orDefault(config.MaxReply, defaultMaxReply)
	config.Retransmit = orDefault(config.Retransmit, defaultRetransmit)
	config.Tries = orDefault(config.Tries, defaultTries)
	c := &Client{
		conn:    conn,
		config:  config,
		closed:  make(chan struct{}),
		xid:     rand.Uint32(), // to a server's reply cache equal XIDs may be the same call
		pending: make(map[uint32]*clientCall),
	}
	switch conn.LocalAddr().Network() {
	case "udp", "unixgram":
		c.link = newDatagramLink(c)
	default:
		c.link = newStreamLink(c)
	}
	return c
}

// Close closes the connection and waits for the client's goroutines. Calls on
// their way fail with ErrClosed.
func (c *Client) Close() error {
	c.fail(ErrClosed)
	c.owned.Wait()
	return nil
}

// Call calls a procedure. cred nil is AUTH_NONE, args nil are none, and with
// res nil the results are ignored.
func (c *Client) Call(ctx context.Context, prog, vers, proc uint32, cred *Cred, args Appender, res Consumer) error {
	_, err := c.do(ctx, request{prog: prog, vers: vers, proc: proc, cred: cred, args: args, res: res})
	return err
}

// CallSend calls a procedure whose arguments end in a payload, which is sent
// from where it lies.
func (c *Client) CallSend(ctx context.Context, prog, vers, proc uint32, cred *Cred, args PayloadAppender, payload []byte, res Consumer) error {
	_, err := c.do(ctx, request{prog: prog, vers: vers, proc: proc, cred: cred, payloadArgs: args, payload: payload, res: res})
	return err
}

// CallReceive calls a procedure whose results end in a payload, and receives
// that into the slice given. It returns the payload's length; one that is
// longer than the slice fails the call.
func (c *Client) CallReceive(ctx context.Context, prog, vers, proc uint32, cred *Cred, args Appender, res PayloadConsumer, into []byte) (n int, err error) {
	return c.do(ctx, request{prog: prog, vers: vers, proc: proc, cred: cred, args: args, head: res, into: into})
}

func (c *Client) do(ctx context.Context, q request) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	p, err := c.begin(q)
	if err != nil {
		return 0, err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		if c.leave(p) {
			<-p.done
		}
		if p.err == errLeft {
			p.err = ctx.Err()
		}
	}
	n, err := p.n, p.err
	if err != nil {
		n = 0
	}
	c.mu.Lock()
	c.recycle(p)
	c.mu.Unlock()
	return n, err
}

// begin puts a call on its way.
func (c *Client) begin(q request) (*clientCall, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	p := c.free
	if p == nil {
		p = &clientCall{done: make(chan struct{}, 1)}
	} else {
		c.free = p.next
	}
	for c.xid++; c.pending[c.xid] != nil; c.xid++ {
	}
	p.request = q
	p.xid, p.state, p.err, p.n = c.xid, callPending, nil, 0
	c.pending[p.xid] = p
	if err := c.link.send(p); err != nil {
		delete(c.pending, p.xid)
		c.recycle(p)
		return nil, err
	}
	return p, nil
}

// recycle keeps p for another call. c.mu is held.
func (c *Client) recycle(p *clientCall) {
	p.request = request{}
	p.next = c.free
	c.free = p
}

// claim takes the call that a reply is for, so that its results can be
// received. nil if nobody waits for it.
func (c *Client) claim(xid uint32) *clientCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[xid]
	if p != nil {
		delete(c.pending, xid)
		p.state = callReceiving
	}
	return p
}

// end ends a call. c.mu is held.
func (c *Client) end(p *clientCall, err error) {
	p.state = callEnded
	p.err = err
	if !p.unsent {
		p.done <- struct{}{}
	}
}

// sent is told that the payload of p is out of use. c.mu is held.
func (c *Client) sent(p *clientCall) {
	p.unsent = false
	if p.state == callEnded {
		p.done <- struct{}{}
	}
}

// leave is called when the context of p has ended. It reports whether p.done
// will get a value.
func (c *Client) leave(p *clientCall) (wait bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch p.state {
	case callPending:
		delete(c.pending, p.xid)
		p.state, p.err = callEnded, errLeft
		return !c.link.leave(p)
	case callReceiving:
		p.left = true
		c.link.interrupt()
	case callEnded:
		// Its reply has come before all of the call was sent.
		if p.unsent && c.link.leave(p) {
			p.done <- struct{}{}
		}
	}
	return true
}

// fail ends the client. The first reason counts.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failLocked(err)
}

func (c *Client) failLocked(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	close(c.closed)
	c.conn.Close()
	for xid, p := range c.pending {
		delete(c.pending, xid)
		c.end(p, err)
	}
	c.link.fail()
}

// appendCall appends a call up to its arguments, RFC 5531 §9.
func (q *request) appendCall(b []byte, xid uint32) []byte {
	b = xdr.AppendUint32(b, xid)
	b = append(b,
		0, 0, 0, msgCall,
		0, 0, 0, Version)
	b = xdr.AppendUint32(b, q.prog)
	b = xdr.AppendUint32(b, q.vers)
	b = xdr.AppendUint32(b, q.proc)
	b = q.cred.appendAuth(b)
	switch {
	case q.args != nil:
		b = q.args.AppendXDR(b)
	case q.payloadArgs != nil:
		b = q.payloadArgs.AppendXDRHead(b, uint32(len(q.payload)))
	}
	return b
}

// connectionError is the error of calls that end because of err.
func connectionError(err error) error { return fmt.Errorf("%w: %w", ErrConnection, err) }
