package xprt

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"eddy.example/bufpool"
)

func TestZeroCopyAccount(t *testing.T) {
	pool := bufpool.New(bufpool.Config{})
	var z zeroCopy
	z.base = 1<<32 - 3 // numbers wrap around
	var runs []*bufpool.Run
	for range 6 {
		a, b := pool.Get(1), pool.Get(1)
		send := z.begin()
		send.add(a)
		send.add(a)
		send.add(b)
		if send.n != 2 {
			t.Fatal("a run counts more than once")
		}
		pool.Put(a)
		pool.Put(b)
		runs = append(runs, a, b)
	}
	inFlight := func(want uint64) {
		t.Helper()
		if n := pool.Stats().InFlight; n != want*uint64(runs[0].Pages()) {
			t.Errorf("%d pages in flight", n)
		}
	}
	if !bufpool.Gated {
		return
	}
	inFlight(12)
	z.end(1<<32-2, 1<<32-1) // the second and third
	inFlight(8)
	if z.base != 1<<32-3 {
		t.Error("forgot the first")
	}
	z.end(1, 2) // the fifth and sixth
	z.end(1, 2) // twice is once
	z.end(77, 78)
	inFlight(4)
	z.end(1<<32-3, 0)
	inFlight(0)
	if z.out() || z.base != 3 {
		t.Error("not all have ended:", z.base)
	}
	pool.Close()
}

// TestZeroCopy reads payloads by zero copy, small ones too, and checks each byte.
func TestZeroCopy(t *testing.T) {
	const calls = 200
	s := start(t, "tcp", Config{Workers: 2, ZeroCopy: ZeroCopyAlways}, read)
	var clients sync.WaitGroup
	for k := range uint32(4) {
		c := s.dial()
		sizes := make([]int, calls)
		for i := range sizes {
			sizes[i] = []int{1, 511, 4095, 4096, 4097, 47008, 65536, 131072, 1 << 20}[rand.IntN(9)]
		}
		clients.Go(func() {
			for batch := range slices.Chunk(sizes, 8) {
				var b []byte
				for i, n := range batch {
					b = append(b, encode(readCall(k<<8+uint32(i), n))...)
				}
				if _, err := c.Write(b); err != nil {
					t.Error(err)
					return
				}
				for range batch {
					b, err := receiveRecord(c)
					if err != nil {
						t.Error(err)
						return
					}
					id := binary.BigEndian.Uint32(b)
					checkPayload(t, b, id, batch[id&0xff])
				}
			}
		})
	}
	clients.Wait()
	if err := s.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	n := s.Stats().Sends
	if n.ZeroCopy == 0 || n.ZeroCopyCopied == 0 {
		t.Errorf("sends: %+v", n)
	}
	if g := s.Stats().GivenUp; g != 0 {
		t.Error(g, "connections had sends that never ended")
	}
	s.check()
}

// fillSocket lets the client ask for more than the sockets hold, and returns
// when the server can send no more.
func fillSocket(t *testing.T, s *server, c net.Conn) {
	t.Helper()
	for i := range uint32(32) {
		send(t, c, readCall(i, 1<<20))
	}
	before := int64(-1)
	until(t, func() bool {
		n := s.Stats().BytesSent
		still := n == before && n > 0 && s.Stats().Records >= 32
		before = n
		time.Sleep(10 * time.Millisecond)
		return still
	})
}

// TestZeroCopyEnds ends connections that have zero-copy sends out, in all ways.
func TestZeroCopyEnds(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(t *testing.T, s *server, c *net.TCPConn)
	}{
		{"reset", func(t *testing.T, s *server, c *net.TCPConn) {
			c.SetLinger(0)
			c.Close()
		}},
		{"closed unread", func(t *testing.T, s *server, c *net.TCPConn) {
			c.Close()
		}},
		{"abort", func(t *testing.T, s *server, c *net.TCPConn) {
			s.abort()
			expectEnd(t, c)
		}},
		{"shutdown that has no time", func(t *testing.T, s *server, c *net.TCPConn) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}},
		{"shutdown that has time", func(t *testing.T, s *server, c *net.TCPConn) {
			var reading sync.WaitGroup
			reading.Go(func() { // the peer takes up reading
				for range 32 {
					b, err := receiveRecord(c)
					if err != nil {
						t.Error("a reply was lost:", err)
						return
					}
					checkPayload(t, b, binary.BigEndian.Uint32(b), 1<<20)
				}
				if _, err := c.Read(make([]byte, 1)); err == nil {
					t.Error("more than all replies")
				}
				c.Close()
			})
			if err := s.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
			reading.Wait()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, "tcp", Config{Workers: 1, ZeroCopy: ZeroCopyAlways}, read)
			c := s.dial().(*net.TCPConn)
			fillSocket(t, s, c)
			if bufpool.Gated && s.Stats().Pools[0].InFlight+s.Stats().Pools[0].Detached == 0 {
				t.Error("nothing is in flight")
			}
			test.end(t, s, c)
			until(t, func() bool { return s.Stats().Connections == 0 })
			s.Close()
			if n := s.Stats(); n.Sends.ZeroCopy == 0 || n.GivenUp != 0 {
				t.Errorf("%d zero-copy sends, %d given up", n.Sends.ZeroCopy, n.GivenUp)
			}
			s.check()
		})
	}
}

