package pathfs

import (
	iofs "io/fs"
	"slices"
	"sync"

	"eddy.example/vfs"
)

// entry is an entry of a listing.
type entry struct {
	cookie vfs.Cookie
	info   iofs.FileInfo
}

// listing is a directory as it was when a listing of it began, by cookies. A
// cookie is a hash of the name, so that it stays a position whatever comes and goes.
type listing struct {
	dir     *node
	entries []entry
}

// listings are the last few of which a page was read and more are to come.
type listings struct {
	mu   sync.Mutex
	list [8]*listing
	next int
}

func (l *listings) get(dir *node) *listing {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.list {
		if x != nil && x.dir == dir {
			return x
		}
	}
	return nil
}

// put remembers x, or that the listing of dir has ended.
func (l *listings) put(dir *node, x *listing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, old := range l.list {
		if old != nil && old.dir == dir {
			l.list[i] = x
			return
		}
	}
	if x != nil {
		l.list[l.next] = x
		l.next = (l.next + 1) % len(l.list)
	}
}

// ReadDir reports entries in the order of their hashes. A page after the first
// is read from what the first has read, if that is still known.
func (f *FS) ReadDir(_ *vfs.Call, dir vfs.Object, after vfs.Cookie, want vfs.AttrMask, fill func(*vfs.DirEntry) bool) (bool, error) {
	f.ns.RLock()
	defer f.ns.RUnlock()
	d, p, err := f.useDir(dir)
	if err != nil {
		return false, err
	}
	var l *listing
	if after >= vfs.FirstCookie {
		l = f.listings.get(d)
	}
	fresh := l == nil
	if fresh {
		if l, err = f.readDir(d, p); err != nil {
			return false, err
		}
	}
	i, _ := slices.BinarySearchFunc(l.entries, after, func(e entry, c vfs.Cookie) int {
		if e.cookie <= c {
			return -1
		}
		return 1
	})
	for _, e := range l.entries[i:] {
		if !fill(f.dirEntry(d, &e, want, fresh)) {
			f.listings.put(d, l)
			return false, nil
		}
	}
	f.listings.put(d, nil)
	return true, nil
}

func (f *FS) dirEntry(d *node, e *entry, want vfs.AttrMask, fresh bool) *vfs.DirEntry {
	name := e.info.Name()
	out := &vfs.DirEntry{Name: name, Cookie: e.cookie}
	if want == 0 {
		out.FileID = f.table.fileID(d, name)
		return out
	}
	n := f.table.child(d, name)
	out.FileID, out.Object = n.id, n
	// An older listing's word on attributes is not good any more.
	if fresh && n.see(e.info, f.now) {
		n.attr(&out.Attr, e.info)
	}
	return out
}

// readDir reads a directory.
func (f *FS) readDir(d *node, p string) (*listing, error) {
	infos, err := f.store.ReadDir(p)
	if err != nil {
		return nil, f.lost(d, err)
	}
	l := &listing{dir: d, entries: make([]entry, 0, len(infos))}
	for _, info := range infos {
		if typeOf(info) != 0 {
			l.entries = append(l.entries, entry{f.cookie(info.Name()), info})
		}
	}
	slices.SortFunc(l.entries, func(a, b entry) int {
		if a.cookie < b.cookie {
			return -1
		}
		return 1
	})
	return l, nil
}

// cookie is the place of a name: a hash, of which two names of one directory
// have the same once in 2⁶³.
func (f *FS) cookie(name string) vfs.Cookie {
	return max(vfs.FirstCookie, vfs.Cookie(f.table.hash(0, name, 0)>>1))
}
