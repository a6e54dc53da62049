package pathfs

import (
	"eddy.example/vfs"
)

// find looks for the object of a handle that has no row: where it was born, then
// everywhere.
func (f *FS) find(c *vfs.Call, id, birth, nth uint64) (*node, error) {
	if !f.search.TryLock() {
		return nil, vfs.ErrDelay
	}
	defer f.search.Unlock()
	f.ns.RLock()
	defer f.ns.RUnlock()
	s := &search{fs: f, call: c, id: id, nth: nth, left: f.maxSearch}
	if d := f.table.get(birth); d != nil {
		n, err := s.dir(d, f.table.path(d), nil)
		if n != nil || err != nil {
			return n, err
		}
		// Where a parent has a row its children's ids follow from it: but for
		// one that was moved away and lost its row, this was the place.
		return nil, vfs.ErrStale
	}
	dirs := []*node{f.table.root}
	for len(dirs) > 0 {
		d := f.table.live(dirs[len(dirs)-1])
		dirs = dirs[:len(dirs)-1]
		n, err := s.dir(d, f.table.path(d), func(name string) {
			dirs = append(dirs, f.table.child(d, name))
		})
		if n != nil || err != nil {
			return n, err
		}
	}
	return nil, vfs.ErrStale
}

// search is a search for an id.
type search struct {
	fs   *FS
	call *vfs.Call
	id   uint64
	nth  uint64
	left int // entries that may be read
}

// dir looks for the id in a directory, and reports the directories in it.
func (s *search) dir(d *node, p string, dir func(name string)) (*node, error) {
	infos, err := s.fs.store.ReadDir(p)
	switch vfs.Cause(err) {
	case nil:
	case vfs.ErrNotExist, vfs.ErrNotDir:
		return nil, nil // it went while we searched
	default:
		return nil, err
	}
	for _, info := range infos {
		if s.left--; s.left < 0 || s.call.Context.Err() != nil {
			return nil, vfs.ErrDelay
		}
		if n := s.fs.table.revive(d, info.Name(), s.id, s.nth); n != nil && n.see(info, s.fs.now) {
			return n, nil
		}
		if dir != nil && info.IsDir() {
			dir(info.Name())
		}
	}
	return nil, nil
}
