package local

import (
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
	"eddy.example/vfs/local/handlemap"
)

// inode is an object, what vfs.Object stands for here. There is one for an
// object as long as anybody holds it: see table.
type inode struct {
	handle handle
	mount  *mount
	ino    uint64
	dev    uint64 // the mount's, but for files of an overlay
	gen    uint32
	typ    vfs.Type
	id     uint64 // orders the locks of inodes

	place   atomic.Pointer[place] // where it was seen last; nil: not known
	others  others                // more names
	depth   atomic.Int32          // of a directory: levels below the root, when last counted
	file    atomic.Pointer[file]  // the cached descriptor, if there is one
	cached  bool                  // it is in its shard's ring; guarded by the shard
	used    atomic.Bool           // since the ring's hand came by
	dirty   atomic.Bool           // it has data that no sync has covered
	removed atomic.Bool           // the last name was removed here

	// mu is held over a change and the two looks at the attributes around
	// it: of a directory over changes of its entries.
	mu   sync.Mutex
	verf exclusive // guarded by mu

	changes changes
	perms   perms
	commits commits // of its data
}

// place is a name in a directory.
type place struct {
	parent *inode
	name   cstring
}

func (p *place) is(dir *inode, name string) bool { return p.parent == dir && p.name.String() == name }

// others are further names of a hard-linked file, as far as this FS has come
// across them and they are not too many.
type others struct {
	mu     sync.Mutex
	places []*place
}

const maxOthers = 8

func (o *others) add(p *place) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.places = slices.DeleteFunc(o.places, func(q *place) bool { return *p == *q })
	if len(o.places) == maxOthers {
		o.places = slices.Delete(o.places, 0, 1)
	}
	o.places = append(o.places, p)
}

// take takes the latest but p out, or returns nil.
func (o *others) take(p *place) *place {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n := len(o.places); n > 0; n-- {
		q := o.places[n-1]
		o.places = o.places[:n-1]
		if p == nil || *p != *q {
			return q
		}
	}
	return nil
}

// key is what the object is called in the map of places.
func (i *inode) key() handlemap.Key {
	return handlemap.Key{Dev: i.mount.fsid, Ino: i.ino, Gen: i.gen}
}

// is reports whether st are of the inode. That holds as long as a descriptor
// keeps its number from being used again.
func (i *inode) is(st *unix.Statx_t) bool { return st.Ino == i.ino && device(st) == i.dev }

func (i *inode) isDir() bool { return i.typ == vfs.TypeDirectory }

// table finds inodes by their handles. It does not keep them: an inode is
// held by the calls that use it, by the cache of descriptors and by what lies
// below it, and is garbage after that.
type table struct {
	lastID atomic.Uint64
	shards [64]tableShard
}

type tableShard struct {
	mu     sync.RWMutex
	inodes map[handle]weak.Pointer[inode]
	live   int // entries after the last sweep
	_      [32]byte
}

func (t *table) shard(h *handle) *tableShard {
	return &t.shards[h.hash()%uint32(len(t.shards))]
}

func (t *table) get(h *handle) *inode {
	s := t.shard(h)
	s.mu.RLock()
	w := s.inodes[*h]
	s.mu.RUnlock()
	return w.Value()
}

// put adds the inode, or returns the one that is there.
func (t *table) put(i *inode) *inode {
	s := t.shard(&i.handle)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.inodes[i.handle].Value(); old != nil {
		return old
	}
	if s.inodes == nil {
		s.inodes = make(map[handle]weak.Pointer[inode])
	}
	if len(s.inodes) > 2*s.live+64 {
		for h, w := range s.inodes {
			if w.Value() == nil {
				delete(s.inodes, h)
			}
		}
		s.live = len(s.inodes)
	}
	i.id = t.lastID.Add(1)
	s.inodes[i.handle] = weak.Make(i)
	return i
}

// remove takes out the inode of an object that is gone: where the file system
// has no generations the next one may have its handle.
func (t *table) remove(i *inode) {
	s := t.shard(&i.handle)
	s.mu.Lock()
	if s.inodes[i.handle].Value() == i {
		delete(s.inodes, i.handle)
	}
	s.mu.Unlock()
}
