package xprt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mark returns the mark of a fragment.
func mark(n int, last bool) []byte {
	v := uint32(n)
	if last {
		v |= lastFragment
	}
	return binary.BigEndian.AppendUint32(nil, v)
}

// encode returns a record in fragments of the sizes; what they leave over is the
// last one.
func encode(record []byte, sizes ...int) (b []byte) {
	for _, n := range sizes {
		b = append(append(b, mark(n, false)...), record[:n]...)
		record = record[n:]
	}
	return append(append(b, mark(len(record), true)...), record...)
}

// readMarks feeds the stream to marks in pieces of n bytes, and returns the
// records in it.
func readMarks(stream []byte, n, max int) (records [][]byte, err error) {
	m := marks{max: max}
	var record []byte
	for piece := range slices.Chunk(stream, n) {
		for len(piece) > 0 {
			if m.rest == 0 {
				k, err := m.next(piece)
				if err != nil {
					return records, err
				}
				piece = piece[k:]
			}
			k := min(m.rest, len(piece))
			record = append(record, piece[:k]...)
			piece = piece[k:]
			m.take(k)
			if m.complete() {
				records = append(records, record)
				record = nil
				m.reset()
			}
		}
	}
	return records, nil
}

func TestMarks(t *testing.T) {
	abc := []byte("abc")
	for _, test := range []struct {
		name   string
		stream []byte
		want   [][]byte
		err    error
	}{
		{"one", encode(abc), [][]byte{abc}, nil},
		{"two", append(encode(abc), encode(abc)...), [][]byte{abc, abc}, nil},
		{"fragments", encode(abc, 1, 1), [][]byte{abc}, nil},
		{"empty fragments", encode(abc, 0, 1, 0, 0, 2), [][]byte{abc}, nil},
		{"at the bound", encode(pattern(10), 9), [][]byte{pattern(10)}, nil},
		{"over the bound", encode(pattern(11)), nil, errTooLong},
		{"over the bound in sum", encode(pattern(11), 6), nil, errTooLong},
		{"longest length", mark(1<<31-1, false), nil, errTooLong},
		{"empty", mark(0, true), nil, errEmpty},
		{"empty after empty", append(mark(0, false), mark(0, true)...), nil, errEmpty},
		{"empty for ever", bytes.Repeat(mark(0, false), maxEmpty+1), nil, errIdle},
		{"unfinished", encode(abc)[:6], nil, nil},
	} {
		for n := 1; n <= len(test.stream); n++ {
			got, err := readMarks(test.stream, n, 10)
			if !errors.Is(err, test.err) || !slices.EqualFunc(got, test.want, bytes.Equal) {
				t.Errorf("%s in pieces of %d: %q, %v", test.name, n, got, err)
			}
		}
	}
}

// genFragments draws how a record of n bytes is cut into fragments.
func genFragments(t *rapid.T, n int) (sizes []int) {
	for range rapid.IntRange(0, 4).Draw(t, "fragments") {
		k := rapid.IntRange(0, n).Draw(t, "size")
		sizes = append(sizes, k)
		n -= k
	}
	return sizes
}

func TestMarksProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream []byte
		var want [][]byte
		for range rapid.IntRange(1, 5).Draw(t, "records") {
			r := rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "record")
			want = append(want, r)
			stream = append(stream, encode(r, genFragments(t, len(r))...)...)
		}
		got, err := readMarks(stream, rapid.IntRange(1, len(stream)).Draw(t, "piece"), 100)
		if err != nil || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("%q, %v", got, err)
		}
	})
}

// FuzzRecord feeds a stream to the receiver of a connection, cut as the first bytes
// say, and compares what it delivers with what the marks say.
func FuzzRecord(f *testing.F) {
	seed := func(how, piece byte, records ...string) {
		f.Add([]byte(string([]byte{how, piece}) + strings.Join(records, "")))
	}
	seed(0, 0, "\x80\x00\x00\x05hello")
	seed(1, 200, "\x80\x00\x13\x88\xff\x13\x88", "\x00\x00\x00\x07seven..", "\x00\x00\x00\x00", "\x80\x00\x00\x02ab")
	seed(0, 255, "\x00\x00\x0b\xb8\xff\x0b\xb8", "\x80\x00\xea\x60\xff\xea\x60")
	seed(1, 9, "\x80\x00\x10\x00\xff\x10\x00", "\x80\x00\x10\x01\xff\x10\x01")
	seed(0, 64, strings.Repeat("\x00\x00\x00\x00", maxEmpty+1))
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) < 2 {
			return
		}
		stream := inflate(input[2:])
		want, wantErr := readMarks(stream, max(1, len(stream)), testMaxRecord)
		g := newRig(t, input[0]&1 != 0)
		g.feed(stream, 1+int(input[1])*16)
		if !slices.EqualFunc(g.records, want, bytes.Equal) {
			t.Fatalf("%d records, want %d", len(g.records), len(want))
		}
		if g.conn.dead != (wantErr != nil) {
			t.Fatalf("connection ended: %v; error: %v", g.conn.dead, wantErr)
		}
		g.end()
	})
}

// inflate returns b with each 0xff and the number in the two bytes after it changed for as
// many bytes, so that inputs are short.
func inflate(b []byte) (stream []byte) {
	for len(b) > 0 && len(stream) < 1<<20 {
		if b[0] == 0xff && len(b) >= 3 {
			stream = append(stream, pattern(int(b[1])<<8|int(b[2]))...)
			b = b[3:]
			continue
		}
		stream = append(stream, b[0])
		b = b[1:]
	}
	return stream
}
