package rpc

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

var (
	errRecordTooLong  = errors.New("rpc: record longer than allowed")
	errRecordTooShort = errors.New("record ends before its payload does")
)

const lastFragment = 1 << 31

// recordReader reads records from a stream, RFC 5531 §11. What precedes a
// payload is looked at in a small buffer; a payload goes from the source to
// where it belongs but for what the buffer has caught of it.
type recordReader struct {
	src  io.Reader
	max  int // bytes of a record, at most
	buf  []byte
	r, w int // what is in buf

	size int  // bytes of the record in the fragments seen so far
	rest int  // of them not consumed
	last bool // there are no more fragments
}

// readerSize is the size of a recordReader's buffer, and at most this much of a
// payload is copied once more.
const readerSize = 4096

func newRecordReader(src io.Reader, max int) *recordReader {
	return &recordReader{src: src, max: max, buf: make([]byte, readerSize)}
}

// next begins the next record. The one before has been consumed.
func (s *recordReader) next() error {
	s.size, s.rest, s.last = 0, 0, false
	return s.fragment()
}

// fragment begins the next fragment of a record whose fragments so far have
// been consumed up to the rest that lies in buf.
func (s *recordReader) fragment() error {
	if err := s.fill(s.rest + 4); err != nil {
		return err
	}
	mark := binary.BigEndian.Uint32(s.buf[s.r+s.rest:])
	// The rest moves up, over the mark: so it is contiguous with what follows.
	copy(s.buf[s.r+4:], s.buf[s.r:s.r+s.rest])
	s.r += 4
	n := mark &^ lastFragment
	if int64(n) > int64(s.max-s.size) {
		return errRecordTooLong
	}
	s.size += int(n)
	s.rest += int(n)
	s.last = mark&lastFragment != 0
	return nil
}

// ahead is how much has been read beyond the record, or less than 1 if that is
// not all here yet.
func (s *recordReader) ahead() int { return s.w - s.r - s.rest }

// fill makes sure that n bytes are in buf.
func (s *recordReader) fill(n int) error {
	if s.w-s.r >= n {
		return nil
	}
	if s.r+n > len(s.buf) || s.r == s.w {
		s.w = copy(s.buf, s.buf[s.r:s.w])
		s.r = 0
	}
	for s.w-s.r < n {
		k, err := s.src.Read(s.buf[s.w:])
		s.w += k
		if err != nil && s.w-s.r < n {
			return err
		}
	}
	return nil
}

// peek returns the next n bytes of the record, or all that it still has. n is
// at most readerSize-4.
func (s *recordReader) peek(n int) ([]byte, error) {
	for s.rest < n && !s.last {
		if err := s.fragment(); err != nil {
			return nil, err
		}
	}
	n = min(n, s.rest)
	if err := s.fill(n); err != nil {
		return nil, err
	}
	return s.buf[s.r : s.r+n : s.r+n], nil
}

// skip consumes n bytes that peek has returned.
func (s *recordReader) skip(n int) {
	s.r += n
	s.rest -= n
}

// read consumes bytes of the record: len(p) of them, or fewer with an error,
// which is errRecordTooShort if the record has no more. After a timeout it may
// be called again.
func (s *recordReader) read(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		if s.rest == 0 {
			if s.last {
				return n, errRecordTooShort
			}
			err = s.fragment()
			continue
		}
		var k int
		part := p[n:min(len(p), n+s.rest)]
		if s.r < s.w {
			k = copy(part, s.buf[s.r:s.w])
			s.r += k
		} else {
			k, err = s.src.Read(part)
		}
		n += k
		s.rest -= k
	}
	return n, err
}

// appendRest consumes what is left of the record and appends it to b, whose
// capacity grows with what has arrived, not with what was announced.
func (s *recordReader) appendRest(b []byte) ([]byte, error) {
	for {
		if s.rest == 0 {
			if s.last {
				return b, nil
			}
			if err := s.fragment(); err != nil {
				return b, err
			}
			continue
		}
		b = slices.Grow(b, min(s.rest, max(len(b), readerSize)))
		n, err := s.read(b[len(b):min(cap(b), len(b)+s.rest)])
		b = b[:len(b)+n]
		if err != nil {
			return b, err
		}
	}
}

// discard consumes what is left of the record.
func (s *recordReader) discard() error {
	for s.rest > 0 || !s.last {
		if s.rest == 0 {
			if err := s.fragment(); err != nil {
				return err
			}
			continue
		}
		if err := s.fill(1); err != nil {
			return err
		}
		s.skip(min(s.w-s.r, s.rest))
	}
	return nil
}
