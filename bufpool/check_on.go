//go:build invariants

package bufpool

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
)

// poolCheck knows the owner's goroutine.
type poolCheck struct{ goroutine string }

// owner panics on another goroutine than that of the first call.
func (c *poolCheck) owner() {
	switch g := goroutine(); c.goroutine {
	case g:
	case "":
		c.goroutine = g
	default:
		panic(fmt.Sprintf("bufpool: goroutine %s uses the pool of goroutine %s", g, c.goroutine))
	}
}

// goroutine is the number of the running goroutine, which is found only in the
// first line of its stack: "goroutine 7 [running]:".
func goroutine() string {
	var b [64]byte
	return strings.Fields(string(b[:runtime.Stack(b[:], false)]))[1]
}

// leaks panics if a run is still lent, in flight or detached, and tells where each was
// acquired.
func (c *poolCheck) leaks(runs []*Run) {
	var report strings.Builder
	for _, r := range runs {
		if r.state == lent || r.state == inFlight {
			fmt.Fprintf(&report, "\n%d pages, %d references, acquired at%s",
				r.Pages(), r.refs.Load()&countMask, r.check.place())
		}
	}
	if report.Len() > 0 {
		panic("bufpool: Close with runs still out:" + report.String())
	}
}

// runCheck knows where a run was acquired and whether it is poisoned.
type runCheck struct {
	stack    [16]uintptr
	poisoned bool
}

var poison = bytes.Repeat([]byte{0xdb}, PageSize)

// lend panics if the memory of a free run was written.
func (c *runCheck) lend(mem []byte) {
	runtime.Callers(2, c.stack[:])
	if !c.poisoned {
		return
	}
	c.poisoned = false
	for ; len(mem) > 0; mem = mem[PageSize:] {
		if !bytes.Equal(mem[:PageSize], poison) {
			panic("bufpool: a run was written after its last release")
		}
	}
}

// released poisons memory that nobody may look at any more.
func (c *runCheck) released(mem []byte) {
	c.poisoned = true
	for ; len(mem) > 0; mem = mem[PageSize:] {
		copy(mem, poison)
	}
}

// reset is called when the memory was given back.
func (c *runCheck) reset() { c.poisoned = false }

func (c *runCheck) place() string {
	var b strings.Builder
	frames := runtime.CallersFrames(c.stack[:])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "bufpool.(*Pool)") && f.Function != "" {
			fmt.Fprintf(&b, "\n\t%s\n\t\t%s:%d", f.Function, f.File, f.Line)
		}
		if !more {
			return b.String()
		}
	}
}
