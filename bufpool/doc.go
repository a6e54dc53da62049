// Package bufpool lends runs of pages that come back when the last reference
// to them has gone, and not before.
//
// A server that hands its reply pages to the kernel does not know when the
// kernel has finished with them: the pages of a zero-copy send are read until
// the peer has acknowledged them. So a run has references, anybody may drop
// one, and a pool belongs to one goroutine, its owner, which alone decides what
// is used again and so needs no lock:
//
//	run := pool.Get(n)     // owner: lent, with one reference
//	fill(run.Bytes()[:n])
//	run.Retain()           // one more for each send that touches the run
//	pool.Put(run)          // owner: in flight
//
//	run.Release()          // any goroutine, when the send is over: ready
//
//	run = pool.Get(n)      // owner: finds it, on a later scan
//
// # A run
//
// A run is virtually contiguous. Its payload starts on a page and is a power
// of two from [PageSize] to [MaxPayload]. In front of it is a page of room for
// the headers of a message, so that a message is one piece of memory; behind
// it a page of slack for padding, and for payloads that start within a page.
//
//	room        payload                             slack
//	+-----------+-----------+-----------+-----------+-----------+
//	|       head|bytes bytes bytes bytes bytes b    |           |
//	+-----------+-----------+-----------+-----------+-----------+
//	        |<---- Frame(head, n) ------------>|    |           |
//	            |<---- len(Bytes()) --------------->|           |
//	            |<---- cap(Bytes()) --------------------------->|
//
// The account is in pages of 4096 bytes, room and slack counted. Where the
// system has larger pages all three parts are rounded up to them.
//
// # States
//
//	        Get             Put            last Release
//	free ---------> lent ---------> in flight ---------> free
//
//	        Put of the only reference
//	lent -----------------------------> free
//
//	                  Detach            last Release
//	lent, in flight -----------> detached ---------> cold
//
//	                            GiveUp
//	lent, in flight, detached -----------> given up
//
//	        Trim, or room is needed for another class
//	free ---------------------------------------------> cold
//
// Free, lent and in flight are bounded together by [Config.Cap]. A detached
// run counts against the budget of the stalled connection that took it along
// instead; a scratch run, lent beyond the cap, is detached from the start. A
// cold run is an address range without memory, lent before a new one is mapped.
// A run is given up if a reference can never be known to be gone: its memory
// goes back, except for the pages that the kernel still reads, and its
// addresses stay valid but are never lent again.
//
// # Memory
//
// Runs are mapped outside the Go heap, and not unmapped before [Pool.Close]:
// who reads too late finds zeros and not another's mapping. A pool that
// gets no memory from the system panics, as the Go heap does.
//
// # Tags
//
// With the tag invariants, free memory is poisoned and the poison looked at
// when it is lent, cold memory cannot be accessed, the owner's methods panic
// on other goroutines, and Close panics if a run is still out, telling where it
// was acquired. Under the race detector, which does not see mapped memory,
// runs come from the Go heap. With the tag ungated a run is free as soon as its
// owner has put it, so that tests of the gate can be seen to fail.
package bufpool
