//go:build invariants

package bufpool

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
)

// poolCheck knows the owner.
type poolCheck struct{ goroutine string }

// owner panics on another goroutine than that of the first call.
func (c *poolCheck) owner() {
	g := goroutine()
	if c.goroutine == "" {
		c.goroutine = g
	}
	if g != c.goroutine {
		panic(fmt.Sprintf("bufpool: goroutine %s uses the pool of goroutine %s", g, c.goroutine))
	}
}

// adopt forgets the owner.
func (c *poolCheck) adopt() { c.goroutine = "" }

// goroutine is the number of the calling goroutine, which Go tells only in a
// stack trace: "goroutine 7 [running]:".
func goroutine() string {
	var b [32]byte
	return strings.Fields(string(b[:runtime.Stack(b[:], false)]))[1]
}

// leaks panics if a run is still out.
func (c *poolCheck) leaks(runs []*Run) {
	var report strings.Builder
	for _, r := range runs {
		if r.state == lent || r.state == inFlight {
			fmt.Fprintf(&report, "\n%d pages with %d references, acquired by%s",
				r.Pages(), r.refs.Load()&countMask, r.check.acquirer())
		}
	}
	if report.Len() > 0 {
		panic("bufpool: Close while runs are out:" + report.String())
	}
}

// runCheck knows where a run was last acquired, and whether it is poisoned.
type runCheck struct {
	stack    [16]uintptr
	poisoned bool
}

var poisonPage = bytes.Repeat([]byte{0xdb}, PageSize)

// lend panics if a free run was written.
func (c *runCheck) lend(mem []byte) {
	c.stack = [16]uintptr{}
	runtime.Callers(2, c.stack[:])
	if !c.poisoned {
		return
	}
	c.poisoned = false
	for ; len(mem) > 0; mem = mem[PageSize:] {
		if !bytes.Equal(mem[:PageSize], poisonPage) {
			panic("bufpool: a run was written after its last reference had gone")
		}
	}
}

// poison makes whoever reads a free run see it.
func (c *runCheck) poison(mem []byte) {
	c.poisoned = true
	for ; len(mem) > 0; mem = mem[PageSize:] {
		copy(mem, poisonPage)
	}
}

// cold says that the memory was given back.
func (c *runCheck) cold() { c.poisoned = false }

// acquirer is the stack outside of the pool.
func (c *runCheck) acquirer() string {
	var b strings.Builder
	frames := runtime.CallersFrames(c.stack[:])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.Contains(f.Function, "bufpool.(*Pool)") {
			fmt.Fprintf(&b, "\n\t%s\n\t\t%s:%d", f.Function, f.File, f.Line)
		}
		if !more {
			return b.String()
		}
	}
}
