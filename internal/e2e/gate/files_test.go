package gate

import (
	"fmt"
	"sync"
	"testing"

	"eddy.example/vfs"
)

// fileCount is how many files there are, "0" to "7", each of fileSize bytes.
const (
	fileCount = 8
	fileSize  = 1 << 35
)

// files is a backend whose files are made of words that tell where they are
// from. Every READ is answered with a generation of its own, which is noted for
// who wants to check the reply. An object is a file's number, or -1, the root.
type files struct {
	mu          sync.Mutex
	last        uint64
	generations map[place]uint64
}

// place is what a READ asks for, at a multiple of eight. A test asks for each
// place once.
type place struct {
	file, offset uint64
}

func newFiles() *files { return &files{generations: make(map[place]uint64)} }

// HonoursMayWait lets the server call from its event loops.
func (f *files) HonoursMayWait() {}

func (f *files) Resolve(_ *vfs.Call, h []byte) (vfs.Object, error) {
	switch {
	case len(h) == 0:
		return -1, nil
	case len(h) == 1 && h[0] < fileCount:
		return int(h[0]), nil
	}
	return nil, vfs.ErrBadHandle
}

func (f *files) AppendHandle(b []byte, o vfs.Object) []byte {
	if i := o.(int); i >= 0 {
		b = append(b, byte(i))
	}
	return b
}

func (f *files) Lookup(c *vfs.Call, dir vfs.Object, name string, a *vfs.Attr) (vfs.Object, error) {
	if dir != -1 || len(name) != 1 || name[0] < '0' || name[0] >= '0'+fileCount {
		return nil, vfs.ErrNotExist
	}
	o := int(name[0] - '0')
	if a == nil {
		return o, nil
	}
	return o, f.Getattr(c, o, 0, a)
}

func (f *files) Getattr(_ *vfs.Call, o vfs.Object, _ vfs.AttrMask, a *vfs.Attr) error {
	i := o.(int)
	*a = vfs.Attr{Mask: vfs.AttrBasic, Type: vfs.TypeDirectory, Mode: 0o555, Nlink: 2, FileID: uint64(i + 2)}
	if i >= 0 {
		a.Type, a.Mode, a.Nlink, a.Size = vfs.TypeRegular, 0o444, 1, fileSize
	}
	return nil
}

func (f *files) Read(_ *vfs.Call, o vfs.Object, p []byte, off uint64) (int, bool, error) {
	if off >= fileSize {
		return 0, true, nil
	}
	p = p[:min(uint64(len(p)), fileSize-off)]
	at := place{uint64(o.(int)), off}
	f.mu.Lock()
	f.last++
	generation := f.last
	f.generations[at] = generation
	f.mu.Unlock()
	origin{at.file, generation, off}.fill(p)
	return len(p), off+uint64(len(p)) == fileSize, nil
}

func (f *files) ReadDir(*vfs.Call, vfs.Object, vfs.Cookie, vfs.AttrMask, func(*vfs.DirEntry) bool) (bool, error) {
	return false, vfs.ErrNotSupported
}

// check reports whether data are what was read at a place.
func (f *files) check(at place, data []byte) error {
	f.mu.Lock()
	generation, ok := f.generations[at]
	f.mu.Unlock()
	if !ok {
		return fmt.Errorf("file %d offset %d was never read", at.file, at.offset)
	}
	return origin{at.file, generation, at.offset}.check(data)
}

func TestFilesKnowTheirAnswers(t *testing.T) {
	f := newFiles()
	p, q := make([]byte, 100), make([]byte, 100)
	for i, p := range [][]byte{p, q} {
		if n, eof, err := f.Read(nil, 3, p, 4096*uint64(i)); n != 100 || eof || err != nil {
			t.Fatal(n, eof, err)
		}
	}
	if err := f.check(place{3, 0}, p); err != nil {
		t.Error(err)
	}
	if err := f.check(place{3, 4096}, p); err == nil {
		t.Error("one READ's data pass for another's")
	}
}
