package rpc

import (
	"context"
	"errors"

	"eddy.example/bufpool"
	"eddy.example/xprt"
	"github.com/valyala/bytebufferpool"
	"go.uber.org/zap"
)

// A call's way. Its worker parses it and looks into the reply cache (Record),
// then runs it (attempt). If it would block it goes to a waiting goroutine
// (serveWaiting) and comes back to the worker (Resume), which alone may lend
// pages and send.
//
//	Record -> attempt ------------------------------> conclude -> send
//	             |  ^                                    ^          ^
//	   no pages: Wait, Resume                            |          |
//	             |                                       |          |
//	             +--> brief: Brief ----------------------+- Resume
//	             |      | another one keeps the worker   |
//	             +------+-> waiters.add -> serveWaiting -+- Post, Resume
//	                      ^                  |
//	                      +--- lend <--------+ no pages: Post, Resume

// Record implements [xprt.Handler].
func (s *Server) Record(r *xprt.Record) {
	s.setup()
	c, ok := r.Attachment.(*Call)
	if !ok {
		c = new(Call)
		r.Attachment = c
	}
	c.srv, c.rec, c.Conn, c.peer = s, r, r.Conn, s.peerOf(r.Conn)
	v := c.msg.parse(r.Data)
	switch v {
	case isNoise:
		if !c.Conn.Datagram() {
			// Whoever sends this does not speak RPC.
			c.Conn.Abort()
		}
		fallthrough
	case isReply:
		c.finish()
		return
	}
	c.Header, c.Args = c.msg.Header, c.msg.args
	if s.Observer != nil {
		c.token = s.Observer.Begin(c)
	}
	if err := s.accept(c, v); err != nil {
		s.conclude(c, err)
		s.send(c)
		return
	}
	if c.proc.Cached {
		switch s.cache.begin(c) {
		case foundReply:
			s.send(c)
			return
		case foundTwice:
			s.conclude(c, ErrDrop)
			s.send(c)
			return
		case foundRunning:
			s.flights.note(c, CallWaiting)
			return
		}
	}
	s.attempt(c)
}

// accept decides whether a call is to be served, in the order of RFC 5531 §9:
// message protocol, caller, program, version, procedure.
func (s *Server) accept(c *Call, v verdict) error {
	var stat AuthStat
	switch v {
	case isMismatch:
		return &MismatchError{Err: ErrRPCMismatch, Low: Version, High: Version}
	case isGarbage:
		return ErrGarbageArgs
	case isBadCred:
		stat = AUTH_BADCRED
	case isBadVerf:
		stat = AUTH_BADVERF
	default:
		stat = c.Cred.check(&c.msg, &c.gids)
	}
	if stat != AUTH_OK {
		return &AuthError{stat}
	}
	p, low, high := s.lookup(c.Prog, c.Vers)
	if p == nil {
		if low > high {
			return ErrProgUnavail
		}
		return &MismatchError{Err: ErrProgMismatch, Low: low, High: high}
	}
	c.prog = p
	if c.Proc == 0 {
		c.proc = &nullProc
		return nil
	}
	return s.admit(c)
}

// admit finds the procedure and asks whether it may be called.
func (s *Server) admit(c *Call) (err error) {
	defer s.recovered(&c.Header, &err)
	var ok bool
	if c.proc, ok = c.prog.Proc(c.Vers, c.Proc); !ok {
		c.proc = nil // whatever came with it
		return ErrProcUnavail
	}
	if s.Admit != nil {
		return s.Admit(c)
	}
	return nil
}

// nullProc is procedure 0 of every program: it takes nothing, does nothing and
// needs no authentication (RFC 5531 §12.1). Arguments are ignored, as the
// kernel's server does.
var nullProc = Proc{Name: "NULL", ReadOnly: true}

// attempt runs a call on its worker.
func (s *Server) attempt(c *Call) {
	c.want = 0
	err := s.runHere(c)
	if !wouldBlock(err) {
		s.conclude(c, err)
		s.send(c)
		return
	}
	c.discard()
	if c.want > 0 {
		c.step = stepServe
		s.flights.note(c, CallWaiting)
		c.rec.Wait()
		return
	}
	c.MayWait = true
	if errors.Is(err, ErrBrief) {
		if c.step = stepWait; c.rec.Brief() {
			return
		}
	}
	s.wait(c)
}

// wait gives a call to the waiting goroutines.
func (s *Server) wait(c *Call) {
	s.flights.note(c, CallQueued)
	s.waiters.add(s.queueOf(c), c)
}

// serveWaiting runs a call on a waiting goroutine and sends it back to its
// worker.
func (s *Server) serveWaiting(c *Call) {
	defer c.rec.Post()
	s.runWaiting(c)
}

// Brief implements [xprt.BriefHandler].
func (s *Server) Brief(r *xprt.Record) { s.runWaiting(r.Attachment.(*Call)) }

// runWaiting runs a call that may block, and leaves what is to be done next in
// c.step.
func (s *Server) runWaiting(c *Call) {
	s.flights.note(c, CallRunning)
	c.want = 0
	returned := false
	defer func() {
		if !returned {
			// A program may have locked the goroutine to a thread that nobody
			// is to use any more, and ended both.
			s.conclude(c, errGoexit)
			c.step = stepSend
		}
	}()
	var err error
	if c.proc.ReadOnly {
		err = c.Context().Err()
	}
	if err == nil {
		err = s.run(c)
	}
	returned = true
	if wouldBlock(err) && c.want > 0 {
		c.discard()
		c.step = stepLend
	} else {
		s.conclude(c, err)
		c.step = stepSend
	}
}

