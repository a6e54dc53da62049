package rpc

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// BenchmarkNull calls procedure 0 over TCP, with a number of calls on their way
// on one connection.
func BenchmarkNull(b *testing.B) {
	w := serve(b, new(Server), newToy())
	addr := w.listen()
	for _, depth := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			c := clientOver(b, w.dial(addr))
			b.ReportAllocs()
			inFlight(b, depth, func() error { return c.Call(background, toyProg, 2, 0, nil, nil, nil) })
		})
	}
}

// BenchmarkRead receives payloads over TCP, four at a time.
func BenchmarkRead(b *testing.B) {
	p := newToy().add(procRead, Proc{}, func(c *Call) error {
		n := uint32(c.Args[0])<<24 | uint32(c.Args[1])<<16 | uint32(c.Args[2])<<8 | uint32(c.Args[3])
		if _, err := c.Pages(int(n)); err != nil {
			return err
		}
		c.ReplyPages(append(c.Results(8), 0, 0, 0, 0, c.Args[0], c.Args[1], c.Args[2], c.Args[3]), int(n))
		return nil
	})
	w := serve(b, new(Server), p)
	addr := w.listen()
	for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			c := clientOver(b, w.dial(addr))
			b.ReportAllocs()
			b.SetBytes(int64(size))
			memory := make(chan []byte, 4)
			for range cap(memory) {
				memory <- make([]byte, size)
			}
			inFlight(b, cap(memory), func() error {
				into := <-memory
				_, err := c.CallReceive(background, toyProg, 2, procRead, nil, word(size), new(readResult), into)
				memory <- into
				return err
			})
		})
	}
}

// inFlight makes b.N calls, up to n at the same time.
func inFlight(b *testing.B, n int, call func() error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	done := make(chan error, n)
	for range n {
		go func() {
			for left.Add(-1) >= 0 {
				if err := call(); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range n {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}
