package xprt

import (
	"bytes"
	"strings"
	"testing"
)

// TestSystemCalls counts them for one connection, of which all calls are answered before the
// next ones come.
func TestSystemCalls(t *testing.T) {
	const rounds = 50
	var eight []byte
	for range 8 {
		eight = append(eight, encode(pattern(100))...)
	}
	for _, test := range []struct {
		name    string
		call    []byte
		replies int
		max     SystemCalls // for each round
	}{
		{"small", encode(pattern(100)), 1, SystemCalls{Receive: 1, Send: 1}},
		{"eight small", eight, 8, SystemCalls{Receive: 1, Send: 1}},
		{"eight payloads", bytes.Repeat(encode(readCall(1, 4096)), 8), 8, SystemCalls{Receive: 1, Send: 1}},
		{"payload", encode(readCall(1, 65536)), 1, SystemCalls{Receive: 1, Send: 1}},
		// The head, the rest, and once more if it comes in parts.
		{"large record", encode(pattern(32_004)), 1, SystemCalls{Receive: 3, Send: 1, Available: 2, LowWater: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := echo
			if strings.Contains(test.name, "payload") {
				h = read
			}
			s := start(t, "tcp", Config{Workers: 1}, h)
			c := s.dial()
			round := func() {
				if _, err := c.Write(test.call); err != nil {
					t.Fatal(err)
				}
				for range test.replies {
					receive(t, c)
				}
			}
			round()
			before := s.Stats().SystemCalls
			for range rounds {
				round()
			}
			after := s.Stats().SystemCalls
			for _, n := range []struct {
				name     string
				got, max int64
			}{
				{"Receive", after.Receive - before.Receive, test.max.Receive},
				{"Send", after.Send - before.Send, test.max.Send},
				{"Available", after.Available - before.Available, test.max.Available},
				{"LowWater", after.LowWater - before.LowWater, test.max.LowWater},
				{"ErrorQueue", after.ErrorQueue - before.ErrorQueue, test.max.ErrorQueue},
				{"Wake", after.Wake - before.Wake, test.max.Wake},
				{"Poll", after.Poll - before.Poll, 3 + test.max.LowWater + test.max.Receive},
			} {
				// Now and then what was written at once is read in two parts.
				if n.got > n.max*rounds+n.max*rounds/10 {
					t.Errorf("%s: %d in %d rounds", n.name, n.got, rounds)
				}
			}
		})
	}
}

// TestManyInOneSend counts sends where a batch is answered that does not come at once.
func TestManyInOneSend(t *testing.T) {
	const calls = 200
	s := start(t, "tcp", Config{Workers: 1}, echo)
	c := s.dial()
	var stream []byte
	for range calls {
		stream = append(stream, encode(pattern(100))...)
	}
	if _, err := c.Write(stream); err != nil {
		t.Fatal(err)
	}
	for range calls {
		receive(t, c)
	}
	// At most one for each head buffer, and one for a turn that ends.
	if n := s.Stats().SystemCalls; n.Send > 2*int64(len(stream)/headSize+2) || n.Receive > 2*int64(len(stream)/headSize+2) {
		t.Errorf("%+v", n)
	}
}

// TestReceiveInPlace counts payload bytes copied on TCP: at most what the first receive
// may have got of each record.
func TestReceiveInPlace(t *testing.T) {
	const size, at, rounds = 47008 + 200, 200, 50
	wrong := 0
	s := start(t, "tcp", Config{Workers: 1}, &handler{
		record: func(r *Record) {
			if addressOf(r.Data[at:])%4096 != 1234 {
				wrong++
			}
			if r.PayloadCopied > headSize-at {
				t.Errorf("%d payload bytes copied", r.PayloadCopied)
			}
			r.SendSmall(append(r.Small(4), r.Data[:4]...))
			r.Done()
		},
		place: func(*Conn, []byte, int) Placement {
			return Placement{At: at, Offset: 5<<30 + 1234, Unit: 4096}
		},
	})
	c := s.dial()
	for range rounds {
		send(t, c, pattern(size), pattern(size))
		receive(t, c)
		receive(t, c)
	}
	if wrong != 0 {
		t.Errorf("%d records are in the wrong place", wrong)
	}
	if n := s.Stats().PayloadCopied; n > 2*rounds*(headSize-at) {
		t.Errorf("%d payload bytes copied", n)
	}
}
