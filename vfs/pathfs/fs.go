package pathfs

import (
	"crypto/rand"
	"encoding/binary"
	iofs "io/fs"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eddy.example/internal/siphash"
	"eddy.example/vfs"
)

// Defaults of a Config.
const (
	DefaultMaxRows   = 1 << 18
	DefaultMaxSearch = 1 << 20
)

// Config are the settings of an FS. The zero value is usable.
type Config struct {
	// MaxRows bounds the objects that are remembered; a row takes about 400
	// bytes. 0: DefaultMaxRows.
	MaxRows int

	// MaxSearch bounds the entries that are read to find an object without a
	// row. 0: DefaultMaxSearch.
	MaxSearch int

	// Clock is the time; nil is the system's.
	Clock interface{ Now() time.Time }
}

// FS is a Store as a vfs.FS. All methods may be called concurrently.
type FS struct {
	store Store
	links Linker  // or nil, as the following
	modes Chmoder //
	times Chtimer
	syncs Syncer

	now       func() time.Time
	maxSearch int
	boot      uint64        // makes the handles of other processes differ
	losses    atomic.Uint64 // a random number, plus the syncs that failed
	table     *table

	// ns is held for writing by a rename, for reading by all that uses paths.
	ns sync.RWMutex

	search   sync.Mutex
	listings listings
}

var _ interface {
	vfs.FS
	vfs.Accesser
	vfs.Limiter
	vfs.LinkReader
	vfs.Writer
	vfs.Committer
	vfs.AttrSetter
	vfs.Creator
	vfs.Mkdirer
	vfs.Symlinker
	vfs.Remover
	vfs.Rmdirer
	vfs.Renamer
} = (*FS)(nil)

// New returns an FS that keeps its objects in store.
func New(store Store, c Config) *FS {
	if c.MaxRows <= 0 {
		c.MaxRows = DefaultMaxRows
	}
	if c.MaxSearch <= 0 {
		c.MaxSearch = DefaultMaxSearch
	}
	var random [32]byte
	rand.Read(random[:])
	f := &FS{
		store:     store,
		now:       time.Now,
		maxSearch: c.MaxSearch,
		boot:      binary.BigEndian.Uint64(random[16:]),
		table:     newTable(siphash.NewKey([16]byte(random[:])), c.MaxRows),
	}
	f.losses.Store(binary.BigEndian.Uint64(random[24:]))
	if c.Clock != nil {
		f.now = c.Clock.Now
	}
	f.links, _ = store.(Linker)
	f.modes, _ = store.(Chmoder)
	f.times, _ = store.(Chtimer)
	f.syncs, _ = store.(Syncer)
	return f
}

// Limits are those of a usual Unix file system, without hard links.
func (f *FS) Limits() vfs.Limits {
	l := vfs.DefaultLimits()
	l.MaxFileSize, l.MaxLink = math.MaxInt64, 1
	return l
}

// Access lets everybody do everything that the FS can.
func (f *FS) Access(_ *vfs.Call, _ vfs.Object, want vfs.Access) (vfs.Access, error) {
	return want, nil
}

// handleSize is the length of a handle: boot, id, and what the id was made of but
// for the name.
const handleSize = 32

// AppendHandle appends o's handle, 32 bytes.
func (f *FS) AppendHandle(b []byte, o vfs.Object) []byte {
	n := o.(*node)
	b = binary.BigEndian.AppendUint64(b, f.boot)
	b = binary.BigEndian.AppendUint64(b, n.id)
	b = binary.BigEndian.AppendUint64(b, n.birth)
	return binary.BigEndian.AppendUint64(b, n.nth)
}

// Resolve finds the object a handle names by its row, or by a search.
func (f *FS) Resolve(c *vfs.Call, h []byte) (vfs.Object, error) {
	if len(h) == 0 {
		return f.table.root, nil
	}
	if len(h) != handleSize {
		return nil, vfs.ErrBadHandle
	}
	if binary.BigEndian.Uint64(h) != f.boot {
		return nil, vfs.ErrStale
	}
	id := binary.BigEndian.Uint64(h[8:])
	if n := f.table.get(id); n != nil {
		return n, nil
	}
	n, err := f.find(c, id, binary.BigEndian.Uint64(h[16:]), binary.BigEndian.Uint64(h[24:]))
	if err != nil {
		return nil, err
	}
	return n, nil
}

// use begins the use of an object and returns its row and its path. FS.ns is
// held for reading.
func (f *FS) use(o vfs.Object) (n *node, p string, err error) {
	n = f.table.live(o.(*node))
	if n.gone.Load() {
		return n, "", vfs.ErrStale
	}
	return n, f.table.path(n), nil
}

// useDir is use for a directory.
func (f *FS) useDir(o vfs.Object) (n *node, p string, err error) {
	n, p, err = f.use(o)
	if err != nil {
		return n, p, err
	}
	typ := n.typ()
	if typ == 0 {
		if _, err := f.stat(n, p); err != nil {
			return n, p, err
		}
		typ = n.typ()
	}
	if typ != vfs.TypeDirectory {
		return n, p, vfs.ErrNotDir
	}
	return n, p, nil
}

func (n *node) typ() vfs.Type {
	n.meta.mu.Lock()
	defer n.meta.mu.Unlock()
	return n.meta.typ
}

// stat asks the store what is at n's path, and finds out whether that is still
// n.
func (f *FS) stat(n *node, p string) (iofs.FileInfo, error) {
	info, err := f.store.Stat(p)
	if err != nil {
		return nil, f.lost(n, err)
	}
	if !n.see(info, f.now) {
		f.table.remove(n)
		return nil, vfs.ErrStale
	}
	return info, nil
}

