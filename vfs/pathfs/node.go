package pathfs

import (
	"encoding/binary"
	"io/fs"
	"sync"
	"sync/atomic"

	"eddy.example/internal/siphash"
	"eddy.example/vfs"
)

// node is an object: a row of the table. Parent, name, children and what is
// said of them are protected by table.mu; parent and name change only while
// FS.ns is held for writing.
type node struct {
	id     uint64 // also the fileid
	birth  uint64 // id of the parent that the id was computed with
	key    uint64 // of the name that it was computed with
	nth    uint64 // which of that name's objects it was
	parent *node  // the root's is nil
	name   string

	children map[string]*node // those that have rows
	moved    bool             // id can't be computed from parent and name any more
	kept     bool             // carries what can't be found again
	evicted  bool
	slot     int // in table.ring

	used atomic.Bool // since the clock's hand came by
	gone atomic.Bool

	// names is held by who changes names in the directory.
	names sync.Mutex

	// data is held for reading by who reads the object, for writing by who
	// changes or removes it. Names are taken before it, parents before children.
	data sync.RWMutex

	meta meta
}

// meta is what is remembered of an object.
type meta struct {
	mu    sync.Mutex
	typ   vfs.Type // 0: not seen yet
	size  int64
	mtime vfs.Time
	ctime vfs.Time

	exclusive bool    // created so, and not changed since
	verf      [8]byte // with this verifier
}

// table are the rows.
type table struct {
	key siphash.Key
	max int

	mu     sync.RWMutex
	rows   map[uint64]*node
	ring   []*node // all rows but the root's, in no order
	hand   int
	counts counts
	floor  vfs.Time // no ctime of an evicted row is later
	root   *node
}

// counts remembers how many objects a name has had, for names that had more
// than one: at least the last max of them, and at most twice as many.
type counts struct{ young, old map[uint64]uint64 }

func (c *counts) get(key uint64) uint64 {
	if n, ok := c.young[key]; ok {
		return n
	}
	return c.old[key]
}

func (c *counts) set(key, n uint64, max int) {
	if c.young == nil || len(c.young) >= max {
		c.young, c.old = make(map[uint64]uint64), c.young
	}
	c.young[key] = n
}

func newTable(key siphash.Key, max int) *table {
	t := &table{key: key, max: max, rows: make(map[uint64]*node)}
	t.root = &node{id: 1, meta: meta{typ: vfs.TypeDirectory}}
	t.rows[t.root.id] = t.root
	return t
}

// hash is the id of the nth object that is called name in the directory parent.
func (t *table) hash(parent uint64, name string, nth uint64) uint64 {
	b := make([]byte, 16, 16+vfs.MaxName)
	binary.BigEndian.PutUint64(b, parent)
	binary.BigEndian.PutUint64(b[8:], nth)
	sum := t.key.Sum(append(b, name...))
	id := binary.BigEndian.Uint64(sum[:])
	if id <= 1 {
		id += 2 // 0 is no fileid, 1 the root's
	}
	return id
}

// nameKey is what a name is counted by.
func (t *table) nameKey(dir *node, name string) uint64 { return t.hash(dir.id, name, 1<<64-1) }

// path is where the object is. FS.ns is held.
func (t *table) path(n *node) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return pathOf(n)
}

func pathOf(n *node) string {
	if n.parent == nil {
		return "."
	}
	size := -1
	for m := n; m.parent != nil; m = m.parent {
		size += len(m.name) + 1
	}
	p := make([]byte, size)
	for m := n; m.parent != nil; m = m.parent {
		size -= len(m.name)
		copy(p[size:], m.name)
		if size--; size >= 0 {
			p[size] = '/'
		}
	}
	return string(p)
}

