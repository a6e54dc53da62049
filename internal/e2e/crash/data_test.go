package crash

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// fill makes p the bytes from off on that the write with that number has.
func fill(p []byte, number uint64, off int64) {
	var word [8]byte
	for i := range p {
		at := off + int64(i)
		if i == 0 || at%8 == 0 {
			binary.LittleEndian.PutUint64(word[:], rand.NewPCG(number, uint64(at/8)).Uint64())
		}
		p[i] = word[at%8]
	}
}

// change is a write, or if cut is set, a change of the size to off.
type change struct {
	number   uint64
	off, end int64
	cut      bool
	required bool // to be on the disk; else it may be, all or in part
}

// page is one of the page cache: each is written back by itself.
const page = 4096

// contents are a file's data, as the changes since it was made. Only the last one
// may be a cut that is not required.
type contents []change

// commit makes all changes required.
func (c contents) commit() {
	for i := range c {
		c[i].required = true
	}
}

// check says why a file with data as its contents has not had these changes.
func (c contents) check(data []byte) error {
	size := int64(len(data))
	var least, most int64
	cut := int64(-1)
	edges := []int64{0, size}
	for _, e := range c {
		edges = append(edges, e.off, e.end)
		switch {
		case e.cut && e.required:
			least, most = e.off, e.off
		case e.cut:
			cut = e.off
		case e.required:
			least, most = max(least, e.end), max(most, e.end)
		default:
			most = max(most, e.end)
		}
	}
	// XFS writes back the page that has the end of a file before it makes the file longer, all of it.
	growing := least < size && size < cut && size%page == 0
	if (size < least || size > most) && size != cut && !growing {
		return fmt.Errorf("size %d, want %d to %d", size, least, most)
	}
	for at := int64(page); at < size; at += page {
		edges = append(edges, at)
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	for i := 1; i < len(edges) && edges[i] <= size; i++ {
		if err := c.checkPart(data[edges[i-1]:edges[i]], edges[i-1]); err != nil {
			return err
		}
	}
	return nil
}

// checkPart checks bytes that no change covers in part.
func (c contents) checkPart(part []byte, off int64) error {
	possible := [][]byte{make([]byte, len(part))}
	for _, e := range c {
		covers := e.off <= off && (e.cut || off < e.end)
		if !covers {
			continue
		}
		p := make([]byte, len(part))
		if !e.cut {
			fill(p, e.number, off)
		}
		if e.required {
			possible = possible[:0]
		}
		possible = append(possible, p)
	}
	if slices.ContainsFunc(possible, func(p []byte) bool { return bytes.Equal(p, part) }) {
		return nil
	}
	// A page that was written back while it was filled.
	for i, b := range part {
		if !slices.ContainsFunc(possible, func(p []byte) bool { return p[i] == b }) {
			return fmt.Errorf("at %d: %d, of %d possible values none", off+int64(i), b, len(possible))
		}
	}
	return nil
}

func TestContents(t *testing.T) {
	bytesOf := func(number uint64, off, end int64) []byte {
		p := make([]byte, end-off)
		fill(p, number, off)
		return p
	}
	a, b := bytesOf(1, 0, 5000), bytesOf(2, 1000, 6000)
	ab := slices.Concat(a[:1000], b)
	write := func(n uint64, off, end int64, required bool) change {
		return change{number: n, off: off, end: end, required: required}
	}
	for _, c := range []struct {
		name string
		c    contents
		data []byte
		ok   bool
	}{
		{"nothing", nil, nil, true},
		{"nothing, but there", nil, a, false},
		{"required", contents{write(1, 0, 5000, true)}, a, true},
		{"required, short", contents{write(1, 0, 5000, true)}, a[:4096], false},
		{"required, zeros", contents{write(1, 0, 5000, true)}, make([]byte, 5000), false},
		{"required, another's", contents{write(2, 0, 5000, true)}, a, false},
		{"doubtful, absent", contents{write(1, 0, 5000, false)}, nil, true},
		{"doubtful, part", contents{write(1, 0, 5000, false)}, a[:4096], true},
		{"doubtful, more", contents{write(1, 0, 5000, false)}, append(slices.Clone(a), 0), false},
		{"over it, old", contents{write(1, 0, 5000, true), write(2, 1000, 6000, false)}, a, true},
		{"over it, new", contents{write(1, 0, 5000, true), write(2, 1000, 6000, false)}, ab, true},
		{"over it, a page each", contents{write(1, 0, 5000, true), write(2, 1000, 6000, false)}, slices.Concat(ab[:4096], a[4096:]), true},
		{"over it, required", contents{write(1, 0, 5000, true), write(2, 1000, 6000, true)}, a, false},
		{"under what is required", contents{write(1, 0, 5000, false), write(2, 1000, 6000, true)}, slices.Concat(make([]byte, 1000), b), true},
		{"cut", contents{write(1, 0, 5000, true), {off: 100, end: 100, cut: true, required: true}}, a[:100], true},
		{"cut, not done", contents{write(1, 0, 5000, true), {off: 100, end: 100, cut: true, required: true}}, a, false},
		{"cut, in doubt", contents{write(1, 0, 5000, true), {off: 100, end: 100, cut: true}}, a, true},
		{"growth in doubt, to its page", contents{write(1, 0, 5000, true), {off: 20000, end: 20000, cut: true}}, slices.Concat(a, make([]byte, 8192-5000)), true},
		{"growth in doubt, further", contents{write(1, 0, 5000, true), {off: 20000, end: 20000, cut: true}}, slices.Concat(a, make([]byte, 9000-5000)), false},
		{"cut and grown", contents{write(1, 0, 5000, true), {off: 100, end: 100, cut: true, required: true}, {off: 5000, end: 5000, cut: true, required: true}},
			slices.Concat(a[:100], make([]byte, 4900)), true},
		{"cut and grown, old data", contents{write(1, 0, 5000, true), {off: 100, end: 100, cut: true, required: true}, {off: 5000, end: 5000, cut: true, required: true}},
			a, false},
	} {
		if err := c.c.check(c.data); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
