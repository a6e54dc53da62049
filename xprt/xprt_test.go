package xprt

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

var sizes = []int{4, 5, 100, 4092, 4093, 4096, 4097, 8000, 8196, 8197, 9001, 65536, 65540, 100_003, 1 << 20}

func TestEcho(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		s := start(t, network, Config{}, echo)
		c := s.dial()
		for _, n := range sizes {
			want := pattern(n)
			var sending sync.WaitGroup
			sending.Go(func() { send(t, c, want) })
			if got := receive(t, c); !bytes.Equal(got[:n], want) || len(got) != n && len(got) != (n+3)&^3 {
				t.Errorf("a record of %d bytes came back otherwise", n)
			}
			sending.Wait()
		}
	})
}

// TestFragmentation sends records in any fragments and any pieces, one behind the
// other, and reads the answers meanwhile.
func TestFragmentation(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		s := start(t, network, Config{Workers: 2}, echo)
		rapid.Check(t, func(rt *rapid.T) {
			var want [][]byte
			var stream []byte
			for range rapid.IntRange(1, 8).Draw(rt, "records") {
				n := 4 * rapid.OneOf(rapid.IntRange(1, 200), rapid.IntRange(1000, 30_000)).Draw(rt, "words")
				record := pattern(n)
				binary.BigEndian.PutUint32(record, uint32(len(want)))
				want = append(want, record)
				var cuts []int
				if rapid.Bool().Draw(rt, "fragmented") {
					cuts = genFragments(rt, n)
				}
				stream = append(stream, encode(record, cuts...)...)
			}
			piece := rapid.IntRange(1+len(stream)/50, len(stream)).Draw(rt, "piece")
			c := s.dial()
			defer c.Close()
			var sending sync.WaitGroup
			sending.Go(func() {
				for len(stream) > 0 {
					n := min(piece, len(stream))
					if _, err := c.Write(stream[:n]); err != nil {
						t.Error(err)
						return
					}
					stream = stream[n:]
				}
			})
			for range want {
				got := receive(t, c) // in any order
				i := binary.BigEndian.Uint32(got)
				if !bytes.Equal(got, want[i]) {
					rt.Fatalf("record %d came back otherwise", i)
				}
				want[i] = nil
			}
			sending.Wait()
		})
	})
}

// TestPipelined has many connections with many payloads each on their way, more than the
// sockets hold.
func TestPipelined(t *testing.T) {
	const calls = 24
	forEach(t, func(t *testing.T, network string) {
		s := start(t, network, Config{Workers: 2, PoolCap: 3 << 20}, read)
		var clients sync.WaitGroup
		for k := range uint32(4) {
			c := s.dial()
			sizes := make([]int, calls)
			for i := range sizes {
				sizes[i] = 1 + rand.IntN([]int{100, 70_000, 1 << 20}[rand.IntN(3)])
			}
			clients.Go(func() {
				for i, n := range sizes {
					send(t, c, readCall(k<<8+uint32(i), n))
				}
			})
			clients.Go(func() {
				for range sizes {
					b, err := receiveRecord(c)
					if err != nil {
						t.Error(err)
						return
					}
					id := binary.BigEndian.Uint32(b) // in any order
					checkPayload(t, b, id, sizes[id&0xff])
					sizes[id&0xff] = -1
				}
			})
		}
		clients.Wait()
	})
}
