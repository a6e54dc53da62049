package fsx

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"eddy.example/nfs3"
)

// Config says what is tested.
type Config struct {
	Seed uint64
	// Clients is how many work at once, Steps how much each does; 0: 4 and 200.
	Clients, Steps int
	// Dial returns a client that lasts as long as the test.
	Dial func() *nfs3.Client
	// Dir is an empty directory, and the clients may write to it.
	Dir []byte
}

const (
	ownSize  = 200_000 // a file of one's own grows to at most this
	partSize = 70_001  // parts share pages
)

// source is what is written: any part of it differs from any other.
var source = func() []byte {
	b := make([]byte, 2*ownSize)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}()

// client knows what is in its files.
type client struct {
	t   testing.TB
	nfs *nfs3.Client
	rnd *rand.Rand

	own   []byte // handle
	model []byte

	shared []byte // handle
	part   []byte // what is in the part
	at     int    // where it begins
}

// Run makes the files and lets the clients work on them.
func Run(t testing.TB, c Config) {
	if c.Clients == 0 {
		c.Clients = 4
	}
	if c.Steps == 0 {
		c.Steps = 200
	}
	main := c.Dial()
	shared, err := create(main, c.Dir, "shared")
	if err == nil {
		err = resize(main, shared, c.Clients*partSize)
	}
	if err != nil {
		t.Fatalf("fsx: %v", err)
	}
	all := make([]*client, c.Clients)
	for i := range all {
		f := &client{
			t: t, nfs: c.Dial(), rnd: rand.New(rand.NewPCG(c.Seed, uint64(i))),
			shared: shared, part: make([]byte, partSize), at: i * partSize,
		}
		if f.own, err = create(f.nfs, c.Dir, fmt.Sprint(i)); err != nil {
			t.Fatalf("fsx: %v", err)
		}
		all[i] = f
	}
	var group sync.WaitGroup
	for i, f := range all {
		group.Go(func() {
			if err := f.run(c.Steps); err != nil {
				t.Errorf("fsx: seed %d, client %d: %v", c.Seed, i, err)
			}
		})
	}
	group.Wait()
	for i, f := range all {
		if err := read(main, shared, f.part, f.at, false); err != nil {
			t.Errorf("fsx: seed %d: part %d: %v", c.Seed, i, err)
		}
		if err := read(main, f.own, f.model, 0, true); err != nil {
			t.Errorf("fsx: seed %d: file %d: %v", c.Seed, i, err)
		}
	}
}

func (f *client) run(steps int) error {
	for step := range steps {
		if err := f.step(); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	res, err := f.nfs.Getattr(ctx, f.own)
	if err == nil && int(res.Resok.ObjAttributes.Size) != len(f.model) {
		err = fmt.Errorf("size %d, want %d", res.Resok.ObjAttributes.Size, len(f.model))
	}
	return err
}

func (f *client) step() error {
	switch f.rnd.IntN(7) {
	case 0:
		size := f.rnd.IntN(ownSize)
		f.model = append(f.model, make([]byte, ownSize)...)[:size:size]
		return resize(f.nfs, f.own, size)
	case 1, 2:
		off, data := f.piece(ownSize)
		if end := off + len(data); end > len(f.model) {
			f.model = append(f.model, make([]byte, end-len(f.model))...)
		}
		copy(f.model[off:], data)
		return f.write(f.own, data, off)
	case 3:
		off, data := f.piece(partSize)
		copy(f.part[off:], data)
		return f.write(f.shared, data, f.at+off)
	case 4:
		off, data := f.piece(partSize)
		return read(f.nfs, f.shared, f.part[off:off+len(data)], f.at+off, false)
	case 5:
		_, err := f.nfs.Commit(ctx, f.own, 0, 0)
		return err
	default:
		off, data := f.piece(ownSize)
		end := min(off+len(data), len(f.model))
		return read(f.nfs, f.own, f.model[min(off, end):end], off, off+len(data) >= len(f.model))
	}
}

// piece returns random data and where to put it below max.
func (f *client) piece(max int) (off int, data []byte) {
	off = f.rnd.IntN(max)
	data = make([]byte, 1+f.rnd.IntN(max-off))
	if f.rnd.IntN(2) == 0 {
		data = data[:min(len(data), 5000)]
	}
	copy(data, source[f.rnd.IntN(len(source)/2):])
	return off, data
}

func (f *client) write(fh, data []byte, off int) error {
	res, err := f.nfs.Write(ctx, fh, data, uint64(off), nfs3.StableHow(f.rnd.IntN(3)))
	if err == nil && int(res.Resok.Count) != len(data) {
		err = fmt.Errorf("wrote %d of %d bytes at %d", res.Resok.Count, len(data), off)
	}
	return err
}

var ctx = context.Background()

// read reads as much as want has, or more if eof is expected.
func read(c *nfs3.Client, fh, want []byte, off int, eof bool) error {
	n := len(want)
	if eof {
		n += 1000
	}
	res, err := c.Read(ctx, fh, make([]byte, n), uint64(off))
	if err != nil {
		return err
	}
	if got := res.Resok; !bytes.Equal(got.Data, want) || eof && !bool(got.Eof) {
		return fmt.Errorf("%d bytes at %d, eof %v; want %d bytes, eof %v, or other ones", len(got.Data), off, got.Eof, len(want), eof)
	}
	return nil
}

func create(c *nfs3.Client, dir []byte, name string) ([]byte, error) {
	how := nfs3.Createhow3{Mode: nfs3.GUARDED, ObjAttributes: nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: 0o644}}}
	res, err := c.Create(ctx, dir, name, &how)
	return res.Resok.Obj.Handle.Data, err
}

func resize(c *nfs3.Client, fh []byte, size int) error {
	s := nfs3.Sattr3{Size: nfs3.SetSize3{SetIt: true, Size: nfs3.Size3(size)}}
	_, err := c.Setattr(ctx, fh, &s, nil)
	return err
}
