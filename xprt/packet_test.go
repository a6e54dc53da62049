package xprt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"

	"eddy.example/bufpool"
)

// startPacket serves h on a UDP socket bound to addr.
func startPacket(t *testing.T, addr string, c Config, h Handler) (s *server, port uint16) {
	t.Helper()
	s = start(t, "", c, h)
	pc, err := net.ListenPacket("udp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s.served.Go(func() {
		if err := s.ServePacket(pc); !errors.Is(err, ErrClosed) {
			t.Error("ServePacket:", err)
		}
	})
	return s, addrPort(pc.LocalAddr()).Port()
}

func dialPacket(t *testing.T, host string, port uint16) *net.UDPConn {
	t.Helper()
	c, err := net.Dial("udp", netip.AddrPortFrom(netip.MustParseAddr(host), port).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.UDPConn)
}

// exchange sends a datagram and returns the answer.
func exchange(t *testing.T, c net.Conn, b []byte) []byte {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, maxPacket)
	n, err := c.Read(reply)
	if err != nil {
		t.Fatal(err)
	}
	return reply[:n]
}

var packetConfigs = map[string]Config{"own": {Workers: 1}, "portable": {Workers: 1, portable: true}}

func TestPacket(t *testing.T) {
	for name, config := range packetConfigs {
		t.Run(name, func(t *testing.T) {
			content := pattern(10_000)
			f := testFile(t, content)
			var owner countingOwner
			from := make(chan netip.AddrPort, 100)
			s, port := startPacket(t, "127.0.0.1:0", config, &handler{record: func(r *Record) {
				from <- r.Conn.RemoteAddr()
				if !r.Conn.Datagram() || r.Conn.Network() != "udp" || r.Conn.LocalAddr().Port() == 0 || r.Conn.Context() == nil {
					t.Error("not what a datagram is")
				}
				switch r.Data[0] {
				case 'r':
					run := r.Lend(20_001)
					fillPayload(run.Bytes()[:20_001], 1)
					r.SendRun(run, r.Data[:4], 20_001)
				case 's':
					r.SendSegments(r.Data[:4], bufpool.Segment{Mem: content[:101], Owner: &owner},
						bufpool.Segment{File: f, Off: 100, Len: 5000, Owner: &owner})
				case 'n': // no answer
				default:
					r.SendSmall(append(r.Small(len(r.Data)), r.Data...))
				}
				r.Done()
			}})
			c := dialPacket(t, "127.0.0.1", port)
			for _, n := range []int{1, 100, 4096, 4097, 30_000, maxDatagram} {
				b := append([]byte("e"), pattern(n)[1:]...)
				if got := exchange(t, c, b); !bytes.Equal(got, b) {
					t.Errorf("a datagram of %d bytes came back otherwise", n)
				}
			}
			for len(from) > 0 {
				if a := <-from; a != addrPort(c.LocalAddr()) {
					t.Error("from", a)
				}
			}
			if _, err := c.Write([]byte("none")); err != nil {
				t.Error(err)
			}
			want := make([]byte, 20_001)
			fillPayload(want, 1)
			if got := exchange(t, c, []byte("run!")); !bytes.Equal(got, append([]byte("run!"), append(want, 0, 0, 0)...)) {
				t.Errorf("%d bytes from a run", len(got))
			}
			want = append(append([]byte("segs"), content[:101]...), content[100:5100]...)
			if got := exchange(t, c, []byte("segs")); !bytes.Equal(got, append(want, 0, 0, 0)) {
				t.Errorf("%d bytes from segments", len(got))
			}
			until(t, func() bool { return owner.released.Load() == 2 })
			if n := s.Stats(); n.DatagramsLost != 0 || n.Records != 9 {
				t.Errorf("%+v", n)
			}
		})
	}
}

func TestPacketTooLong(t *testing.T) {
	for _, config := range packetConfigs {
		s, port := startPacket(t, "127.0.0.1:0", config, &handler{record: func(r *Record) {
			n := r.Conn.MaxReply() + int(r.Data[0])
			r.SendSmall(append(r.Small(n), make([]byte, n)...))
			r.Done()
		}})
		c := dialPacket(t, "127.0.0.1", port)
		c.Write([]byte{1})
		if n := len(exchange(t, c, []byte{0})); n != maxDatagram {
			t.Error(n, "bytes")
		}
		if n := s.Stats().DatagramsLost; n != 1 {
			t.Error(n, "replies were dropped")
		}
	}
}

// TestPacketFamilies asks over IPv4 and IPv6, at a socket bound to any address.
func TestPacketFamilies(t *testing.T) {
	for _, config := range packetConfigs {
		_, port := startPacket(t, ":0", config, &handler{record: func(r *Record) {
			r.SendSmall([]byte(r.Conn.RemoteAddr().String()))
			r.Done()
		}})
		for _, host := range []string{"127.0.0.1", "::1"} {
			c := dialPacket(t, host, port)
			if got := string(exchange(t, c, []byte("who"))); got != addrPort(c.LocalAddr()).String() {
				t.Errorf("%s is seen as %s", c.LocalAddr(), got)
			}
		}
	}
}

// TestPacketMaxCalls has calls kept, and one more than may be waits in the socket.
func TestPacketMaxCalls(t *testing.T) {
	for _, config := range packetConfigs {
		config.MaxCalls = 5
		k := newKeeper()
		s, port := startPacket(t, "127.0.0.1:0", config, k)
		c := dialPacket(t, "127.0.0.1", port)
		for i := range uint32(8) {
			c.Write(readCall(i, 0))
		}
		until(t, func() bool { return k.count() == 5 })
		if n := s.Stats().Calls; n != 5 {
			t.Error(n, "calls")
		}
		k.letGo(5)
		until(t, func() bool { return k.count() == 3 })
		k.letGo(3)
		seen := make(map[uint32]bool)
		for range 8 {
			b := make([]byte, 100)
			n, err := c.Read(b)
			if err != nil || n != 8 {
				t.Fatal(n, err)
			}
			seen[binary.BigEndian.Uint32(b)] = true
		}
		if len(seen) != 8 {
			t.Error(len(seen), "of 8 answers")
		}
	}
}

// TestPacketBudget drops what does not fit into the budget.
func TestPacketBudget(t *testing.T) {
	for _, config := range packetConfigs {
		config.RecvBudget = 100_000
		k := newKeeper()
		s, port := startPacket(t, "127.0.0.1:0", config, k)
		c := dialPacket(t, "127.0.0.1", port)
		for range 5 {
			c.Write(pattern(30_000))
		}
		until(t, func() bool { return k.count() >= 1 && s.Stats().ReceiveAdmitted > 60_000 })
		c.Write(pattern(10)) // behind them all
		until(t, func() bool { return s.Stats().Records >= 3 })
		if n := s.Stats().ReceiveAdmitted; n > 150_000 {
			t.Error(n, "bytes are admitted")
		}
		k.letAllGo()
	}
}

// TestPacketMany has many clients at once.
func TestPacketMany(t *testing.T) {
	for _, config := range packetConfigs {
		config.Workers = 2
		s, port := startPacket(t, "127.0.0.1:0", config, echo)
		var clients sync.WaitGroup
		for k := range uint32(8) {
			c := dialPacket(t, "127.0.0.1", port)
			clients.Go(func() {
				for i := range uint32(200) {
					want := append(readCall(k, int(i)), pattern(int(i))...)
					if got := exchange(t, c, want); !bytes.Equal(got, want) {
						t.Error("another answer")
						return
					}
				}
			})
		}
		clients.Wait()
		s.end()
	}
}
