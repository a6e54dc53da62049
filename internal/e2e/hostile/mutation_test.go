package hostile

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	eddy "eddy.example"
)

// mutate changes a message in one to four places.
func mutate(r *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + r.IntN(4) {
		if len(b) == 0 {
			return b
		}
		i := r.IntN(len(b))
		switch r.IntN(9) {
		case 0:
			b[i] ^= 1 << r.IntN(8)
		case 1:
			b[i] = byte(r.Uint32())
		case 2:
			b = b[:i]
		case 3:
			n := min(len(b)-i, 1+r.IntN(8))
			b = append(b[:i], b[i+n:]...)
		case 4:
			more := make([]byte, 1+r.IntN(8))
			b = append(b[:i], append(more, b[i:]...)...)
		case 5:
			j := r.IntN(len(b))
			b = append(b, b[min(i, j):max(i, j)]...)
		default:
			// A word, most often a length or a discriminant.
			if i &^= 3; i+4 > len(b) {
				continue
			}
			var v uint32
			switch r.IntN(6) {
			case 0:
				v = maxUint32 >> r.IntN(33)
			case 1:
				v = 1 << r.IntN(32)
			case 2:
				v = uint32(len(b) - i + r.IntN(9) - 4)
			case 3:
				v = binary.BigEndian.Uint32(b[i:]) + uint32(r.IntN(9)) - 4
			default:
				v = uint32(r.IntN(20))
			}
			binary.BigEndian.PutUint32(b[i:], v)
		}
	}
	return b
}

// TestMutatedCalls changes valid calls of every procedure at random. Each is answered with
// something its sender can read, unless it is no call any more, and none makes the server panic.
func TestMutatedCalls(t *testing.T) {
	const seeds = 10 * repeat
	w, h, _ := serveTree(t, new(eddy.Server))
	peers := make(map[string]*peer)
	for _, transport := range transports {
		peers[transport] = w.peer(transport)
	}
	xid := uint32(0)
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 0))
		for i, c := range h.calls() {
			for _, transport := range transports {
				xid++
				message := mutate(r, c.message(xid))
				p := peers[transport]
				if len(message) == 0 {
					continue
				}
				reply := p.ask(message)
				isCall := len(message) >= 8 && binary.BigEndian.Uint32(message[4:]) == 0
				switch {
				case len(reply) > 0:
					if err := wellFormed(message, reply); err != nil {
						t.Errorf("seed %d, call %d (%s) over %s: %v\nmessage %x\nreply %x", seed, i, c.name(), transport, err, message, reply)
					}
				case isCall:
					t.Errorf("seed %d, call %d (%s) over %s: %s\nmessage %x", seed, i, c.name(), transport, outcome(reply), message)
				}
				if !isCall || reply == nil {
					p.Close()
					peers[transport] = w.peer(transport)
				}
			}
		}
		w.noErrors()
	}
	for _, p := range peers {
		p.Close()
	}
	w.alive()
	w.idle()
}

// TestMutatedStreams changes streams of records, marks included, and ends them. Whatever the server
// makes of one, it answers with records and then ends the connection.
func TestMutatedStreams(t *testing.T) {
	const seeds = 50 * repeat
	w, h, _ := serveTree(t, new(eddy.Server))
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 1))
		var stream []byte
		for i, c := range h.calls() {
			m := c.message(uint32(seed)<<8 | uint32(i))
			for r.IntN(3) == 0 && len(m) > 1 {
				n := 1 + r.IntN(len(m)-1)
				stream = append(append(stream, words(uint32(n))...), m[:n]...)
				m = m[n:]
			}
			stream = append(stream, record(m)...)
		}
		stream = mutate(r, stream)
		for _, transport := range streams {
			p := w.peer(transport)
			for rest := stream; len(rest) > 0; {
				n := min(len(rest), 1+r.IntN(2000))
				p.put(rest[:n])
				rest = rest[n:]
			}
			p.Conn.(interface{ CloseWrite() error }).CloseWrite()
			for m := p.receive(); m != nil; m = p.receive() {
				if len(m) < 12 || binary.BigEndian.Uint32(m[4:]) != 1 {
					t.Errorf("seed %d over %s: not a reply: %x", seed, transport, m)
				}
			}
			p.Close()
		}
		w.noErrors()
	}
	w.alive()
	w.idle()
}
