package xprt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
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

// FuzzRecord feeds a stream to the receiver of a connection, cut as the first bytes say,
// and compares what it delivers with what the marks say.
func FuzzRecord(f *testing.F) {
	f.Add([]byte{0, 1}, encode([]byte("hello")))
	f.Add([]byte{1, 200}, append(encode(pattern(5000)), encode(pattern(100), 7, 0, 50)...))
	f.Add([]byte{0, 255}, encode(pattern(20000), 3000, 9000))
	f.Add([]byte{1, 9}, append(encode(pattern(4096)), encode(pattern(4097))...))
	f.Add([]byte{0, 64}, bytes.Repeat(mark(0, false), maxEmpty+1))
	f.Fuzz(func(t *testing.T, how, stream []byte) {
		if len(how) < 2 || len(stream) > 1<<20 {
			return
		}
		piece := 1 + int(how[1])*16
		want, wantErr := readMarks(stream, 1<<20, testMaxRecord)
		rig := newRig(t, how[0]&1 != 0)
		rig.feed(stream, piece)
		if got := rig.records; !slices.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("%d records, want %d", len(got), len(want))
		}
		if (rig.conn.dead) != (wantErr != nil) {
			t.Fatalf("connection ended: %v; error: %v", rig.conn.dead, wantErr)
		}
		rig.end()
	})
}
