package xprt

import (
	"encoding/json"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eddy.example/bufpool"
)

// the only element of a list.
func one(t *testing.T, list []ConnInfo) ConnInfo {
	t.Helper()
	if len(list) != 1 {
		t.Fatalf("%d connections, want one: %+v", len(list), list)
	}
	return list[0]
}

func TestConns(t *testing.T) {
	forEach(t, func(t *testing.T, network string) {
		held := make(chan *Record, 1)
		s := start(t, network, Config{Workers: 2}, &handler{
			record: func(r *Record) {
				if r.Data[0] == 'h' {
					held <- r
					return
				}
				echo.record(r)
			},
			resume: echo.record,
		})
		c := s.dial()
		send(t, c, []byte("abcd"))
		receive(t, c)
		// A portable connection's writer tells later that it has written.
		until(t, func() bool { return one(t, s.Conns()).BytesSent == 8 })
		i := one(t, s.Conns())
		if i.Calls != 0 || i.Records != 1 || i.BytesReceived != 8 || i.Unsent != 0 {
			t.Errorf("after an echo of 4 bytes: %+v", i)
		}
		if i.Since.After(time.Now()) || i.LastCall.Before(i.Since) {
			t.Errorf("since %v, last call %v", i.Since, i.LastCall)
		}
		if local := addrPort(c.LocalAddr()); i.Remote != local || i.Datagram || i.Worker < 0 || i.Worker > 1 {
			t.Errorf("%+v, want the client %v", i, local)
		}
		send(t, c, []byte("hold"))
		r := <-held
		if i := one(t, s.Conns()); i.Calls != 1 || i.Records != 2 {
			t.Errorf("with a record that the handler holds: %+v", i)
		}
		r.Post()
		receive(t, c)
		c.Close()
		until(t, func() bool { return len(s.Conns()) == 0 })
	})
}

// TestConnsUnsent has a peer that takes nothing of what it has asked for.
func TestConnsUnsent(t *testing.T) {
	for _, network := range []string{"tcp", "pipe"} {
		t.Run(network, func(t *testing.T) {
			s := start(t, network, Config{Workers: 1}, read)
			c := s.dial()
			const n, calls = 1 << 20, 16
			for id := range uint32(calls) {
				send(t, c, readCall(id, n))
			}
			until(t, func() bool {
				list := s.Conns()
				if len(list) == 0 {
					return false // it is about to be opened
				}
				i := one(t, list)
				return i.Unsent > 0 && i.PagesInFlight >= n/bufpool.PageSize && i.Calls > 0
			})
			for range calls {
				receive(t, c)
			}
			until(t, func() bool {
				i := one(t, s.Conns())
				return i.Unsent == 0 && i.PagesInFlight == 0 && i.BytesSent == calls*(n+8)
			})
		})
	}
}

func TestConnsPacket(t *testing.T) {
	for name, config := range packetConfigs {
		t.Run(name, func(t *testing.T) {
			s, port := startPacket(t, "127.0.0.1:0", config, echo)
			c := dialPacket(t, "127.0.0.1", port)
			exchange(t, c, []byte("abcd"))
			i := one(t, s.Conns())
			want := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
			if !i.Datagram || i.Network != "udp" || i.Local != want || i.Remote.IsValid() || i.Records != 1 || i.BytesReceived != 4 || i.BytesSent != 4 {
				t.Errorf("after an echo of 4 bytes: %+v", i)
			}
		})
	}
}

// TestConnsMany lists more than are described in one turn, while some of them
// end.
func TestConnsMany(t *testing.T) {
	s := start(t, "tcp", Config{Workers: 1}, echo)
	conns := make([]net.Conn, 2*listedPerTurn+10)
	for i := range conns {
		conns[i] = s.dial()
		send(t, conns[i], []byte("abcd"))
		receive(t, conns[i])
	}
	all := s.Conns()
	if len(all) != len(conns) {
		t.Fatalf("%d connections are listed, want %d", len(all), len(conns))
	}
	var ending sync.WaitGroup
	ending.Go(func() {
		for _, c := range conns {
			c.Close()
		}
	})
	for n := len(conns); n > 0; {
		list := s.Conns()
		if len(list) > n {
			t.Errorf("%d connections are listed where there were %d before", len(list), n)
		}
		n = len(list)
		remotes := make(map[netip.AddrPort]bool)
		for _, i := range list {
			if remotes[i.Remote] {
				t.Errorf("%v is listed twice", i.Remote)
			}
			remotes[i.Remote] = true
		}
	}
	ending.Wait()
}

// TestConnsRace lists while connections come, go and are cut, and the transport
// closes.
func TestConnsRace(t *testing.T) {
	for _, network := range []string{"tcp", "pipe", "tcp portable"} {
		t.Run(network, func(t *testing.T) {
			s := start(t, network, Config{Workers: 2}, echo)
			var seen atomic.Int64
			var listing sync.WaitGroup
			stop := make(chan struct{})
			for range 2 {
				listing.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
							seen.Add(int64(len(s.Conns())))
						}
					}
				})
			}
			for range 50 {
				c := s.dial()
				send(t, c, []byte("abcd"), pattern(20_000))
				receive(t, c)
				receive(t, c)
				c.Close()
			}
			left := s.dial()
			send(t, left, []byte("abcd"))
			receive(t, left)
			until(t, func() bool { return seen.Load() > 0 })
			s.Close()
			close(stop)
			listing.Wait()
			if list := s.Conns(); len(list) != 0 {
				t.Errorf("after Close: %+v", list)
			}
		})
	}
}

// TestConnsStuck leaves a worker out whose handler does not return.
func TestConnsStuck(t *testing.T) {
	clock := newFakeClock()
	entered, release := make(chan int), make(chan struct{})
	s := start(t, "tcp", Config{Workers: 2, Clock: clock, IdleTimeout: -1, SendTimeout: time.Hour, RecvTimeout: time.Hour}, &handler{record: func(r *Record) {
		if r.Data[0] == 's' {
			entered <- r.Conn.Worker()
			<-release
		}
		echo.record(r)
	}})
	a, b := s.dial(), s.dial()
	for _, c := range []net.Conn{a, b} {
		send(t, c, []byte("abcd"))
		receive(t, c)
	}
	workers := s.Conns()
	if len(workers) != 2 || workers[0].Worker == workers[1].Worker {
		t.Fatalf("%+v, want a connection of each worker", workers)
	}
	send(t, a, []byte("stop"))
	stuck := <-entered
	listed := make(chan []ConnInfo)
	go func() { listed <- s.Conns() }()
	var list []ConnInfo
	until(t, func() bool {
		select {
		case list = <-listed:
			return true
		default:
			clock.advance(time.Second)
			return false
		}
	})
	if len(list) > 1 || len(list) == 1 && list[0].Worker == stuck {
		t.Errorf("%+v with worker %d stuck", list, stuck)
	}
	close(release)
	receive(t, a)
	clock.run(t)
}

func TestConnInfoNames(t *testing.T) {
	text, err := json.Marshal(ConnInfo{})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"bytes_received", "bytes_sent", "calls", "datagram", "last_call", "local", "network", "pages_in_flight",
		"records", "remote", "since", "unsent", "worker",
	}
	var got []string
	for name := range fields {
		got = append(got, name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
}
