package xprt

import (
	"sync"
	"sync/atomic"
)

// budget is a bound on bytes, shared by the connections of a transport. Who
// gets no bytes waits in a queue; released bytes are granted in its order.
type budget struct {
	limit   int64
	used    atomic.Int64
	waiters atomic.Int64 // len(queue), read without the lock

	mu    sync.Mutex
	queue []claim
}

type claim struct {
	c *Conn
	n int64
}

// admit reserves n bytes for the connection. If it returns false the
// connection waits, and its worker will get [evGrant] with the bytes reserved.
func (b *budget) admit(c *Conn, n int) bool {
	if b.waiters.Load() == 0 && b.reserve(int64(n)) {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	// Counted before looking again, so that a release that comes too late to be
	// seen here sees the waiter.
	first := b.waiters.Add(1) == 1
	if first && b.reserve(int64(n)) {
		b.waiters.Add(-1)
		return true
	}
	b.queue = append(b.queue, claim{c, int64(n)})
	return false
}

// reserve takes n bytes if they are there. One claim is always met, whatever
// its size.
func (b *budget) reserve(n int64) bool {
	for {
		used := b.used.Load()
		if used > 0 && used+n > b.limit {
			return false
		}
		if b.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

// over reports whether more is in use than should be.
func (b *budget) over() bool { return b.used.Load() > b.limit }

// force reserves n bytes of memory that is in use already.
func (b *budget) force(n int) { b.used.Add(int64(n)) }

// release gives n bytes back and grants them to who waits.
func (b *budget) release(n int) {
	if n == 0 {
		return
	}
	b.used.Add(-int64(n))
	if b.waiters.Load() > 0 {
		b.grant()
	}
}

func (b *budget) grant() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grantLocked()
}

func (b *budget) grantLocked() {
	for len(b.queue) > 0 && b.reserve(b.queue[0].n) {
		claim := b.queue[0]
		b.dequeue(0)
		claim.c.w.post(event{kind: evGrant, conn: claim.c, n: int(claim.n), budget: b})
	}
}

func (b *budget) dequeue(i int) {
	b.queue = append(b.queue[:i], b.queue[i+1:]...)
	b.waiters.Add(-1)
}

// cancel takes the connection out of the queue. A grant may be on its way
// nevertheless.
func (b *budget) cancel(c *Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.queue {
		if b.queue[i].c == c {
			b.dequeue(i)
			break
		}
	}
	b.grantLocked() // it may have been in the way of the next
}
