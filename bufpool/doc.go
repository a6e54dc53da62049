// Package bufpool lends runs of pages that come back when the last reference
// to them has gone, and not before.
//
// A server that hands its reply pages to the kernel does not know when the
// kernel has finished with them: a page of a zero-copy send is read until the
// peer has acknowledged it. So a page has references, and a pool belongs to
// one goroutine, its owner, which alone decides what is used again:
//
//	run := pool.Get(n)       // owner: lent, one reference
//	fill(run.Bytes()[:n])    //
//	run.Retain()             // one more for each send that touches the run
//	pool.Put(run)            // owner: the run is in flight
//	...
//	run.Release()            // any goroutine: the send is over
//	run = pool.Get(n)        // owner: finds it ready
//
// # A run
//
// A run is virtually contiguous. Its payload is page aligned and a power of two from
// [PageSize] to [MaxPayload]; there is a page of room in front for the headers of
// a message, so that a message is one piece of memory, and a page of slack
// behind for padding and for records that do not start on a page:
//
//	 room       payload                         slack
//	+----------+----------+--- ... --+----------+----------+
//	|     head | bytes bytes bytes ... bytes    |          |
//	+----------+----------+--- ... --+----------+----------+
//	      ^    ^                                           ^
//	      |    Bytes(), up to its capacity ----------------+
//	      Frame(head, n): the head and n bytes of payload
//
// All accounting is in pages of 4096 bytes and counts room and slack. Where the
// system's pages are larger, room, payload and slack are rounded up to them.
//
// # States
//
//	           Get                  Put, nobody else has a reference
//	+------+ --------> +------+ ------------------------------------+
//	| free |           | lent |                                     |
//	+------+ <-+       +------+ ---- Put --> +-----------+          |
//	  |    ^   |          |  |               | in flight |          |
//	  |    |   +----------|--|-------------- +-----------+          |
//	  |    |              |  |  last Release    |     |             |
//	  |    +--------------|--|------------------|-----|-------------+
//	  | Trim, room for    |  +------ Detach ----+     |
//	  | another class     |             |             |
//	  v                   |        +----------+       |
//	cold <----------------|------- | detached |       |
//	      last Release    |        +----------+       |
//	                      +--- GiveUp ---+------------+
//	                                     v
//	                                 given up
//
// Free, lent and in flight are bounded together by [Config.Cap]. What is
// detached is some stalled connection's affair and counts against that
// connection's budget instead; so does a scratch run, which is detached
// from the start. A cold run is an address range without memory, kept for the next time
// its class has to grow. A run is given up when a reference to it can never be
// learnt to be gone: the memory is dropped, while the kernel keeps the pages it
// still reads, the address stays valid, and it is never lent again.
//
// # Memory
//
// Runs are mapped outside the Go heap, and never unmapped before [Pool.Close]: a
// reader that came too late would find zeros, never somebody else's mapping. If
// the system refuses memory the pool panics, as the Go heap does.
//
// # Tags
//
// With the tag invariants memory is poisoned when it becomes free and the poison checked
// when it is lent again, cold memory is inaccessible, owner's methods panic on another
// goroutine, and Close panics if a run is still out, saying where it was acquired.
// Under the race detector runs are from the Go heap, because the detector does not see
// mapped memory. With the tag ungated a run is free as soon as its owner put it: it
// exists to show that tests of the gate can fail.
package bufpool
