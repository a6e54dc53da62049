//go:build ungated

package gate

import (
	"errors"
	"testing"
)

// TestCorruptionIsSeen runs what TestRepliesAreIdentical does, with a pool that
// lends a run again as soon as its owner has put it. TestUngatedIsCaught calls it.
func TestCorruptionIsSeen(t *testing.T) {
	for _, n := range networks {
		t.Run(n.name, func(t *testing.T) {
			const repetitions = 20
			b := newBench(t, n, nil)
			for i := range repetitions {
				c := b.connect()
				faults := b.round(c)
				c.Close()
				for _, err := range faults {
					if errors.Is(err, errCorrupt) {
						t.Logf("repetition %d: %d replies of %d are wrong or missing; %v", i+1, len(faults), perSize*len(sizes), err)
						return
					}
				}
			}
			t.Errorf("%d repetitions without a corrupt reply: the gate's tests show nothing", repetitions)
		})
	}
}
