package local

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
	"eddy.example/vfs/local/handlemap"
)

// search looks for objects whose place is not known, in the whole tree. There
// is one at a time; who asks meanwhile is told to come again, and what is asked
// for while one is under way is the next one's. It holds a descriptor for each
// level that it is deep.
type search struct {
	fs *FS

	mu      sync.Mutex
	wanted  map[handlemap.Key]struct{}  // by the next pass
	gone    map[handlemap.Key]time.Time // since a pass did not find it, and nobody knows yet
	current map[handlemap.Key]struct{}  // looked for by the pass that runs; nil: none does
	wg      sync.WaitGroup

	// begin, if not nil, is called before a pass: where tests stop it.
	begin func()
}

// maxWanted bounds the objects that are looked for at a time.
const maxWanted = 1024

// goneFor is how long who has asked may take to ask again: Linux takes 5
// seconds. Later the object may be back.
const goneFor = 10 * time.Second

// wait asks for an object. vfs.ErrDelay: it is being looked for; if it is
// found, the map of places knows it then. vfs.ErrStale: a search that began
// after it was asked for has not found it.
func (s *search) wait(k handlemap.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if since, ok := s.gone[k]; ok {
		delete(s.gone, k)
		if s.fs.clock.Now().Sub(since) <= goneFor {
			return vfs.ErrStale
		}
	}
	if _, ok := s.current[k]; ok || len(s.wanted) >= maxWanted || s.fs.isClosing() {
		return vfs.ErrDelay
	}
	if s.wanted == nil {
		s.wanted = make(map[handlemap.Key]struct{})
	}
	s.wanted[k] = struct{}{}
	if s.current == nil {
		s.current = make(map[handlemap.Key]struct{})
		s.wg.Go(s.run)
	}
	return vfs.ErrDelay
}

// found takes back that an object was not found.
func (s *search) found(k handlemap.Key) {
	s.mu.Lock()
	delete(s.gone, k)
	s.mu.Unlock()
}

// run makes passes until nothing is wanted.
func (s *search) run() {
	for {
		if s.begin != nil {
			s.begin()
		}
		s.mu.Lock()
		if len(s.wanted) == 0 || s.fs.isClosing() {
			s.current = nil
			s.mu.Unlock()
			return
		}
		s.current, s.wanted = s.wanted, nil
		left := make(map[handlemap.Key]struct{}, len(s.current))
		inos := make(map[uint64]struct{}, len(s.current))
		for k := range s.current {
			left[k] = struct{}{}
			inos[k.Ino] = struct{}{}
		}
		s.mu.Unlock()

		p := pass{fs: s.fs, left: left, inos: inos, call: vfs.Call{Context: context.Background(), MayWait: true}}
		complete := p.walk(&level{dir: s.fs.root, fd: s.fs.root.mount.root})

		s.mu.Lock()
		if len(s.gone) > maxWanted {
			s.gone = nil
		}
		if s.gone == nil {
			s.gone = make(map[handlemap.Key]time.Time)
		}
		if complete {
			for k := range left {
				s.gone[k] = s.fs.clock.Now()
			}
		}
		s.current = make(map[handlemap.Key]struct{})
		s.mu.Unlock()
	}
}

// pass is one walk through the tree.
type pass struct {
	fs   *FS
	call vfs.Call
	left map[handlemap.Key]struct{} // not found yet
	inos map[uint64]struct{}        // their inode numbers
}

// level is a directory on the way down.
type level struct {
	up   *level
	name string
	fd   int
	dir  *inode // nil: not looked at, as nothing was found below
}

// walk looks through a directory and all below it. It returns false if some
// of it could not be read.
func (p *pass) walk(l *level) (complete bool) {
	fd, err := unix.Openat(l.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err == unix.EACCES // then it had no handle of ours either
	}
	defer unix.Close(fd)
	complete = true
	buf := make([]byte, 32<<10)
	for len(p.left) > 0 {
		if p.fs.isClosing() {
			return false
		}
		n, err := unix.Getdents(fd, buf)
		if err != nil {
			return false
		}
		if n == 0 {
			break
		}
		for list := buf[:n]; len(list) > 0; {
			var e dirent
			if e, list = nextDirent(list); e.isDot() {
				continue
			}
			if !p.visit(l, fd, &e) {
				complete = false
			}
		}
	}
	return complete
}

// visit looks at an entry, and below it.
func (p *pass) visit(l *level, fd int, e *dirent) (complete bool) {
	if _, ok := p.inos[e.ino]; ok || e.kind == unix.DT_UNKNOWN || p.fs.root.mount.overlay {
		if i := p.child(l, string(e.name)); i != nil {
			delete(p.left, i.key())
			if i.isDir() {
				e.kind = unix.DT_DIR
			}
		}
	}
	if e.kind != unix.DT_DIR {
		return true
	}
	var name nameBuf
	sub, err := p.fs.openAt(&p.call, fd, name.set(string(e.name)))
	if err != nil {
		return err == vfs.ErrNotExist || err == vfs.ErrAccess || err == vfs.ErrNotDir
	}
	defer unix.Close(sub)
	return p.walk(&level{up: l, name: string(e.name), fd: sub})
}

// child finds the inode of a name, and with it all directories above; their
// places are noted.
func (p *pass) child(l *level, name string) *inode {
	if l.dir == nil {
		if l.dir = p.child(l.up, l.name); l.dir == nil {
			return nil
		}
	}
	i, err := p.fs.child(&p.call, l.dir, name)
	if err != nil {
		return nil
	}
	return i
}