// child is the path of a name in a directory.
func child(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// get finds a row by its id.
func (t *table) get(id uint64) *node {
	t.mu.RLock()
	n := t.rows[id]
	t.mu.RUnlock()
	if n != nil {
		n.used.Store(true)
	}
	return n
}

// live returns n's row, which may have been evicted while a call held n.
func (t *table) live(n *node) *node {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.liveLocked(n)
}

func (t *table) liveLocked(n *node) *node {
	if !n.evicted {
		return n
	}
	if m := t.rows[n.id]; m != nil {
		return m
	}
	return t.childLocked(t.liveLocked(n.parent), n.name)
}

// child returns the row of a name in a directory.
func (t *table) child(dir *node, name string) *node {
	t.mu.RLock()
	n := dir.children[name]
	t.mu.RUnlock()
	if n != nil {
		n.used.Store(true)
		return n
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.childLocked(t.liveLocked(dir), name)
}

func (t *table) childLocked(dir *node, name string) *node {
	if n := dir.children[name]; n != nil {
		return n
	}
	id, nth := t.idLocked(dir, name)
	return t.add(dir, name, id, nth)
}

func (t *table) add(dir *node, name string, id, nth uint64) *node {
	n := &node{id: id, birth: dir.id, key: t.nameKey(dir, name), nth: nth, parent: dir, name: name}
	n.meta.ctime = t.floor
	dir.used.Store(true)
	t.insert(n)
	return n
}

// revive makes a row for a name's object, if it is the nth of that name and has
// that id.
func (t *table) revive(dir *node, name string, id, nth uint64) *node {
	if t.hash(dir.id, name, nth) != id {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	dir = t.liveLocked(dir)
	key := t.nameKey(dir, name)
	if dir.children[name] != nil || t.rows[id] != nil || t.counts.get(key) > nth {
		return nil // it has another now
	}
	if nth > 0 {
		t.counts.set(key, nth, t.names())
	}
	return t.add(dir, name, id, nth)
}

// names is how many names are counted.
func (t *table) names() int { return 2 * t.max }

// idLocked is the id that an object without a row has, or will have.
func (t *table) idLocked(dir *node, name string) (id, nth uint64) {
	nth = t.counts.get(t.nameKey(dir, name))
	for {
		id := t.hash(dir.id, name, nth)
		if t.rows[id] == nil {
			return id, nth
		}
		nth++ // taken: by one that was renamed
	}
}

// fileID is the id of a name in a directory.
func (t *table) fileID(dir *node, name string) uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n := dir.children[name]; n != nil {
		return n.id
	}
	id, _ := t.idLocked(dir, name)
	return id
}

func (t *table) insert(n *node) {
	if n.parent.children == nil {
		n.parent.children = make(map[string]*node)
	}
	n.parent.children[n.name] = n // so that the parent stays
	for len(t.ring) >= t.max && t.evict() {
	}
	n.used.Store(true)
	n.slot = len(t.ring)
	t.ring = append(t.ring, n)
	t.rows[n.id] = n
}

// evict takes away a row that has none below it: one that was not used since
// the hand came by last; after two rounds also one of an object that won't be
// found again, or not for sure. There may be none, if all are on the way to the one that comes.
func (t *table) evict() bool {
	for i := range 3 * len(t.ring) {
		t.hand = (t.hand + 1) % len(t.ring)
		n := t.ring[t.hand]
		switch {
		case len(n.children) > 0:
		case n.used.Swap(false) && i < 2*len(t.ring):
		case (n.moved || n.kept || n.nth > 0) && i < 2*len(t.ring):
		default:
			n.meta.mu.Lock()
			if t.floor.Before(n.meta.ctime) {
				t.floor = n.meta.ctime
			}
			n.meta.mu.Unlock()
			n.evicted = true
			t.drop(n)
			return true
		}
	}
	return false
}

// drop takes a row out of the table.
func (t *table) drop(n *node) {
	if t.rows[n.id] != n {
		return
	}
	delete(t.rows, n.id)
	if n.parent.children[n.name] == n {
		delete(n.parent.children, n.name)
	}
	last := t.ring[len(t.ring)-1]
	t.ring[n.slot], last.slot = last, n.slot
	t.ring[len(t.ring)-1] = nil
	t.ring = t.ring[:len(t.ring)-1]
}

// leave notes that an object has not the name any more that its id was made of:
// the next of that name will be another.
func (t *table) leave(n *node) {
	if t.counts.get(n.key) <= n.nth {
		t.counts.set(n.key, n.nth+1, t.names())
	}
}

// remove takes away an object that is gone, and all below it.
func (t *table) remove(n *node) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removeLocked(n)
}

func (t *table) removeLocked(n *node) {
	if n.parent == nil || n.gone.Swap(true) {
		return
	}
	for _, c := range n.children {
		t.removeLocked(c)
	}
	t.leave(n)
	t.drop(n)
}

// move gives an object another name. Nothing is at that. FS.ns is held for
// writing.
func (t *table) move(n, dir *node, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave(n)
	delete(n.parent.children, n.name)
	n.parent, n.name, n.moved = dir, name, true
	if dir.children == nil {
		dir.children = make(map[string]*node)
	}
	dir.children[name] = n
}

// keep says that a row carries what can't be found again, or not any more.
func (t *table) keep(n *node, kept bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n.kept = kept
}

// len is the number of rows.
func (t *table) len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.ring)
}

// typeOf is the type of what a FileInfo describes; 0 for what NFS has none for.
func typeOf(info fs.FileInfo) vfs.Type {
	switch m := info.Mode(); {
	case m.IsRegular():
		return vfs.TypeRegular
	case m.IsDir():
		return vfs.TypeDirectory
	case m&fs.ModeSymlink != 0:
		return vfs.TypeSymlink
	case m&fs.ModeNamedPipe != 0:
		return vfs.TypeFIFO
	case m&fs.ModeSocket != 0:
		return vfs.TypeSocket
	case m&fs.ModeCharDevice != 0:
		return vfs.TypeChar
	case m&fs.ModeDevice != 0:
		return vfs.TypeBlock
	}
	return 0
}
