package memfs

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"eddy.example/vfs"
)

// DefaultBytes is how much a file system holds if Config.Bytes does not say.
const DefaultBytes = 1 << 30

// Config describes a new file system. The zero Config is fine.
type Config struct {
	// Bytes is how much the file system may hold. 0: DefaultBytes.
	Bytes int64

	// RootMode, RootUID and RootGID are the root directory's. A mode of 0
	// stands for 0755: then only RootUID, and root, can write there.
	RootMode         uint32
	RootUID, RootGID uint32

	// Now is the clock. nil: time.Now.
	Now func() time.Time
}

// FS is a file system. All methods may be called concurrently.
type FS struct {
	now   func() time.Time
	space space
	root  *inode

	// generation makes the handles of different FS differ.
	generation uint64
	verifier   vfs.Verifier

	lastIno atomic.Uint64
	inodes  table

	ns sync.Mutex // held by who changes names, see the package comment
}

var _ interface {
	vfs.FS
	vfs.Waiter
	vfs.Exclusive
	vfs.LinkReader
	vfs.Accesser
	vfs.Statfser
	vfs.Limiter
	vfs.Writer
	vfs.Committer
	vfs.AttrSetter
	vfs.Creator
	vfs.Mkdirer
	vfs.Symlinker
	vfs.Mknoder
	vfs.Remover
	vfs.Rmdirer
	vfs.Renamer
	vfs.Linker
} = (*FS)(nil)

// New returns a file system with nothing but its root.
func New(c Config) *FS {
	if c.Bytes == 0 {
		c.Bytes = DefaultBytes
	}
	if c.RootMode == 0 {
		c.RootMode = 0o755
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	fs := &FS{now: c.Now}
	fs.space.limit = c.Bytes
	var random [16]byte
	rand.Read(random[:])
	fs.generation = binary.BigEndian.Uint64(random[:8])
	copy(fs.verifier[:], random[8:])

	fs.root = fs.newInode(vfs.TypeDirectory)
	fs.root.attr.Mode = c.RootMode & permissions
	fs.root.attr.UID, fs.root.attr.GID = c.RootUID, c.RootGID
	fs.root.dir.parent = fs.root
	fs.inodes.add(fs.root)
	return fs
}

// HonoursMayWait says that no method ever waits for anything but a short lock.
func (fs *FS) HonoursMayWait() {}

// ExclusiveAccess says that nobody changes the data but through fs.
func (fs *FS) ExclusiveAccess() {}

// handleSize is the length of a handle: inode number and generation.
const handleSize = 16

// AppendHandle appends o's handle, 16 bytes.
func (fs *FS) AppendHandle(b []byte, o vfs.Object) []byte {
	b = binary.BigEndian.AppendUint64(b, o.(*inode).attr.FileID)
	return binary.BigEndian.AppendUint64(b, fs.generation)
}

// Resolve finds the object a handle names, as long as it has a name.
func (fs *FS) Resolve(_ *vfs.Call, h []byte) (vfs.Object, error) {
	if len(h) == 0 {
		return fs.root, nil
	}
	if len(h) != handleSize {
		return nil, vfs.ErrBadHandle
	}
	if binary.BigEndian.Uint64(h[8:]) != fs.generation {
		return nil, vfs.ErrStale
	}
	if i := fs.inodes.get(binary.BigEndian.Uint64(h)); i != nil {
		return i, nil
	}
	return nil, vfs.ErrStale
}

// Statfs reports the limit and what is left. Files are counted as if what is
// left were used for nothing else.
func (fs *FS) Statfs(_ *vfs.Call, _ vfs.Object, s *vfs.Statfs) error {
	total := uint64(fs.space.limit)
	free := uint64(max(0, fs.space.limit-fs.space.used.Load()))
	*s = vfs.Statfs{
		TotalBytes: total, FreeBytes: free, AvailBytes: free,
		TotalFiles: total / inodeCost, FreeFiles: free / inodeCost, AvailFiles: free / inodeCost,
	}
	return nil
}

const maxLink = 32000

// Limits are those of a usual Unix file system.
func (fs *FS) Limits() vfs.Limits {
	l := vfs.DefaultLimits()
	l.MaxFileSize, l.MaxLink = maxFileSize, maxLink
	return l
}

const maxFileSize = math.MaxInt64

// space counts the bytes that the file system holds against its limit.
type space struct {
	limit int64
	used  atomic.Int64
}

// take takes n bytes, or none and returns false.
func (s *space) take(n int64) bool {
	for {
		used := s.used.Load()
		if n > s.limit-used {
			return false
		}
		if s.used.CompareAndSwap(used, used+n) {
			return true
		}
	}
}

func (s *space) give(n int64) { s.used.Add(-n) }

// table finds inodes by number. It is split so that lookups on different
// cores seldom meet at one lock.
type table [64]struct {
	sync.RWMutex
	inodes map[uint64]*inode
	_      [32]byte // a cache line of its own
}

func (t *table) get(ino uint64) *inode {
	s := &t[ino%uint64(len(t))]
	s.RLock()
	i := s.inodes[ino]
	s.RUnlock()
	return i
}

func (t *table) add(i *inode) {
	s := &t[i.attr.FileID%uint64(len(t))]
	s.Lock()
	if s.inodes == nil {
		s.inodes = make(map[uint64]*inode)
	}
	s.inodes[i.attr.FileID] = i
	s.Unlock()
}

func (t *table) remove(i *inode) {
	s := &t[i.attr.FileID%uint64(len(t))]
	s.Lock()
	delete(s.inodes, i.attr.FileID)
	s.Unlock()
}
