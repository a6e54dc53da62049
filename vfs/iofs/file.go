package iofs

import (
	"io"
	"io/fs"
	"math"
	"sync"
	"time"

	"eddy.example/vfs"
)

// file is an open file that is kept for the next call.
type file struct {
	path  object
	size  int64
	mtime time.Time
	refs  int // guarded by FS.mu: calls that use it, and 1 for the cache

	at io.ReaderAt // nil: read by what follows

	mu     sync.Mutex // held while the position matters
	f      fs.File
	seeker io.Seeker // nil: read from front to back
	pos    int64     // of a file without seeker
}

// unchanged reports whether the file looks as it did when it was opened.
func (h *file) unchanged(info fs.FileInfo) bool {
	return h.size == info.Size() && h.mtime.Equal(info.ModTime())
}

// Read reads a regular file.
func (f *FS) Read(c *vfs.Call, o vfs.Object, p []byte, off uint64) (n int, eof bool, err error) {
	path := o.(object)
	var a vfs.Attr
	info, err := f.stat(path, &a)
	if err != nil {
		return 0, false, gone(err)
	}
	switch a.Type {
	case vfs.TypeRegular:
	case vfs.TypeDirectory:
		return 0, false, vfs.ErrIsDir
	default:
		return 0, false, vfs.ErrInvalid
	}
	if err := c.Cred.CheckIO(&a, vfs.PermRead); err != nil {
		return 0, false, err
	}
	if off >= a.Size {
		return 0, true, nil
	}
	want := int(min(uint64(len(p)), a.Size-off))
	h, err := f.open(path, info)
	if err != nil {
		return 0, false, gone(err)
	}
	defer f.release(h)
	n, err = f.read(h, p[:want], int64(off))
	if err != nil && err != io.EOF {
		return 0, false, err
	}
	// Less than wanted: the file has become shorter since it was looked at.
	return n, n < want || off+uint64(n) == a.Size, nil
}

// read reads by the best way there is. A short read has io.EOF.
func (f *FS) read(h *file, p []byte, off int64) (n int, err error) {
	if h.at != nil {
		return h.at.ReadAt(p, off)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.seeker == nil {
		return f.readBlocks(h, p, off)
	}
	if _, err := h.seeker.Seek(off, io.SeekStart); err != nil {
		return 0, err
	}
	n, err = io.ReadFull(h.f, p)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

// blockSize is the unit in which files without ReadAt and Seek are remembered.
const blockSize = 64 << 10

type blockKey struct {
	file *file
	n    int64
}

// readBlocks reads a file that can only be read from front to back. h.mu is
// held.
func (f *FS) readBlocks(h *file, p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		b, err := f.block(h, at/blockSize)
		if err != nil {
			return n, err
		}
		in := int(at % blockSize)
		if in >= len(b) {
			return n, io.EOF
		}
		n += copy(p[n:], b[in:])
	}
	return n, nil
}

// block returns block n of the file: shorter at the file's end, empty behind it.
// What has to be read to get there is remembered.
func (f *FS) block(h *file, n int64) ([]byte, error) {
	f.mu.Lock()
	b, ok := f.blocks.get(blockKey{h, n})
	f.unlock()
	if ok {
		return b, nil
	}
	if h.pos > n*blockSize {
		again, err := f.fsys.Open(string(h.path))
		if err != nil {
			return nil, gone(err)
		}
		h.f.Close()
		h.f, h.pos = again, 0
	}
	for {
		this := h.pos / blockSize
		b := make([]byte, min(blockSize, max(0, h.size-h.pos)))
		k, err := io.ReadFull(h.f, b)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			h.pos = math.MaxInt64 // begin anew the next time
			return nil, err
		}
		h.pos += int64(k)
		if k == 0 {
			return nil, nil
		}
		f.mu.Lock()
		f.blocks.put(blockKey{h, this}, b[:k], len(b))
		f.unlock()
		if this == n {
			return b[:k], nil
		}
		if k < blockSize {
			return nil, nil
		}
	}
}

// open returns the open file, whose FileInfo is info, for release to be called.
func (f *FS) open(path object, info fs.FileInfo) (*file, error) {
	f.mu.Lock()
	h, ok := f.files.get(path)
	if ok && h.unchanged(info) {
		h.refs++
	} else {
		h = nil
	}
	f.unlock()
	if h != nil {
		return h, nil
	}
	opened, err := f.fsys.Open(string(path))
	if err != nil {
		return nil, err
	}
	now, err := opened.Stat()
	if err == nil && !now.Mode().IsRegular() {
		err = vfs.ErrStale
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	h = &file{path: path, size: now.Size(), mtime: now.ModTime(), refs: 2, f: opened}
	h.at, _ = opened.(io.ReaderAt)
	h.seeker, _ = opened.(io.Seeker)
	f.mu.Lock()
	f.files.put(path, h, 1)
	f.unlock()
	return h, nil
}

func (f *FS) release(h *file) {
	f.mu.Lock()
	f.unref(h)
	f.unlock()
}

// unref takes one reference; without any the file is closed when f.mu, which is
// held, is unlocked.
func (f *FS) unref(h *file) {
	if h.refs--; h.refs == 0 {
		f.doomed = append(f.doomed, h.f)
	}
}
