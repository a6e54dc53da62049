package serve

import (
	"errors"
	"net"
	"testing"

	eddy "eddy.example"
	"eddy.example/bufpool"
)

// Start serves l with s until t is over. Then it closes s, unless the test has
// shut it down, and calls [Ended].
func Start(t testing.TB, s *eddy.Server, l net.Listener) {
	t.Helper()
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the server: %v", err)
		}
		if err := <-served; !errors.Is(err, eddy.ErrServerClosed) {
			t.Errorf("serving: %v", err)
		}
		Ended(t, s)
	})
}

// Ended checks that s, which has been shut down or closed, has no connection,
// call or page any more, and that its pools' books balance.
func Ended(t testing.TB, s *eddy.Server) {
	t.Helper()
	x := s.Stats().Transport
	if x.Connections != 0 || x.Calls != 0 || x.ReceiveAdmitted != 0 || x.ReplyMemory != 0 {
		t.Errorf("left of the server: %d connections, %d calls, %d bytes received, %d bytes of replies",
			x.Connections, x.Calls, x.ReceiveAdmitted, x.ReplyMemory)
	}
	for i, p := range x.Pools {
		if p.Held != 0 || p.InFlight != 0 || p.Lent != 0 || p.Detached != 0 {
			t.Errorf("left in pool %d: %+v", i, p)
		}
		if p.New+p.Reused != p.Acquired || p.New != p.Trimmed+p.GivenUp {
			t.Errorf("the books of pool %d do not balance: %+v", i, p)
		}
	}
}

// Pages is the account of all workers together.
func Pages(s *eddy.Server) (sum bufpool.Stats) {
	for _, p := range s.Stats().Transport.Pools {
		sum.New += p.New
		sum.Reused += p.Reused
		sum.Acquired += p.Acquired
		sum.Trimmed += p.Trimmed
		sum.BeyondCap += p.BeyondCap
		sum.GivenUp += p.GivenUp
		sum.Free += p.Free
		sum.Lent += p.Lent
		sum.InFlight += p.InFlight
		sum.Held += p.Held
		sum.Detached += p.Detached
	}
	return sum
}
