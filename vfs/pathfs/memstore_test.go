package pathfs

import (
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"eddy.example/vfs"
)

// memStore is a map from paths to objects.
type memStore struct {
	mu      sync.Mutex
	objects map[string]*object
}

type object struct {
	name   string
	mode   fs.FileMode
	target string // of a link
	pages  map[int64]*[pageSize]byte
	size   int64
	mtime  time.Time
}

const pageSize = 4096

// move copies between p and the pages at off; a page that is not there has
// zeros.
func (o *object) move(p []byte, off int64, write bool) {
	for len(p) > 0 {
		i, at := off/pageSize, off%pageSize
		n := min(len(p), pageSize-int(at))
		page := o.pages[i]
		if page == nil && write {
			page = new([pageSize]byte)
			if o.pages == nil {
				o.pages = map[int64]*[pageSize]byte{}
			}
			o.pages[i] = page
		}
		switch {
		case write:
			copy(page[at:], p[:n])
		case page == nil:
			clear(p[:n])
		default:
			copy(p[:n], page[at:])
		}
		p, off = p[n:], off+int64(n)
	}
}

func (o *object) Name() string       { return o.name }
func (o *object) Size() int64        { return max(o.size, int64(len(o.target))) }
func (o *object) Mode() fs.FileMode  { return o.mode }
func (o *object) ModTime() time.Time { return o.mtime }
func (o *object) IsDir() bool        { return o.mode.IsDir() }
func (o *object) Sys() any           { return nil }

func newMemStore() *memStore {
	return &memStore{objects: map[string]*object{".": {name: ".", mode: fs.ModeDir | 0o755, mtime: time.Now()}}}
}

func (s *memStore) get(name string) (*object, error) {
	if o := s.objects[name]; o != nil {
		return o, nil
	}
	return nil, fs.ErrNotExist
}

// make makes an object.
func (s *memStore) make(name string, mode fs.FileMode, target string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[name] != nil {
		return fs.ErrExist
	}
	dir := s.objects[path.Dir(name)]
	if dir == nil {
		return fs.ErrNotExist
	}
	dir.mtime = time.Now()
	s.objects[name] = &object{name: path.Base(name), mode: mode, target: target, mtime: time.Now()}
	return nil
}

func (s *memStore) Stat(name string) (fs.FileInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.get(name)
	if err != nil {
		return nil, err
	}
	info := *o
	return &info, nil
}

func (s *memStore) ReadDir(name string) (list []fs.FileInfo, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, err := s.get(name); err != nil || !o.IsDir() {
		return nil, vfs.ErrNotDir
	}
	for p, o := range s.objects {
		if p != "." && path.Dir(p) == name {
			info := *o
			list = append(list, &info)
		}
	}
	return list, nil
}

func (s *memStore) ReadAt(name string, p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.get(name)
	if err != nil {
		return 0, err
	}
	n := int(max(0, min(int64(len(p)), o.size-off)))
	o.move(p[:n], off, false)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (s *memStore) WriteAt(name string, p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.get(name)
	if err != nil {
		return 0, err
	}
	if off+int64(len(p)) > maxMem {
		return 0, vfs.ErrFileTooBig
	}
	o.move(p, off, true)
	o.size, o.mtime = max(o.size, off+int64(len(p))), time.Now()
	return len(p), nil
}

// maxMem is how large a file of a memStore may be.
const maxMem = 1 << 40

func (s *memStore) Truncate(name string, size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.get(name)
	if err != nil {
		return err
	}
	if size > maxMem {
		return vfs.ErrFileTooBig
	}
	if size < o.size {
		for i := range o.pages {
			if i >= (size+pageSize-1)/pageSize {
				delete(o.pages, i)
			}
		}
		if page := o.pages[size/pageSize]; page != nil {
			clear(page[size%pageSize:])
		}
	}
	o.size, o.mtime = size, time.Now()
	return nil
}

func (s *memStore) Create(name string, perm fs.FileMode) error { return s.make(name, perm, "") }
func (s *memStore) Mkdir(name string, perm fs.FileMode) error {
	return s.make(name, fs.ModeDir|perm, "")
}
func (s *memStore) Symlink(target, name string) error {
	return s.make(name, fs.ModeSymlink|0o777, target)
}

func (s *memStore) Readlink(name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.get(name)
	if err != nil {
		return "", err
	}
	return o.target, nil
}

func (s *memStore) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.get(name); err != nil {
		return err
	}
	delete(s.objects, name)
	s.objects[path.Dir(name)].mtime = time.Now()
	return nil
}

func (s *memStore) Rename(from, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.get(from); err != nil {
		return err
	}
	moved := map[string]*object{}
	for p, o := range s.objects {
		if rest, ok := strings.CutPrefix(p, from); ok && (rest == "" || rest[0] == '/') {
			delete(s.objects, p)
			moved[to+rest] = o
		}
	}
	for p, o := range moved {
		o.name = path.Base(p)
		s.objects[p] = o
	}
	s.objects[path.Dir(from)].mtime, s.objects[path.Dir(to)].mtime = time.Now(), time.Now()
	return nil
}

func (s *memStore) Chmod(name string, perm fs.FileMode) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.get(name)
	if err == nil {
		o.mode = o.mode&^0o777 | perm
	}
	return err
}

func (s *memStore) Chtimes(name string, _, mtime time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.get(name)
	if err == nil && !mtime.IsZero() {
		o.mtime = mtime
	}
	return err
}
