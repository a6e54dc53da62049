package rpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// fragments encodes message as a record whose fragments have the sizes given;
// the last gets the rest.
func fragments(message []byte, sizes []int) []byte {
	var b []byte
	for _, n := range sizes {
		n = min(n, len(message))
		b = binary.BigEndian.AppendUint32(b, uint32(n))
		b = append(b, message[:n]...)
		message = message[n:]
	}
	return append(b, record(message)...)
}

// chunks is a source that returns few bytes at a time.
type chunks struct {
	b     []byte
	sizes []int
	i     int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := min(len(p), len(c.b), c.sizes[c.i%len(c.sizes)])
	c.i++
	copy(p, c.b[:n])
	c.b = c.b[n:]
	return n, nil
}

// TestRecordReader reads records in every fragmentation, arriving in any pieces
// and consumed in any way.
func TestRecordReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 3*readerSize)
		var records [][]byte
		src := &chunks{sizes: rapid.SliceOfN(rapid.IntRange(1, 2*readerSize), 1, 5).Draw(t, "chunks")}
		for range rapid.IntRange(1, 4).Draw(t, "records") {
			message := make([]byte, size.Draw(t, "size"))
			for i := range message {
				message[i] = byte(i * 7 >> 2)
			}
			records = append(records, message)
			src.b = append(src.b, fragments(message, rapid.SliceOfN(rapid.IntRange(0, 2*readerSize), 0, 6).Draw(t, "fragments"))...)
		}
		s := newRecordReader(src, 1<<20)
		for _, want := range records {
			if err := s.next(); err != nil {
				t.Fatal(err)
			}
			n := rapid.IntRange(0, readerSize-4).Draw(t, "peek")
			b, err := s.peek(n)
			if err != nil || !bytes.Equal(b, want[:min(n, len(want))]) {
				t.Fatalf("peek of %d bytes of %d: %d bytes, %v", n, len(want), len(b), err)
			}
			n = rapid.IntRange(0, len(b)).Draw(t, "skip")
			s.skip(n)
			want = want[n:]
			if rapid.Bool().Draw(t, "payload") {
				p := make([]byte, rapid.IntRange(0, len(want)).Draw(t, "n"))
				if n, err := s.read(p); n != len(p) || err != nil || !bytes.Equal(p, want[:n]) {
					t.Fatalf("read of %d bytes: %d, %v", len(p), n, err)
				}
				want = want[len(p):]
			}
			if rapid.Bool().Draw(t, "rest") {
				b, err := s.appendRest([]byte("x"))
				if err != nil || !bytes.Equal(b[1:], want) {
					t.Fatalf("the rest: %d bytes of %d, %v", len(b)-1, len(want), err)
				}
			}
			if err := s.discard(); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.next(); err != io.EOF {
			t.Fatalf("after the last record: %v", err)
		}
	})
}

func TestRecordTooLong(t *testing.T) {
	for _, b := range [][]byte{
		{0x80, 0, 0, 101},
		{0xff, 0xff, 0xff, 0xff},
		{0x7f, 0xff, 0xff, 0xff},
		append(fragments(make([]byte, 60), []int{60})[:64], 0, 0, 0, 41),
	} {
		s := newRecordReader(bytes.NewReader(b), 100)
		err := s.next()
		if err == nil {
			err = s.discard()
		}
		if err != errRecordTooLong {
			t.Errorf("%x: %v", b[:4], err)
		}
	}
}

func TestRecordShorterThanPayload(t *testing.T) {
	s := newRecordReader(bytes.NewReader(append(record([]byte("abcd")), record(nil)...)), 100)
	if err := s.next(); err != nil {
		t.Fatal(err)
	}
	if n, err := s.read(make([]byte, 5)); n != 4 || err != errRecordTooShort {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := errors.Join(s.discard(), s.next()); err != nil {
		t.Errorf("the next record: %v", err)
	}
}

// TestAnnouncedIsNotAllocated makes sure that the length in a mark costs
// nothing.
func TestAnnouncedIsNotAllocated(t *testing.T) {
	mark := []byte{0xc0, 0, 0, 0} // a record of 1 GiB
	s := newRecordReader(io.MultiReader(bytes.NewReader(mark), iotest.ErrReader(io.EOF)), 1<<30)
	if err := s.next(); err != nil {
		t.Fatal(err)
	}
	if b, err := s.appendRest(nil); err != io.EOF || cap(b) > 4*readerSize {
		t.Errorf("capacity %d, %v", cap(b), err)
	}
}
