//go:build unix && invariants && !race && !ungated

package bufpool

import (
	"runtime/debug"
	"testing"
)

// TestProtected reads memory that was given back, and memory that was given up,
// which somebody may still read.
func TestProtected(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	p := New(Config{})
	trimmed, detached, gone := p.Get(1), p.Get(1), p.Get(1)
	p.Put(trimmed)
	p.Trim(at(0))
	p.Trim(at(10))
	p.Detach(detached)
	p.Put(detached)
	p.GiveUp(gone)
	mustPanic(t, "read what was trimmed", func() { _ = sink(trimmed.Bytes()) })
	mustPanic(t, "read what was detached", func() { _ = sink(detached.Bytes()) })
	if sink(gone.Bytes()) != 0 {
		t.Error("given up, and not zeros")
	}
	again := p.Get(1)
	stamp(again, 1)
	p.Put(again)
	closeClean(t, p)
}

//go:noinline
func sink(b []byte) byte { return b[0] }
