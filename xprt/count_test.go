//go:build !race && !invariants && !386

package xprt

import (
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"testing"

	"eddy.example/bufpool"
)

// mallocs returns how many allocations n calls of f cost the process.
func mallocs(n int, f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		f()
	}
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// expectNoMallocs runs f n times after a while of warming up. A few allocations belong to the
// runtime and to ticks.
func expectNoMallocs(t *testing.T, what string, n int, f func()) {
	t.Helper()
	for range n / 2 {
		f()
	}
	if got := mallocs(n, f); got > uint64(n)/100+20 {
		t.Errorf("%s: %d allocations in %d rounds", what, got, n)
	}
}

// roundTrip returns a function that writes call and reads a reply of n bytes, without
// allocating itself.
func roundTrip(t *testing.T, c net.Conn, call []byte, n int) func() {
	reply := make([]byte, n)
	return func() {
		if _, err := c.Write(call); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, reply); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	content := pattern(10_000)
	forEach(t, func(t *testing.T, network string) {
		f := testFile(t, content)
		var owner countingOwner
		segments := []bufpool.Segment{{Mem: content, Owner: &owner}, {File: f, Len: 10_000, Owner: &owner}}
		posted := false
		s := start(t, network, Config{Workers: 1}, &handler{
			record: func(r *Record) {
				switch n := binary.BigEndian.Uint32(r.Data); {
				case n == 1:
					read.record(r)
				case n == 2:
					r.SendSegments(r.Data[:4], segments...)
					r.Done()
				case n == 3 && !posted:
					posted = true
					r.Post()
				default:
					posted = false
					echo.record(r)
				}
			},
			place: func(_ *Conn, _ []byte, n int) Placement {
				return Placement{At: 100, Offset: 4711, Unit: 4096}
			},
		})
		c := s.dial()
		small := encode(append([]byte{0, 0, 0, 9}, pattern(100)...))
		var eight []byte
		for range 8 {
			eight = append(eight, small...)
		}
		large := encode(append([]byte{0, 0, 0, 9}, pattern(60_000)...))
		expectNoMallocs(t, "small", 2000, roundTrip(t, c, small, len(small)))
		expectNoMallocs(t, "eight small", 1000, roundTrip(t, c, eight, len(eight)))
		expectNoMallocs(t, "large record", 500, roundTrip(t, c, large, len(large)))
		expectNoMallocs(t, "payload", 500, roundTrip(t, c, encode(readCall(1, 65536)), 8+65536))
		expectNoMallocs(t, "segments", 500, roundTrip(t, c, encode(readCall(2, 0)), 8+20_000))
		expectNoMallocs(t, "posted", 1000, roundTrip(t, c, encode(readCall(3, 0)), 12))
	})
}

func TestNoAllocationZeroCopy(t *testing.T) {
	s := start(t, "tcp", Config{Workers: 1, ZeroCopy: ZeroCopyAlways}, read)
	expectNoMallocs(t, "payload", 1000, roundTrip(t, s.dial(), encode(readCall(1, 65536)), 8+65536))
	if s.Stats().Sends.ZeroCopy < 1000 {
		t.Error("not sent that way")
	}
}

func TestNoAllocationPacket(t *testing.T) {
	for name, config := range packetConfigs {
		_, port := startPacket(t, "127.0.0.1:0", config, echo)
		c := dialPacket(t, "127.0.0.1", port)
		for _, n := range []int{100, 30_004} {
			b, reply := pattern(n), make([]byte, maxPacket)
			expectNoMallocs(t, name, 1000, func() {
				c.Write(b)
				if _, err := c.Read(reply); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}
