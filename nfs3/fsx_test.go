package nfs3

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// fsx is a client that reads, writes and truncates a file of its own and its part
// of one that all share, and knows what is in both.
type fsx struct {
	t   testing.TB
	c   *Client
	rnd *rand.Rand

	own   []byte // handle
	model []byte

	shared []byte // handle
	part   []byte // what is in the part
	at     int    // where it begins
}

const (
	fsxSize = 200_000 // a file of one's own grows to at most this
	fsxPart = 70_001  // parts share pages
	fsxOps  = 200
)

// fsxData is what is written: any part of it differs from any other.
var fsxData = pattern(2 * fsxSize)

func (f *fsx) run() {
	for op := range fsxOps {
		switch f.rnd.IntN(6) {
		case 0:
			size := f.rnd.IntN(fsxSize)
			must(f.c.Setattr(ctx, f.own, &Sattr3{Size: SetSize3{true, uint64(size)}}, nil))
			f.model = append(f.model, make([]byte, fsxSize)...)[:size:size]
		case 1, 2:
			off, data := f.piece(fsxSize)
			if end := off + len(data); end > len(f.model) {
				f.model = append(f.model, make([]byte, end-len(f.model))...)
			}
			copy(f.model[off:], data)
			f.write(f.own, data, off)
		case 3:
			off, data := f.piece(fsxPart)
			copy(f.part[off:], data)
			f.write(f.shared, data, f.at+off)
		case 4:
			off, data := f.piece(fsxPart)
			f.read(op, f.shared, f.part[off:off+len(data)], f.at+off, false)
		default:
			off, data := f.piece(fsxSize)
			end := min(off+len(data), len(f.model))
			f.read(op, f.own, f.model[min(off, end):end], off, off+len(data) >= len(f.model))
		}
	}
	if size := mustGetattr(f.c, f.own).Size; size != uint64(len(f.model)) {
		f.t.Errorf("size %d, want %d", size, len(f.model))
	}
}

// piece returns random data and where to put it below max.
func (f *fsx) piece(max int) (off int, data []byte) {
	off = f.rnd.IntN(max)
	data = make([]byte, 1+f.rnd.IntN(max-off))
	if f.rnd.IntN(2) == 0 {
		data = data[:min(len(data), 5000)]
	}
	copy(data, fsxData[f.rnd.IntN(len(fsxData)/2):])
	return off, data
}

func (f *fsx) write(fh, data []byte, off int) {
	res := must(f.c.Write(ctx, fh, data, uint64(off), StableHow(f.rnd.IntN(3))))
	if int(res.Resok.Count) != len(data) {
		f.t.Errorf("wrote %d of %d bytes", res.Resok.Count, len(data))
	}
}

// read reads as much as want has, or more if eof is expected.
func (f *fsx) read(op int, fh, want []byte, off int, eof bool) {
	n := len(want)
	if eof {
		n += 1000
	}
	res := must(f.c.Read(ctx, fh, make([]byte, n), uint64(off)))
	if !bytes.Equal(res.Resok.Data, want) || eof && !res.Resok.Eof {
		f.t.Errorf("operation %d: %d bytes at %d, eof %v; want %d bytes, eof %v, or other ones",
			op, len(res.Resok.Data), off, res.Resok.Eof, len(want), eof)
	}
}

// TestFsx runs several such clients at once, over TCP.
func TestFsx(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w, _ := serveMem(t)
			addr := w.listen()
			main := w.dial(addr, &user)
			dir := mustMount(main, "/")
			const clients = 4
			shared := mustCreate(main, dir, "shared", nil)
			must(main.Setattr(ctx, shared, &Sattr3{Size: SetSize3{true, clients * fsxPart}}, nil))
			var all [clients]fsx
			var wg sync.WaitGroup
			for i := range all {
				f := &all[i]
				*f = fsx{
					t: t, c: w.dial(addr, &user), rnd: rand.New(rand.NewPCG(seed, uint64(i))),
					own:    mustCreate(main, dir, fmt.Sprint(i), nil),
					shared: shared, part: make([]byte, fsxPart), at: i * fsxPart,
				}
				wg.Go(f.run)
			}
			wg.Wait()
			res := must(main.Read(ctx, shared, make([]byte, clients*fsxPart), 0))
			for i := range all {
				if got := res.Resok.Data[i*fsxPart:][:fsxPart]; !bytes.Equal(got, all[i].part) {
					t.Errorf("part %d is not what was written", i)
				}
			}
		})
	}
}
