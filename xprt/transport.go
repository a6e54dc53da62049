package xprt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"eddy.example/bufpool"
)

// ErrClosed is returned by the Serve methods after Shutdown or Close.
var ErrClosed = errors.New("xprt: transport closed")

// ZeroCopy says when payloads are sent with MSG_ZEROCOPY, on Linux over TCP.
type ZeroCopy uint8

const (
	// ZeroCopyAuto is for large payloads on connections that are not loopback, as
	// long as the kernel does not report that it copies.
	ZeroCopyAuto ZeroCopy = iota

	// ZeroCopyAlways is for everything in runs, even where it costs more.
	ZeroCopyAlways

	ZeroCopyNever
)

// Config says how a transport is to be. The zero Config is a good one.
type Config struct {
	// Workers is the number of workers, 0 for GOMAXPROCS.
	Workers int

	// PoolCap is how many bytes each worker's pool keeps, 0 for
	// [bufpool.DefaultCap].
	PoolCap int

	ZeroCopy ZeroCopy

	// MaxRecord is the longest record taken, in bytes. 0 is 1 MiB + 64 KiB.
	MaxRecord int

	// RecvBudget and ConnRecvBudget bound the bytes of records that are being received
	// or with the handler: in all and for a connection. 0 is 32 MiB, and a quarter of
	// RecvBudget. Small records only count while others keep their buffer from being used
	// again. Over budget a connection is not read.
	RecvBudget, ConnRecvBudget int

	// ReplyBudget bounds the bytes beyond the pools' caps that replies cost which peers do not
	// take. Above it the connection that has taken nothing for longest is ended. 0 is 64 MiB.
	ReplyBudget int

	// MaxConns bounds the connections; one more is closed at once. 0 is 16384.
	MaxConns int

	// MaxCalls bounds the records of a connection that are with the handler;
	// then it is not read. 0 is 1024.
	MaxCalls int

	// A connection is ended if its peer takes nothing for SendTimeout while there is
	// something to take, sends less than 64 KiB of an incomplete record in RecvTimeout (in a tenth
	// of it, if the record has memory that others wait for), or neither sends nor awaits anything
	// for IdleTimeout. 0 is 30 s, 30 s and 10 minutes; a negative IdleTimeout is never.
	SendTimeout, RecvTimeout, IdleTimeout time.Duration

	Clock Clock       // nil is the system's
	Log   *zap.Logger // nil is none

	portable bool // no epoll for connections, as on other systems
}

func (c *Config) setDefaults() {
	set := func(p *int, n int) {
		if *p <= 0 {
			*p = n
		}
	}
	setTime := func(p *time.Duration, d time.Duration) {
		if *p == 0 {
			*p = d
		}
	}
	set(&c.Workers, runtime.GOMAXPROCS(0))
	set(&c.PoolCap, bufpool.DefaultCap)
	set(&c.MaxRecord, 1<<20+64<<10)
	set(&c.RecvBudget, 32<<20)
	set(&c.ConnRecvBudget, c.RecvBudget/4)
	set(&c.ReplyBudget, 64<<20)
	set(&c.MaxConns, 16384)
	set(&c.MaxCalls, 1024)
	setTime(&c.SendTimeout, 30*time.Second)
	setTime(&c.RecvTimeout, 30*time.Second)
	setTime(&c.IdleTimeout, 10*time.Minute)
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
}

// Transport takes records from connections to a handler and its replies back. Its
// methods may be called by any goroutine.
type Transport struct {
	cfg     Config
	handler Handler
	brief   BriefHandler   // the handler, if it is one
	running sync.WaitGroup // workers' goroutines
	watched atomic.Bool    // somebody looks after brief work
	watch   chan struct{}  // asks for that
	workers []*worker
	next    atomic.Uint32 // worker to begin the search for the least loaded with

	received budget // whole records
	staged   budget // beginnings of records

	failed error // why there are too few workers

	accepted, refused atomic.Int64
	closing           atomic.Bool // nothing new is let in
	cutting           atomic.Bool // and what is there ends at once
	shedding          atomic.Bool // a worker is about to end a connection

	ctx     context.Context // of datagrams
	cancel  context.CancelFunc
	done    chan struct{} // closed when all goroutines have ended
	closeCh chan struct{} // closed by Shutdown and Close

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	live      int // connections and packet sockets
}

// New returns a transport with its workers running. They end with Shutdown or Close. If the
// system has no file descriptors for them the transport is closed, and the Serve methods say
// why.
func New(c Config, h Handler) *Transport {
	c.setDefaults()
	t := &Transport{
		cfg:       c,
		handler:   h,
		received:  budget{limit: int64(c.RecvBudget)},
		staged:    budget{limit: int64(max(c.RecvBudget/4, stageSize))},
		done:      make(chan struct{}),
		closeCh:   make(chan struct{}),
		watch:     make(chan struct{}, 1),
		listeners: make(map[net.Listener]struct{}),
	}
	t.brief, _ = h.(BriefHandler)
	t.ctx, t.cancel = context.WithCancel(context.Background())
	for id := range c.Workers {
		w, err := newWorker(t, id)
		if err != nil {
			t.failed = fmt.Errorf("xprt: starting worker %d of %d: %w", id+1, c.Workers, err)
			break
		}
		t.workers = append(t.workers, w)
	}
	for _, w := range t.workers {
		t.running.Go(w.run)
	}
	stopped := make(chan struct{})
	go func() {
		t.running.Wait()
		close(stopped)
	}()
	var helpers sync.WaitGroup
	helpers.Go(func() { t.tick(stopped) })
	if t.brief != nil {
		helpers.Go(func() { t.watchWorkers(stopped) })
	}
	go func() {
		helpers.Wait()
		close(t.done)
	}()
	if t.failed != nil {
		t.close()
	}
	return t
}