// lost is what err means for an object: if there is nothing at its path it is
// gone.
func (f *FS) lost(n *node, err error) error {
	switch vfs.Cause(err) {
	case vfs.ErrNotExist, vfs.ErrNotDir:
		f.table.remove(n)
		return vfs.ErrStale
	}
	return err
}

// see remembers what the store says of the object. It reports false for what
// must be another object.
func (n *node) see(info iofs.FileInfo, now func() time.Time) bool {
	typ, size, mtime := typeOf(info), info.Size(), timeOf(info.ModTime())
	m := &n.meta
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.typ == 0:
		m.typ, m.size, m.mtime = typ, size, mtime
		if m.ctime.Before(mtime) {
			m.ctime = mtime
		}
		return typ != 0
	case m.typ != typ:
		return false
	case m.size != size && typ != vfs.TypeDirectory, m.mtime != mtime:
		m.size, m.mtime = size, mtime
		m.touch(now())
	}
	return true
}

// changed notes a change that was made here.
func (n *node) changed(now func() time.Time) {
	n.meta.mu.Lock()
	defer n.meta.mu.Unlock()
	n.meta.touch(now())
}

// touch moves the time of the last change on.
func (m *meta) touch(now time.Time) {
	t := timeOf(now)
	if !m.ctime.Before(t) {
		t = m.ctime
		if t.Nsec++; t.Nsec == 1e9 {
			t = vfs.Time{Sec: t.Sec + 1}
		}
	}
	m.ctime = t
}

func timeOf(t time.Time) vfs.Time { return vfs.Time{Sec: t.Unix(), Nsec: uint32(t.Nanosecond())} }

// attrKnown are the attributes that a FileInfo and a row make.
const attrKnown = vfs.AttrType | vfs.AttrMode | vfs.AttrSize | vfs.AttrFileID | vfs.AttrMtime | vfs.AttrCtime | vfs.AttrChange

// attr fills a with what is known of n.
func (n *node) attr(a *vfs.Attr, info iofs.FileInfo) {
	n.meta.mu.Lock()
	defer n.meta.mu.Unlock()
	m := info.Mode()
	*a = vfs.Attr{
		Mask:   attrKnown,
		Type:   n.meta.typ,
		Mode:   uint32(m.Perm()),
		Size:   uint64(max(0, info.Size())),
		FileID: n.id,
		Mtime:  timeOf(info.ModTime()),
		Ctime:  n.meta.ctime,
		Change: uint64(n.meta.ctime.Sec)*1e9 + uint64(n.meta.ctime.Nsec),
	}
	for flag, bit := range map[iofs.FileMode]uint32{iofs.ModeSetuid: 0o4000, iofs.ModeSetgid: 0o2000, iofs.ModeSticky: 0o1000} {
		if m&flag != 0 {
			a.Mode |= bit
		}
	}
}

// Getattr asks the store.
func (f *FS) Getattr(_ *vfs.Call, o vfs.Object, _ vfs.AttrMask, a *vfs.Attr) error {
	f.ns.RLock()
	defer f.ns.RUnlock()
	n, p, err := f.use(o)
	if err != nil {
		return err
	}
	n.data.RLock()
	defer n.data.RUnlock()
	return f.getattr(n, p, a)
}

func (f *FS) getattr(n *node, p string, a *vfs.Attr) error {
	if n.gone.Load() {
		return vfs.ErrStale
	}
	info, err := f.stat(n, p)
	if err == nil {
		n.attr(a, info)
	}
	return err
}

// Lookup asks the store.
func (f *FS) Lookup(c *vfs.Call, dir vfs.Object, name string, a *vfs.Attr) (vfs.Object, error) {
	f.ns.RLock()
	defer f.ns.RUnlock()
	d, p, err := f.useDir(dir)
	if err != nil {
		return nil, err
	}
	switch name {
	case ".":
		return f.found(d, p, a)
	case "..":
		up := f.parent(d)
		return f.found(up, f.table.path(up), a)
	}
	if len(name) > vfs.MaxName {
		return nil, vfs.ErrNameTooLong
	}
	if strings.IndexByte(name, 0) >= 0 {
		return nil, vfs.ErrNotExist
	}
	n, info, err := f.lookup(d, p, name)
	if err != nil {
		return nil, err
	}
	if a != nil {
		n.attr(a, info)
	}
	return n, nil
}

func (f *FS) parent(n *node) *node {
	f.table.mu.RLock()
	defer f.table.mu.RUnlock()
	if n.parent == nil {
		return n
	}
	return n.parent
}

func (f *FS) found(n *node, p string, a *vfs.Attr) (vfs.Object, error) {
	if a != nil {
		if err := f.getattr(n, p, a); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// lookup finds a name in the directory d at p. The row is looked for before the
// store is asked: so one that comes meanwhile is not taken for what was there.
func (f *FS) lookup(d *node, p, name string) (*node, iofs.FileInfo, error) {
	for range lookups {
		old := f.row(d, name)
		info, err := f.store.Stat(child(p, name))
		if err != nil {
			if old != nil && vfs.Cause(err) == vfs.ErrNotExist {
				f.table.remove(old)
			}
			return nil, nil, err
		}
		switch {
		case typeOf(info) == 0:
			return nil, nil, vfs.ErrNotExist
		case old == nil:
			old = f.table.child(d, name)
			if old.see(info, f.now) {
				return old, info, nil
			}
		case old.see(info, f.now):
			return old, info, nil
		default:
			f.table.remove(old)
		}
	}
	return nil, nil, vfs.ErrDelay
}

// lookups is how often a name is looked up that becomes something else meanwhile.
const lookups = 8

// row is the row of a name, if there is one.
func (f *FS) row(d *node, name string) *node {
	f.table.mu.RLock()
	defer f.table.mu.RUnlock()
	return d.children[name]
}