// TestPeerThatNeverReads is cut at the send deadline, and has cost nobody pages
// for longer than two ticks.
func TestPeerThatNeverReads(t *testing.T) {
	for _, mode := range []ZeroCopy{ZeroCopyAlways, ZeroCopyNever} {
		clock := newFakeClock()
		s := start(t, "tcp", Config{Workers: 1, ZeroCopy: mode, Clock: clock, SendTimeout: 5 * time.Minute}, read)
		stuck := s.dial()
		fillSocket(t, s, stuck)

		began := clock.Now()
		until(t, func() bool {
			clock.advance(tick)
			p := s.Stats().Pools[0]
			return p.Lent == 0 && (p.InFlight == 0 || !bufpool.Gated)
		})
		other := s.dial()
		for i := range uint32(8) {
			send(t, other, readCall(i, 1<<20))
			checkPayload(t, receive(t, other), i, 1<<20)
		}

		until(t, func() bool {
			clock.advance(time.Second)
			return s.Stats().Timeouts == 1
		})
		if clock.Now().Sub(began) < 5*time.Minute {
			t.Error("cut before the deadline")
		}
		until(t, func() bool {
			clock.advance(tick)
			return s.Stats().Connections == 1
		})
		send(t, other, readCall(9, 100))
		checkPayload(t, receive(t, other), 9, 100)
		if mem := s.Stats().ReplyMemory; mem != 0 {
			t.Errorf("%d bytes of replies are left", mem)
		}
		clock.run(t)
	}
}

// TestNoBuffers denies zero copy now and then, as optmem_max and RLIMIT_MEMLOCK do.
func TestNoBuffers(t *testing.T) {
	s := start(t, "tcp", Config{Workers: 1, ZeroCopy: ZeroCopyAlways}, read)
	n := 0
	s.failSends(func(flags int) unix.Errno {
		if flags&unix.MSG_ZEROCOPY != 0 {
			if n++; n%3 == 0 {
				return unix.ENOBUFS
			}
		}
		return 0
	})
	c := s.dial()
	for i := range uint32(60) {
		send(t, c, readCall(i, 65536))
		checkPayload(t, receive(t, c), i, 65536)
	}
	var sends Sends
	until(t, func() bool { // the last send is counted after it
		sends = s.Stats().Sends
		return sends.Copy >= sends.NoBuffers
	})
	if sends.NoBuffers < 10 || sends.ZeroCopy < 20 {
		t.Errorf("%+v", sends)
	}
}

// failSends lets sends fail as f says. The worker calls it.
func (s *server) failSends(f func(flags int) unix.Errno) {
	s.workers[0].sys.fail = f
}

// TestAutoGivesUp pretends that loopback is not: the kernel reports copies, and
// zero copy ends while what is out still gates.
func TestAutoGivesUp(t *testing.T) {
	pretend := func(r *Record) {
		if r.Data[0] != 0 {
			l := r.Conn.link.(*sock)
			unix.SetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1)
			l.zero.on = true
		}
		read.record(r)
	}
	s := start(t, "tcp", Config{Workers: 1}, &handler{record: pretend, resume: read.record})
	c := s.dial()
	send(t, c, readCall(0, 65536))
	checkPayload(t, receive(t, c), 0, 65536)
	if n := s.Stats().Sends.ZeroCopy; n != 0 {
		t.Error("zero copy on loopback")
	}
	send(t, c, readCall(1<<24, 65536))
	checkPayload(t, receive(t, c), 1<<24, 65536)
	for i := range uint32(30) {
		send(t, c, readCall(i, 65536))
		checkPayload(t, receive(t, c), i, 65536)
		send(t, c, readCall(i, 100)) // too small
		checkPayload(t, receive(t, c), i, 100)
	}
	n := s.Stats().Sends
	if n.ZeroCopy == 0 || n.ZeroCopy > 10 || n.ZeroCopyCopied == 0 || n.Copy < 50 {
		t.Errorf("%+v", n)
	}
}

// TestGiveUp has a send that the kernel never says to be over.
func TestGiveUp(t *testing.T) {
	clock := newFakeClock()
	s := start(t, "tcp", Config{Workers: 1, ZeroCopy: ZeroCopyAlways, Clock: clock}, &handler{record: func(r *Record) {
		pool := r.Conn.w.pool
		run := pool.Get(1)
		r.Conn.link.(*sock).zero.begin().add(run)
		pool.Put(run)
		read.record(r)
	}})
	c := s.dial()
	send(t, c, readCall(1, 65536))
	checkPayload(t, receive(t, c), 1, 65536)
	c.Close()
	clock.advance(500 * time.Millisecond)
	if s.Stats().Connections != 1 || s.Stats().GivenUp != 0 {
		t.Error("given up too early")
	}
	clock.run(t)
	until(t, func() bool { return s.Stats().Connections == 0 })
	if n := s.Stats(); n.GivenUp != 1 || bufpool.Gated && n.Pools[0].GivenUp == 0 {
		t.Errorf("%+v", n)
	}
}
