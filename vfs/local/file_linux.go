package local

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// grade is what a descriptor is good for.
type grade int

const (
	gradePath  grade = iota // O_PATH: attributes, and the way to what lies below
	gradeRead               // a file's data, a directory's entries; syncs
	gradeWrite              // a file's data in both directions
)

// file is an open descriptor with a count of who uses it: calls, and the cache
// as long as it keeps it. The last one closes it.
type file struct {
	fs    *FS
	mount *mount
	fd    int
	grade grade
	refs  atomic.Int32

	mapped atomic.Pointer[mapping] // of the file's data, if there is one
}

// newFile wraps a descriptor, with one reference.
func (f *FS) newFile(m *mount, fd int, g grade) *file {
	f.openFiles.Add(1)
	h := &file{fs: f, mount: m, fd: fd, grade: g}
	h.refs.Store(1)
	return h
}

// acquire takes a reference, unless the last one is gone.
func (h *file) acquire() bool {
	for {
		n := h.refs.Load()
		if n == 0 {
			return false
		}
		if h.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (h *file) release() {
	if h.refs.Add(-1) == 0 {
		h.fs.openFiles.Add(-1)
		if m := h.mapped.Load(); m != nil {
			m.Release()
		}
		unix.Close(h.fd)
	}
}

// hold returns a descriptor of the inode's, of grade g or better, for release
// to be called. It takes no lock: two who open one thing at a time find out in
// the end, and one of them closes what he has opened.
func (f *FS) hold(c *vfs.Call, i *inode, g grade) (*file, error) {
	h, err := f.reach(c, i, g)
	return h, f.searched(i, err)
}

// reach is hold without a search for an inode that is only on the way to another:
// errNoPlace.
func (f *FS) reach(c *vfs.Call, i *inode, g grade) (*file, error) {
	if h := i.held(g); h != nil {
		i.used.Store(true)
		return h, nil
	}
	if i.removed.Load() {
		return nil, vfs.ErrStale
	}
	h := i.held(gradePath)
	if h == nil {
		fd, err := f.openPlace(c, i)
		if err != nil {
			return nil, err
		}
		h = f.adopt(c, i, fd, gradePath)
	}
	if h.grade >= g {
		return h, nil
	}
	defer h.release()
	if !c.MayWait {
		return nil, vfs.ErrWouldBlock
	}
	fd, err := f.upgrade(c, i, h, g)
	if err != nil {
		return nil, vfs.Cause(err)
	}
	better := f.newFile(i.mount, fd, g)
	better.refs.Add(1)
	if i.file.CompareAndSwap(h, better) {
		h.release()
		return better, nil
	}
	better.release()
	if other := i.held(g); other != nil {
		better.release()
		return other, nil
	}
	return better, nil
}

// held returns the cached descriptor, if it has grade g or better.
func (i *inode) held(g grade) *file {
	if h := i.file.Load(); h != nil && h.grade >= g && h.acquire() {
		return h
	}
	return nil
}

// adopt makes fd the inode's cached descriptor, if it has none and there is
// room. It returns what the caller is to use, and to release.
func (f *FS) adopt(c *vfs.Call, i *inode, fd int, g grade) *file {
	h := f.newFile(i.mount, fd, g)
	for {
		if old := i.file.Load(); old != nil && old.grade >= g && old.acquire() {
			h.release()
			return old
		} else if old != nil {
			return h
		}
		h.refs.Store(2)
		if i.file.CompareAndSwap(nil, h) {
			break
		}
		h.refs.Store(1)
	}
	if !f.files.add(c, f, i) && i.file.CompareAndSwap(h, nil) {
		h.release()
	}
	return h
}

// upgrade opens what h is open for with more rights. That is no way to open a
// device or a FIFO: the inode is a regular file or a directory.
func (f *FS) upgrade(c *vfs.Call, i *inode, h *file, g grade) (int, error) {
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY
	switch {
	case i.isDir():
		flags |= unix.O_DIRECTORY
	case i.typ != vfs.TypeRegular:
		return -1, vfs.ErrInvalid
	case g == gradeWrite:
		flags |= unix.O_RDWR
	}
	if f.procFDs >= 0 {
		return f.retry(c, func() (int, error) {
			var name nameBuf
			return openat(f.procFDs, name.setInt(h.fd), flags)
		})
	}
	p := i.place.Load()
	if p == nil {
		return -1, unix.ESTALE
	}
	parent, err := f.hold(c, p.parent, gradePath)
	if err != nil {
		return -1, err
	}
	defer parent.release()
	fd, err := f.openName(c, parent.fd, p.name.ptr(), flags)
	if err != nil {
		return -1, err
	}
	var was, is unix.Statx_t
	if fstatx(h.fd, &was) != nil || fstatx(fd, &is) != nil || !sameObject(&was, &is) {
		unix.Close(fd)
		return -1, unix.ESTALE
	}
	return fd, nil
}

func sameObject(a, b *unix.Statx_t) bool {
	return a.Ino == b.Ino && a.Dev_major == b.Dev_major && a.Dev_minor == b.Dev_minor
}

// retry opens something, and once more with fewer descriptors in the cache if
// there are too many.
func (f *FS) retry(c *vfs.Call, open func() (int, error)) (int, error) {
	fd, err := open()
	for n := 0; n < 4 && c.MayWait && (err == unix.EMFILE || err == unix.ENFILE); n++ {
		f.files.shrink(f)
		fd, err = open()
	}
	return fd, err
}

// fileCache is the bound on the descriptors that inodes keep. An inode in a
// ring that was used since the hand came by gets a second chance.
type fileCache struct {
	limit  int // of each shard
	shards [16]fileShard
}

type fileShard struct {
	mu   sync.Mutex
	ring []*inode
	hand int
}

func (s *fileCache) shard(i *inode) *fileShard { return &s.shards[i.id%uint64(len(s.shards))] }

// add notes that the inode has a descriptor. It returns false if that can't
// be kept, because the call may not wait for another's to be given up.
func (s *fileCache) add(c *vfs.Call, f *FS, i *inode) bool {
	shard := s.shard(i)
	var victim *inode
	shard.mu.Lock()
	if !i.cached && len(shard.ring) >= s.limit {
		if victim = shard.victim(c.MayWait); victim == nil {
			shard.mu.Unlock()
			return false
		}
	}
	if !i.cached {
		i.cached = true
		shard.ring = append(shard.ring, i)
	}
	i.used.Store(true)
	shard.mu.Unlock()
	if victim != nil {
		f.drop(victim)
	}
	return true
}

// victim takes an inode out of the ring: one with uncommitted data only if
// that may be synced now.
func (s *fileShard) victim(maySync bool) *inode {
	for range 2 * len(s.ring) {
		if s.hand >= len(s.ring) {
			s.hand = 0
		}
		i := s.ring[s.hand]
		if i.used.Swap(false) || i.dirty.Load() && !maySync {
			s.hand++
			continue
		}
		s.take(s.hand)
		return i
	}
	return nil
}

// take removes the inode at a position.
func (s *fileShard) take(at int) {
	last := len(s.ring) - 1
	s.ring[at].cached = false
	s.ring[at], s.ring[last] = s.ring[last], nil
	s.ring = s.ring[:last]
}

// shrink gives up some descriptors of each shard.
func (s *fileCache) shrink(f *FS) {
	s.sweep(f, func(shard *fileShard) []*inode {
		var victims []*inode
		for range (len(shard.ring) + 3) / 4 {
			if i := shard.victim(true); i != nil {
				victims = append(victims, i)
			}
		}
		return victims
	})
}

// idle gives up the descriptors that were not used since the last time.
func (s *fileCache) idle(f *FS) {
	s.sweep(f, func(shard *fileShard) (victims []*inode) {
		for at := 0; at < len(shard.ring); {
			if i := shard.ring[at]; i.used.Swap(false) {
				at++
			} else {
				shard.take(at)
				victims = append(victims, i)
			}
		}
		return victims
	})
}

// clear gives up all.
func (s *fileCache) clear(f *FS) {
	s.sweep(f, func(shard *fileShard) []*inode {
		all := shard.ring
		for _, i := range all {
			i.cached = false
		}
		shard.ring = nil
		return all
	})
}

func (s *fileCache) sweep(f *FS, pick func(*fileShard) []*inode) {
	for n := range s.shards {
		shard := &s.shards[n]
		shard.mu.Lock()
		victims := pick(shard)
		shard.mu.Unlock()
		for _, i := range victims {
			f.drop(i)
		}
	}
}

// drop gives the inode's descriptor up, after its data are safe.
func (f *FS) drop(i *inode) {
	h := i.file.Load()
	if h == nil || !h.acquire() {
		return
	}
	defer h.release()
	if i.dirty.Load() && !i.removed.Load() {
		f.commit(i, h, true)
	}
	if i.file.CompareAndSwap(h, nil) {
		h.release()
	}
}

// idleAfter is how long a descriptor is kept that nobody uses, at least and,
// nearly, at most twice: it also keeps the space of a file that was removed
// behind the server's back.
const idleAfter = 15 * time.Second

// tidy gives up idle descriptors until the FS is closed.
func (f *FS) tidy() {
	t := time.NewTicker(idleAfter)
	defer t.Stop()
	for {
		select {
		case <-f.closing:
			return
		case <-t.C:
			f.files.idle(f)
		}
	}
}
