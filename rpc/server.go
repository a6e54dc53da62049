package rpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"eddy.example/bufpool"
	"eddy.example/xprt"
	"go.uber.org/zap"
)

// Defaults of a [Server].
const (
	DefaultCacheBytes = 4 << 20
	DefaultCacheAge   = 2 * time.Minute
	DefaultWaiters    = 1024
)

// Server answers the calls that a transport brings. The zero value is ready,
// once programs are registered: it is the [xprt.Handler] of one or several
// transports. Its fields are not changed after that.
type Server struct {
	// Observer, if not nil, is told of every call.
	Observer Observer

	// Admit, if not nil, is asked about every call of a known procedure but
	// procedure 0, before it runs or is looked for in the reply cache. An error
	// is answered as one from Serve would be. It must not block.
	Admit func(*Call) error

	// CacheBytes bounds the reply cache, entries and replies, and CacheAge is
	// how long a reply stays in it. 0 are the defaults.
	CacheBytes int
	CacheAge   time.Duration

	// Waiters is how many calls that would block are served at the same time,
	// each on a goroutine. 0 is the default.
	Waiters int

	// Clock tells the age of cached replies and of calls; nil is the system's.
	Clock interface{ Now() time.Time }

	// Log gets what programs do wrong; nil discards it.
	Log *zap.Logger

	once      sync.Once
	log       *zap.Logger
	cache     *replyCache
	flights   flights
	waiters   *waiters
	datagrams waitQueue
	base      context.Context // of calls that outlive their connection
	cancel    context.CancelFunc
	conns     atomic.Uint64 // numbers them
	programs  atomic.Pointer[[]registered]
	register  sync.Mutex
}

type registered struct {
	prog, low, high uint32
	program         Program
}

func (s *Server) setup() { s.once.Do(s.start) }

func (s *Server) start() {
	s.log = s.Log
	if s.log == nil {
		s.log = zap.NewNop()
	}
	now := time.Now
	if s.Clock != nil {
		now = s.Clock.Now
	}
	s.flights.now = now
	s.cache = newReplyCache(orDefault(s.CacheBytes, DefaultCacheBytes), orDefault(s.CacheAge, DefaultCacheAge), now)
	s.waiters = newWaiters(orDefault(s.Waiters, DefaultWaiters), s.serveWaiting)
	s.base, s.cancel = context.WithCancel(context.Background())
}

func orDefault[T int | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// Register adds a program. It fails if a version of it is already served.
func (s *Server) Register(p Program) error {
	prog, low, high := p.Program()
	if low > high {
		return fmt.Errorf("rpc: program %d has versions %d to %d", prog, low, high)
	}
	s.register.Lock()
	defer s.register.Unlock()
	var list []registered
	if old := s.programs.Load(); old != nil {
		list = append(list, *old...)
	}
	for _, r := range list {
		if r.prog == prog && low <= r.high && r.low <= high {
			return fmt.Errorf("rpc: program %d version %d is already registered", prog, max(low, r.low))
		}
	}
	list = append(list, registered{prog, low, high, p})
	s.programs.Store(&list)
	return nil
}

// lookup finds the program that serves a version. If there is none, low and
// high are what the server has of the program; low > high if it has nothing.
func (s *Server) lookup(prog, vers uint32) (p Program, low, high uint32) {
	low, high = 1, 0
	list := s.programs.Load()
	if list == nil {
		return nil, low, high
	}
	for i := range *list {
		r := &(*list)[i]
		if r.prog != prog {
			continue
		}
		if r.low <= vers && vers <= r.high {
			return r.program, r.low, r.high
		}
		if low > high {
			low, high = r.low, r.high
		}
		low, high = min(low, r.low), max(high, r.high)
	}
	return nil, low, high
}

// Shutdown waits for the calls that are being served off the event loops, as
// long as ctx lasts, and ends the context of those that are left. It is called
// when the transports have been shut down.
func (s *Server) Shutdown(ctx context.Context) error {
	s.setup()
	err := s.waiters.drain(ctx)
	s.cancel()
	return err
}

// Stats says what a server holds.
type Stats struct {
	Waiting int `json:"waiting"` // calls being served on waiting goroutines
	Queued  int `json:"queued"`  // calls that wait for one

	CachedReplies int `json:"cached_replies"` // entries of the reply cache, running calls included
	CacheBytes    int `json:"cache_bytes"`    // what they take
}

// Stats may be called by any goroutine. It takes every lock of the reply cache
// in turn.
func (s *Server) Stats() (t Stats) {
	s.setup()
	t.Waiting, t.Queued = s.waiters.stats()
	t.CachedReplies, t.CacheBytes = s.cache.stats()
	return t
}

// Opened implements [xprt.Handler].
func (s *Server) Opened(c *xprt.Conn) {
	s.setup()
	s.peerOf(c)
}

// Closed implements [xprt.Handler].
func (s *Server) Closed(*xprt.Conn) {}

// Place implements [xprt.Handler]: it asks the program, if the whole header
// lies in head and what follows it is not encrypted.
func (s *Server) Place(conn *xprt.Conn, head []byte, n int) xprt.Placement {
	m := &s.peerOf(conn).placing
	if m.parse(head) != isCall || m.cred.Flavor > AUTH_SYS {
		return xprt.Placement{}
	}
	at, offset, err := s.place(m)
	if err != nil {
		return xprt.Placement{}
	}
	return xprt.Placement{At: len(head) - len(m.args) + at, Offset: offset, Unit: bufpool.PageSize}
}

var errNowhere = errors.New("rpc: the program has no place for the call")

func (s *Server) place(m *callMessage) (at int, offset uint64, err error) {
	defer s.recovered(&m.Header, &err)
	p, _, _ := s.lookup(m.Prog, m.Vers)
	if p == nil {
		return 0, 0, errNowhere
	}
	at, offset, ok := p.Place(&m.Header, m.args)
	if !ok {
		err = errNowhere
	}
	return at, offset, err
}
