// Package xprt carries records between connections and a handler: over TCP,
// UDP, Unix sockets, pipes in memory, and whatever else is a net.Conn.
//
// A record is what RFC 5531 §11 marks on a stream, or a datagram. The handler
// gets whole records, each in one piece of memory, and answers them in any order:
//
//	t := xprt.New(xprt.Config{}, handler)
//	l, err := xprt.Listen(ctx, "tcp", "127.0.0.1:2049")
//	...
//	err = t.Serve(l) // until t.Shutdown(ctx) or t.Close()
//
//	func (h *Handler) Record(r *xprt.Record) {
//		run := r.Lend(65536) // pages for the payload
//		if run == nil {
//			r.Wait() // there are none now: Resume(r) follows
//			return
//		}
//		n := h.fill(run.Bytes()[:65536], r.Data)
//		r.SendRun(run, head, n)
//		r.Done()
//	}
//
// # Workers
//
// A transport has a fixed number of workers. A worker is one goroutine with the connections
// that were given to it, a pool of pages for what they send ([bufpool.Pool]) and a store of
// buffers for what they receive. It alone touches them, so that nothing of this is locked.
// The handler runs on it and must not block; what takes time goes to another goroutine with its
// record and comes back by [Record.Post].
//
//	             worker
//	sockets ──►┌───────────────────────────────────────────────┐
//	  (epoll)  │ receive ─► Handler.Record ─► queue ─► sendmsg ├──► sockets
//	           │               ▲      │                        │
//	goroutines │  Handler.Resume      │ lend pages             │
//	──────────►│               ▲      ▼                        │
//	 (events)  │          Record.Post  bufpool.Pool            │
//	           └───────────────────────────────────────────────┘
//
// On Linux, TCP, Unix and UDP sockets are the worker's own: it waits for them by epoll, reads
// and writes them itself, and finishes up to 64 small calls or 256 KiB of one before it looks
// at the next. All other connections, and all on other systems, are portable: two
// goroutines each read and write them as the worker says, and tell it by events. A
// portable connection may be slow or block; the worker never does.
//
// # Receiving
//
// The first 4 KiB of what comes are received into a head buffer, in which records that fit
// are handled where they lie. Of a longer record the worker waits until its first 60 KiB lie in the
// socket. Only then the record's length is admitted to the budget, [Handler.Place] says at
// which address it is to lie, it gets a buffer of its own, and the rest is received right
// there: at most what was in the head buffer is copied. A peer that only announces a record
// costs a head buffer. Where the socket cannot be looked into, and for records of
// several fragments, the first 64 KiB are collected in a buffer under a budget of its own.
//
// Who gets no budget waits in a queue and is not read. A record that has been admitted is
// always received to its end, or its connection ends: so budget always comes back.
//
// # Sending
//
// Small replies ([Record.Small]) of one turn are gathered in one run of pages and leave by one system
// call; payloads lie in a run of their own, behind a room into which their head is copied, and
// leave with what is queued before them. A connection lends a further payload only when those before
// have all gone to the kernel.
//
// Who may touch memory when: a run is the handler's from Lend to SendRun or Unlend, on whichever
// goroutine the record is. Then it is the connection's until the send is over, which is: for
// a copying send when the system call returns; for one with MSG_ZEROCOPY when the kernel has
// told so; for a portable connection when Write has returned nil, or after an error
// when its [SendDone] channel is closed. Then the run returns to the pool, or is in flight until the last
// reference has gone. A [bufpool.Segment]'s owner is released at the same moment.
//
// # Looking at it
//
// [Transport.Stats] reads counters that each worker keeps. [Transport.Conns] asks the workers, which
// describe their connections between other work; so it costs nothing while nobody asks.
//
// # Limits
//
// What peers can cost is bounded, and a peer that is too slow or takes nothing costs its own
// connection only: its runs are taken out of the pool when nothing has moved for a tick of 100 ms, and it is
// ended at its deadline, or earlier if the memory is needed ([Config]). Small replies that are not
// taken stop the reading of more calls.
package xprt