// Resume implements [xprt.Handler].
func (s *Server) Resume(r *xprt.Record) {
	c := r.Attachment.(*Call)
	switch c.step {
	case stepServe:
		s.attempt(c)
	case stepWait:
		s.wait(c)
	case stepLend:
		if c.lend(c.want) {
			s.wait(c)
		} else {
			s.flights.note(c, CallWaiting)
			r.Wait()
		}
	case stepSend:
		s.send(c)
	case stepReplay:
		s.cache.fetch(c)
		s.send(c)
	}
}

func wouldBlock(err error) bool { return err != nil && errors.Is(err, ErrWouldBlock) }

// runHere runs a call on its worker, where everybody else waits for its end.
func (s *Server) runHere(c *Call) error {
	if c.proc == &nullProc {
		c.Reply(nil)
		return nil
	}
	mark := &s.flights.list(c).loop
	mark.enter(c)
	err := s.run(c)
	mark.leave()
	return err
}

// run calls the program.
func (s *Server) run(c *Call) (err error) {
	defer s.recovered(&c.Header, &err)
	return c.prog.Serve(c)
}

// errPanic stands for a panic, which has been logged.
var errPanic = errors.New("rpc: panic")

var errGoexit = errors.New("rpc: a program has ended its goroutine")

// recovered is deferred around the code of programs: it makes an error of a
// panic.
func (s *Server) recovered(h *Header, err *error) {
	if v := recover(); v != nil {
		s.log.Error("panic in a program", append(h.fields(), zap.Any("panic", v), zap.Stack("stack"))...)
		*err = errPanic
	}
}

// conclude turns what Serve has returned into a reply, and completes the call's
// entry in the reply cache.
func (s *Server) conclude(c *Call, err error) {
	switch {
	case err != nil:
	case c.reply == replyNone:
		err = errors.New("returned without a reply")
	case c.Conn.Datagram() && c.replySize() > c.Conn.MaxReply():
		err = errors.New("reply is too long for a datagram")
	}
	keep := !c.undone
	if err != nil {
		c.discard()
		keep = s.fail(c, err)
	}
	if c.entry != nil {
		s.cache.complete(c, c.head, keep)
	}
}

// replySize is the length of the reply, without padding behind a payload.
func (c *Call) replySize() int {
	n := len(c.head) + c.pages
	for i := range c.segs {
		n += c.segs[i].Size()
	}
	return n
}

// fail makes the reply that says err. It returns false if that means that
// nothing has been done, so that the same call may run another time.
func (s *Server) fail(c *Call, err error) (done bool) {
	b := c.room(8)[:0]
	c.reply = replySmall
	var auth *AuthError
	var mismatch *MismatchError
	switch {
	case errors.Is(err, ErrDrop), c.cancelled(err):
		c.reply = replyDrop
		c.status = StatusDropped
	case errors.As(err, &auth):
		c.head = appendAuthError(b, c.XID, auth.Stat)
		c.status = StatusAuthError
	case errors.As(err, &mismatch) && errors.Is(mismatch.Err, ErrRPCMismatch):
		c.head = appendRPCMismatch(b, c.XID)
		c.status = StatusRPCMismatch
	case mismatch != nil:
		c.head = appendProgMismatch(b, c.XID, mismatch.Low, mismatch.High)
		c.status = StatusProgMismatch
	case errors.Is(err, ErrProgUnavail):
		c.head = appendAccepted(b, c.XID, PROG_UNAVAIL)
		c.status = StatusProgUnavail
	case errors.Is(err, ErrProcUnavail):
		c.head = appendAccepted(b, c.XID, PROC_UNAVAIL)
		c.status = StatusProcUnavail
	case errors.Is(err, ErrGarbageArgs):
		c.head = appendAccepted(b, c.XID, GARBAGE_ARGS)
		c.status = StatusGarbageArgs
	default:
		if err != errPanic && !errors.Is(err, ErrSystem) {
			s.log.Error("a procedure failed", append(c.fields(), zap.Stringer("client", c.Conn.RemoteAddr()), zap.Error(err))...)
		}
		c.head = appendAccepted(b, c.XID, SYSTEM_ERR)
		c.status = StatusSystemErr
		return true
	}
	return false
}

// cancelled reports whether err is the end of the call's context.
func (c *Call) cancelled(err error) bool {
	return errors.Is(err, context.Canceled) && c.proc != nil && c.Context().Err() != nil
}

func (h *Header) fields() []zap.Field {
	return []zap.Field{
		zap.Uint32("prog", h.Prog), zap.Uint32("vers", h.Vers), zap.Uint32("proc", h.Proc), zap.Uint32("xid", h.XID),
	}
}

// send hands the reply to the transport and ends the call.
func (s *Server) send(c *Call) {
	r := c.rec
	switch c.reply {
	case replySmall:
		if len(c.head) <= batchedReply {
			r.SendSmall(append(r.Small(len(c.head)), c.head...))
			break
		}
		c.big.B = c.head
		r.SendSegments(nil, bufpool.Segment{Mem: c.head, Owner: (*largeReply)(c.big)})
		c.big = nil
	case replyPages:
		run := c.run
		c.run = nil
		r.SendRun(run, c.head, c.pages)
	case replySegments:
		r.SendSegments(c.head, c.segs...)
	}
	if s.Observer != nil {
		s.Observer.End(c, c.token, c.status)
	}
	c.finish()
}

// finish gives back what the call holds.
func (c *Call) finish() {
	c.unlend()
	c.srv.flights.leave(c)
	r := c.rec
	c.reset()
	r.Done()
}

// largeReply returns a reply's memory when it has been sent.
type largeReply bytebufferpool.ByteBuffer

func (b *largeReply) Release() { bytebufferpool.Put((*bytebufferpool.ByteBuffer)(b)) }
