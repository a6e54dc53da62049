package bufpool

import (
	"os"
	"testing"
)

// A Run is an owner of the memory in it.
var _ Owner = (*Run)(nil)

func TestSegmentSize(t *testing.T) {
	for _, c := range []struct {
		s    Segment
		want int
	}{
		{Segment{}, 0},
		{Segment{Mem: make([]byte, 5)}, 5},
		{Segment{File: os.Stdin, Off: 7, Len: 9}, 9},
		{Segment{File: os.Stdin, Mem: make([]byte, 5)}, 0},
	} {
		if got := c.s.Size(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.s, got, c.want)
		}
	}
}
