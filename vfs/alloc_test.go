//go:build !race

// The race detector allocates where the code does not.

package vfs

import (
	"fmt"
	"testing"
)

func TestCauseDoesNotAllocate(t *testing.T) {
	wrapped := fmt.Errorf("reading: %w", ErrDelay)
	for _, err := range []error{nil, ErrNotExist, ErrDelay, wrapped} {
		if n := testing.AllocsPerRun(100, func() { Cause(err) }); n != 0 {
			t.Errorf("%v: %v allocations", err, n)
		}
	}
}