// Config returns how the transport is, with the defaults filled in.
func (t *Transport) Config() Config { return t.cfg }

// closedErr is what the Serve methods return when the transport is closed.
func (t *Transport) closedErr() error {
	if t.failed != nil {
		return t.failed
	}
	return ErrClosed
}

// tick tells the workers that time passes, often only if they have something at stake.
func (t *Transport) tick(stopped <-chan struct{}) {
	ticks, stop := t.cfg.Clock.NewTicker(tick)
	defer stop()
	for n := 1; ; n++ {
		select {
		case <-ticks:
		case <-stopped:
			return
		}
		for _, w := range t.workers {
			if n%ticksPerSecond == 0 || w.owing.Load() {
				w.post(event{kind: evTick, n: n})
			}
		}
	}
}

// Serve takes connections from l until it fails or the transport is closed, when it
// returns ErrClosed. It closes l in any case.
func (t *Transport) Serve(l net.Listener) error {
	defer l.Close()
	if !t.track(l) {
		return t.closedErr()
	}
	defer t.untrack(l)
	var delay time.Duration
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			delay = 0
			if err = t.serve(nc, nil); err == nil {
				continue
			}
			if t.closing.Load() {
				return t.closedErr()
			}
		case t.closing.Load():
			return t.closedErr()
		case !isTransient(err):
			return err
		}
		delay = min(max(2*delay, 5*time.Millisecond), time.Second)
		t.cfg.Log.Warn("accepting a connection failed", zap.Error(err), zap.Duration("retry", delay))
		t.pause(delay)
	}
}

// pause waits for d, or less if the transport is closed.
func (t *Transport) pause(d time.Duration) {
	elapsed, stop := t.cfg.Clock.NewTicker(d)
	defer stop()
	select {
	case <-elapsed:
	case <-t.closeCh:
	}
}

// ServeConn serves one connection in the portable way, whatever it is, and
// returns when it has ended. It closes nc.
func (t *Transport) ServeConn(nc net.Conn) error {
	ended := make(chan struct{})
	if err := t.serve(portable{nc}, ended); err != nil {
		return err
	}
	<-ended
	return nil
}

// portable hides from serve that a connection could be the worker's own.
type portable struct{ net.Conn }

// serve gives a connection to a worker. If it fails the connection is closed.
func (t *Transport) serve(nc net.Conn, ended chan struct{}) error {
	if !t.enter() {
		t.refused.Add(1)
		nc.Close()
		if t.closing.Load() {
			return t.closedErr()
		}
		return nil
	}
	c := &Conn{w: t.pick(), ended: ended}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	if err := c.attach(nc); err != nil {
		c.cancel(err)
		nc.Close()
		t.leave()
		return err
	}
	t.accepted.Add(1)
	c.w.load.Add(1)
	c.w.post(event{kind: evOpen, conn: c})
	return nil
}

// attach gives the connection its link.
func (c *Conn) attach(nc net.Conn) error {
	if p, ok := nc.(portable); ok {
		nc = p.Conn
	} else if !c.w.t.cfg.portable {
		l, err := adopt(c, nc)
		if l != nil {
			c.link = l
		}
		if l != nil || err != nil {
			return err
		}
	}
	c.describe(nc)
	c.link = newStream(c, nc)
	return nil
}

// pick returns the worker with the fewest connections.
func (t *Transport) pick() *worker {
	n := len(t.workers)
	first := int(t.next.Add(1) % uint32(n))
	best := t.workers[first]
	for i := range n {
		if w := t.workers[(first+i)%n]; w.load.Load() < best.load.Load() {
			best = w
		}
	}
	return best
}

// enter counts a connection in, if there may be one more.
func (t *Transport) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closing.Load() || t.live >= t.cfg.MaxConns {
		return false
	}
	t.live++
	return true
}

func (t *Transport) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live--
	t.checkDrained()
}

// checkDrained stops the workers when there is nothing left for them.
func (t *Transport) checkDrained() {
	if t.live == 0 && t.closing.Load() {
		t.tell(evStop)
	}
}

// closed is called by a worker when nothing is left of a connection.
func (t *Transport) closed(c *Conn) {
	if c.ended != nil {
		close(c.ended)
	}
	t.leave()
}

func (t *Transport) track(l net.Listener) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closing.Load() {
		return false
	}
	t.listeners[l] = struct{}{}
	return true
}

func (t *Transport) untrack(l net.Listener) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.listeners, l)
}

// close begins the end: nothing new is let in.
func (t *Transport) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closing.Swap(true) {
		return
	}
	close(t.closeCh)
	for l := range t.listeners {
		l.Close()
	}
	t.checkDrained()
}

// tell posts an event to all workers.
func (t *Transport) tell(kind eventKind) {
	for _, w := range t.workers {
		w.post(event{kind: kind})
	}
}

// Shutdown ends the transport in an orderly way: it stops accepting and reading, answers what
// is with the handler, sends that and waits until no memory of replies is in
// use any more. When ctx ends first, connections are aborted and its error is
// returned; records may then still be with the handler, which Close waits for.
func (t *Transport) Shutdown(ctx context.Context) error {
	t.close()
	t.tell(evDrain)
	select {
	case <-t.done:
		t.cancel()
		return nil
	case <-ctx.Done():
		t.abort()
		return ctx.Err()
	}
}

// Close aborts all connections and waits until the handler is done with all
// records, whose contexts have ended, and all goroutines are gone.
func (t *Transport) Close() error {
	t.close()
	t.abort()
	<-t.done
	return nil
}

func (t *Transport) abort() {
	t.cutting.Store(true)
	t.cancel()
	t.tell(evCut)
}
