package rpc

import (
	"context"
	"sync"
)

// waiters serves calls that may block, on a bounded set of goroutines. One is
// started for a call that has to wait, and ends when it finds nothing more to
// do.
//
// Goroutines are shared fairly by connection. Connections with queued calls
// take turns, and how many calls of one may be served at a time depends on how
// many goroutines are free: about a sixth of all for one that is alone, and
// less the more are taken. What was given cannot be taken back from a call that
// is stuck; so even when 100 connections in turn have blocked all they could
// get, there is a goroutine for the next one.
type waiters struct {
	limit int
	serve func(*Call)
	loop  func() // w.run, bound once

	mu          sync.Mutex
	alive       int // goroutines
	busy        int // calls being served
	queued      int // calls in queues
	first, last *waitQueue
	drained     chan struct{} // closed when alive falls to 0; nil if nobody asked
}

// waitQueue are the calls of one connection that wait for a goroutine. It is in
// the list of its waiters while there are any.
type waitQueue struct {
	first, last *Call
	busy        int // calls being served
	prev, next  *waitQueue
}

func newWaiters(limit int, serve func(*Call)) *waiters {
	w := &waiters{limit: limit, serve: serve}
	w.loop = w.run
	return w
}

// add queues c, which from now on belongs to the goroutine that serves it.
func (w *waiters) add(q *waitQueue, c *Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if q.first == nil {
		q.first = c
		w.link(q)
	} else {
		q.last.next = c
	}
	q.last = c
	w.queued++
	if w.mayServe(q) {
		w.start()
	}
}

// run is one of the goroutines.
func (w *waiters) run() {
	w.mu.Lock()
	defer w.exit()
	for q := w.turn(); q != nil; q = w.turn() {
		c := w.take(q)
		if w.turn() != nil {
			// The end of a call may have opened the way for more than one.
			w.start()
		}
		w.serveOne(q, c)
	}
}

// serveOne serves a call of q. It is entered and left with the lock held, also
// when a program ends the goroutine.
func (w *waiters) serveOne(q *waitQueue, c *Call) {
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		q.busy--
		w.busy--
	}()
	w.serve(c)
}

// exit is the end of a goroutine.
func (w *waiters) exit() {
	w.alive--
	if w.turn() != nil {
		w.start() // a program has ended this one before its time
	}
	if w.alive == 0 && w.drained != nil {
		close(w.drained)
		w.drained = nil
	}
	w.mu.Unlock()
}

// start starts a goroutine unless there are as many as allowed, or as many
// about to look for work as there is work.
func (w *waiters) start() {
	if w.alive < w.limit && w.alive-w.busy < w.queued {
		w.alive++
		go w.loop()
	}
}

// mayServe reports whether one more call of q may be served. With x goroutines
// free of n, a connection gets up to about x²/4n; so after k connections that
// have blocked what they got, 4/(4+k) of all are still free.
func (w *waiters) mayServe(q *waitQueue) bool {
	free := int64(w.limit - w.busy)
	return 4*int64(q.busy)*int64(w.limit) < free*free
}

// turn returns the connection whose turn it is.
func (w *waiters) turn() *waitQueue {
	q := w.first
	for q != nil && !w.mayServe(q) {
		q = q.next
	}
	return q
}

// take takes a call from q, which goes to the end of the list.
func (w *waiters) take(q *waitQueue) *Call {
	c := q.first
	q.first, c.next = c.next, nil
	w.queued--
	w.busy++
	q.busy++
	w.unlink(q)
	if q.first != nil {
		w.link(q)
	}
	return c
}

func (w *waiters) link(q *waitQueue) {
	q.prev, q.next = w.last, nil
	if w.last != nil {
		w.last.next = q
	} else {
		w.first = q
	}
	w.last = q
}

func (w *waiters) unlink(q *waitQueue) {
	if q.prev != nil {
		q.prev.next = q.next
	} else {
		w.first = q.next
	}
	if q.next != nil {
		q.next.prev = q.prev
	} else {
		w.last = q.prev
	}
	q.prev, q.next = nil, nil
}

func (w *waiters) stats() (busy, queued int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.busy, w.queued
}

// drain waits until no call is queued or being served.
func (w *waiters) drain(ctx context.Context) error {
	w.mu.Lock()
	if w.alive == 0 {
		w.mu.Unlock()
		return nil
	}
	if w.drained == nil {
		w.drained = make(chan struct{})
	}
	drained := w.drained
	w.mu.Unlock()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
