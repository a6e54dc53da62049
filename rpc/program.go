package rpc

// Program is a service: one program number with a range of versions. Its
// methods are called concurrently, Place and most of Serve on a transport's
// event loop, where nothing may block.
type Program interface {
	// Program returns the program's number and the versions it serves, low to
	// high. A server has one Program for each version, but may have several for
	// one number.
	Program() (prog, low, high uint32)

	// Proc describes a procedure; false answers PROC_UNAVAIL. The same Proc is
	// returned every time, and it is not changed. Procedure 0 is never asked
	// for: the server answers it.
	Proc(vers, proc uint32) (*Proc, bool)

	// Place is asked about a call that is still being received: args are its
	// arguments as far as they have arrived. If the call carries a payload for
	// a file, args[at] is its first byte and offset where in the file it will
	// go. Neither h nor args are valid after the call.
	Place(h *Header, args []byte) (at int, offset uint64, ok bool)

	// Serve does what c asks. If it returns nil it has called one of c.Reply,
	// c.ReplyPages and c.ReplySegments, once. Of errors,
	//
	//   - [ErrWouldBlock] runs the call once more where it may wait;
	//   - [ErrGarbageArgs], [ErrProcUnavail], [ErrProgUnavail], [ErrSystem],
	//     a [*MismatchError] and an [*AuthError] are answered with what they say;
	//   - [ErrDrop] is not answered;
	//   - any other is logged and answered with SYSTEM_ERR, and so is a panic.
	Serve(c *Call) error
}

// Proc is what the server needs to know of a procedure.
type Proc struct {
	// Name is the procedure's name in its RFC.
	Name string

	// Cached procedures are not idempotent: a call that comes again is answered
	// from the reply cache. They answer with Reply.
	Cached bool

	// ReadOnly procedures change nothing: the context of a call ends with its
	// connection, and the call may be dropped then.
	ReadOnly bool

	// MaxReply is the most bytes of results, 0 if that is not known.
	MaxReply int
}

// Observer is told of every call that arrives, understood or not. Its methods
// are called on event loops, by all of them at once. The Call and what lies in
// it are only to be read, and not after they return.
type Observer interface {
	// Begin is told of a call before anything is done about it: of the Call it
	// has only the Header, in which what has not arrived is 0, Conn and Args. What
	// Begin returns, a time for instance, comes back in End.
	Begin(c *Call) (token int64)

	// End is told of its end, as the reply is handed to the transport. The numbers
	// in the Header are what the client has sent. Whoever counts by them looks at
	// c.Procedure first: it is nil for all that the server does not have, so
	// that a client can not make an observer remember what it has made up.
	End(c *Call, token int64, s Status)
}
