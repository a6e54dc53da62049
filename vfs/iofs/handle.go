package iofs

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"strings"

	"eddy.example/vfs"
)

// A handle's first byte says of which kind it is.
const (
	inlineHandle = 1 // then the path, empty for the root
	hashedHandle = 2 // then the path's hash and a hint for each of the first names in it
)

const (
	maxInline = vfs.MaxHandle - 1
	hashSize  = 16
	maxHints  = vfs.MaxHandle - 1 - hashSize
)

// AppendHandle appends the object's handle: 1 to 40 bytes.
func (f *FS) AppendHandle(b []byte, o vfs.Object) []byte {
	p := o.(object)
	if p == root {
		return append(b, inlineHandle)
	}
	if len(p) <= maxInline {
		b = append(b, inlineHandle)
		return append(b, p...)
	}
	b = append(b, hashedHandle)
	h := hash(p)
	b = append(b, h[:]...)
	rest, more := string(p), true
	for n := 0; n < maxHints && more; n++ {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		b = append(b, hint(name))
	}
	f.mu.Lock()
	if _, ok := f.objects.get(h); !ok {
		f.objects.put(h, o, 1)
	}
	f.unlock()
	return b
}

// Resolve finds an object. Whether a short path still exists shows when the
// object is used.
func (f *FS) Resolve(c *vfs.Call, h []byte) (vfs.Object, error) {
	if len(h) == 0 {
		return root, nil
	}
	switch h[0] {
	case inlineHandle:
		if len(h) == 1 {
			return root, nil
		}
		if p := string(h[1:]); fs.ValidPath(p) {
			return object(p), nil
		}
	case hashedHandle:
		if len(h) > 1+hashSize && len(h) <= vfs.MaxHandle {
			return f.find(c.Context, h)
		}
	}
	return nil, vfs.ErrBadHandle
}

// find finds the path of a hashed handle.
func (f *FS) find(ctx context.Context, h []byte) (vfs.Object, error) {
	f.mu.Lock()
	o, ok := f.objects.get([hashSize]byte(h[1:]))
	f.unlock()
	if ok {
		return o, nil
	}
	if !f.searching.TryLock() {
		return nil, vfs.ErrDelay
	}
	defer f.searching.Unlock()
	s := search{fs: f, ctx: ctx, want: [hashSize]byte(h[1:]), hints: h[1+hashSize:]}
	p, err := s.below(root, 0)
	if err != nil {
		return nil, err
	}
	o = p
	f.mu.Lock()
	f.objects.put(s.want, o, 1)
	f.unlock()
	return o, nil
}

// search is a search for a path whose hash is known, and of whose first names
// a byte of hash each.
type search struct {
	fs    *FS
	ctx   context.Context
	want  [hashSize]byte
	hints []byte
}

// below searches the directory d, which lies so many names below the root. The
// error is ErrStale if everything was read and nothing found.
func (s *search) below(d object, depth int) (object, error) {
	if s.ctx.Err() != nil {
		return "", vfs.ErrDelay
	}
	var a vfs.Attr
	if err := s.fs.statDir(d, &a); err != nil {
		return "", err
	}
	entries, err := s.fs.list(d, a.Mtime)
	if err != nil {
		return "", err
	}
	failed := vfs.ErrStale
	for _, e := range entries {
		if depth < len(s.hints) && hint(e.Name()) != s.hints[depth] {
			continue
		}
		p := d.child(e.Name())
		if depth+1 >= len(s.hints) && hash(p) == s.want {
			return p, nil
		}
		// Where the hints end the path ends too, if there was room for more.
		if !e.IsDir() || depth+1 >= len(s.hints) && len(s.hints) < maxHints {
			continue
		}
		found, err := s.below(p, depth+1)
		if err == nil {
			return found, nil
		}
		if err != vfs.ErrStale && err != vfs.ErrNotDir {
			failed = err
		}
	}
	return "", failed
}

// hash is what a long path is known by.
func hash(p object) (h [hashSize]byte) {
	sum := sum256(p)
	copy(h[:], sum[:])
	return h
}

func fileID(p object) uint64 {
	sum := sum256(p)
	return binary.BigEndian.Uint64(sum[hashSize:])
}

func hint(name string) byte {
	sum := sum256(object(name))
	return sum[0]
}

func sum256(p object) [sha256.Size]byte {
	var buf [256]byte
	return sha256.Sum256(append(buf[:0], p...))
}
