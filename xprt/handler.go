package xprt

// Handler is what a [Transport] serves. A connection belongs to one worker for
// life, and all methods are called by it, one at a time for all its connections: they must
// not block. Whatever takes time goes on elsewhere, and comes back by [Record.Post].
//
// Handlers do not panic; a panic ends the process, as everywhere in a goroutine that
// is nobody's own. Who calls foreign code recovers.
type Handler interface {
	// Opened is called before the first record of a stream connection; never
	// for datagrams.
	Opened(c *Conn)

	// Place is asked where a record of n bytes should lie before it is received, if
	// it is longer than a few KiB. head is its beginning, at least 1 KiB; it is only valid
	// during the call.
	Place(c *Conn, head []byte, n int) Placement

	// Record is called when a whole record has arrived. It belongs to the
	// handler until [Record.Done].
	Record(r *Record)

	// Resume is called after r.Post(), and after r.Wait() as soon as r.Lend may succeed.
	Resume(r *Record)

	// Closed is the last call for a connection that was Opened: all its records
	// are done.
	Closed(c *Conn)
}

// Placement says where a record is to lie: byte At of it at an address that is
// Offset modulo Unit. Unit bytes before the record and as many after it are free for whoever
// has the record. The zero value, and a Unit above 64 KiB, mean anywhere.
//
// A placement is a hint: datagrams and what comes over TLS or smux may lie elsewhere.
type Placement struct {
	At     int
	Offset uint64
	Unit   int
}

const maxUnit = 64 << 10

// check drops a placement that makes no sense for a record of n bytes.
func (p Placement) check(n int) Placement {
	if p.Unit < 0 || p.Unit > maxUnit || p.At < 0 || p.At > n {
		return Placement{}
	}
	return p
}
