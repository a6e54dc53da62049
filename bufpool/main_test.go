package bufpool

import (
	"encoding/binary"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mustPanic runs fn, which has to panic.
func mustPanic(t *testing.T, what string, fn func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	fn()
}

// stamp marks every page of the run, room and slack too.
func stamp(r *Run, id uint64) {
	for i := 0; i < len(r.mem); i += PageSize {
		binary.LittleEndian.PutUint64(r.mem[i:], id)
	}
}

// stamped reports whether all of the run is still as stamp left it.
func stamped(r *Run, id uint64) bool {
	for i := 0; i < len(r.mem); i += PageSize {
		if binary.LittleEndian.Uint64(r.mem[i:]) != id {
			return false
		}
	}
	return true
}

// at is seconds on an injected clock.
func at(seconds float64) time.Time {
	return time.Unix(1e9, 0).Add(time.Duration(seconds * float64(time.Second)))
}

// closeClean closes the pool and checks the last account.
func closeClean(t *testing.T, p *Pool) {
	t.Helper()
	s := p.Close()
	if s.Free+s.Lent+s.InFlight+s.Held+s.Detached != 0 {
		t.Errorf("something is left after Close: %+v", s)
	}
	if s.New != s.Trimmed+s.GivenUp {
		t.Errorf("pages are missing after Close: %+v", s)
	}
}
