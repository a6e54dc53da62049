package pathfs

import (
	iofs "io/fs"
	"strings"

	"eddy.example/vfs"
)

// newName checks a name that is to be made in a directory, and makes it the
// caller's: done ends that. FS.ns is held for reading.
func (f *FS) newName(dir vfs.Object, name string) (d *node, p string, done func(), err error) {
	if name == "." || name == ".." {
		return nil, "", nil, vfs.ErrExist
	}
	if err := checkName(name); err != nil {
		return nil, "", nil, err
	}
	d, p, err = f.useDir(dir)
	if err != nil {
		return nil, "", nil, err
	}
	d.names.Lock()
	if d.gone.Load() {
		d.names.Unlock()
		return nil, "", nil, vfs.ErrStale
	}
	return d, p, d.names.Unlock, nil
}

func checkName(name string) error {
	switch {
	case len(name) > vfs.MaxName:
		return vfs.ErrNameTooLong
	case strings.IndexByte(name, 0) >= 0:
		return vfs.ErrInvalid
	}
	return nil
}

// made is what was just made: its row and attributes.
func (f *FS) made(d *node, p, name string, a *vfs.Attr) (vfs.Object, error) {
	d.changed(f.now)
	n, info, err := f.lookup(d, p, name)
	if err != nil {
		return nil, err
	}
	n.changed(f.now)
	if a != nil {
		n.attr(a, info)
	}
	return n, nil
}

// Create makes a file, or opens one.
func (f *FS) Create(_ *vfs.Call, dir vfs.Object, name string, how vfs.CreateMode, verf [8]byte, s *vfs.SetAttr, a *vfs.Attr, _ *vfs.Change) (vfs.Object, error) {
	f.ns.RLock()
	defer f.ns.RUnlock()
	d, p, done, err := f.newName(dir, name)
	if err != nil {
		return nil, err
	}
	defer done()
	if how != vfs.CreateExclusive {
		if err := checkTimes(s); err != nil {
			return nil, err
		}
		if s.Mask&vfs.AttrSize != 0 && s.Size > maxSize {
			return nil, vfs.ErrFileTooBig
		}
	}
	n, info, err := f.lookup(d, p, name)
	switch {
	case err == nil:
		return f.open(n, info, child(p, name), how, verf, s, a)
	case vfs.Cause(err) != vfs.ErrNotExist:
		return nil, err
	}
	perm := perm(s, 0o600)
	if err := f.store.Create(child(p, name), perm); err != nil {
		return nil, err
	}
	o, err := f.made(d, p, name, a)
	if err != nil {
		return nil, err
	}
	n = o.(*node)
	if how == vfs.CreateExclusive {
		n.meta.mu.Lock()
		n.meta.exclusive, n.meta.verf = true, verf
		n.meta.mu.Unlock()
		f.table.keep(n, true)
		return n, nil
	}
	return n, f.dress(n, child(p, name), s, a)
}

const maxSize = 1<<63 - 1

// perm is the permissions of a new object.
func perm(s *vfs.SetAttr, def iofs.FileMode) iofs.FileMode {
	if s.Mask&vfs.AttrMode != 0 {
		return iofs.FileMode(s.Mode & 0o777)
	}
	return def
}

// open is a CREATE of what is there.
func (f *FS) open(n *node, info iofs.FileInfo, p string, how vfs.CreateMode, verf [8]byte, s *vfs.SetAttr, a *vfs.Attr) (vfs.Object, error) {
	if typeOf(info) != vfs.TypeRegular {
		return nil, vfs.ErrExist
	}
	switch how {
	case vfs.CreateGuarded:
		return nil, vfs.ErrExist
	case vfs.CreateExclusive:
		n.meta.mu.Lock()
		same := n.meta.exclusive && n.meta.verf == verf
		n.meta.mu.Unlock()
		if !same {
			return nil, vfs.ErrExist
		}
	case vfs.CreateUnchecked:
		if s.Mask&vfs.AttrSize != 0 {
			n.data.Lock()
			defer n.data.Unlock()
			if err := f.apply(n, p, &vfs.SetAttr{Mask: vfs.AttrSize, Size: s.Size}); err != nil {
				return nil, err
			}
		}
	}
	if a != nil {
		return n, f.getattr(n, p, a)
	}
	return n, nil
}

// dress gives a new object what the store did not with its making, as far as it
// can.
func (f *FS) dress(n *node, p string, s *vfs.SetAttr, a *vfs.Attr) error {
	t := *s
	t.Mask &= vfs.AttrSize | vfs.AttrMode
	if f.modes == nil {
		t.Mask &^= vfs.AttrMode
	}
	if f.times == nil {
		t.SetAtime, t.SetMtime = vfs.TimeKeep, vfs.TimeKeep
	}
	if n.typ() != vfs.TypeRegular {
		t.Mask &^= vfs.AttrSize
	}
	if t.IsZero() {
		return nil
	}
	n.data.Lock()
	defer n.data.Unlock()
	if err := f.apply(n, p, &t); err != nil {
		return err
	}
	if a != nil {
		return f.getattr(n, p, a)
	}
	return nil
}

// Mkdir makes a directory.
func (f *FS) Mkdir(_ *vfs.Call, dir vfs.Object, name string, s *vfs.SetAttr, a *vfs.Attr, _ *vfs.Change) (vfs.Object, error) {
	f.ns.RLock()
	defer f.ns.RUnlock()
	d, p, done, err := f.newName(dir, name)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := checkTimes(s); err != nil {
		return nil, err
	}
	if err := f.store.Mkdir(child(p, name), perm(s, 0o700)); err != nil {
		return nil, err
	}
	o, err := f.made(d, p, name, a)
	if err != nil {
		return nil, err
	}
	return o, f.dress(o.(*node), child(p, name), s, a)
}

// Symlink makes a symbolic link.
func (f *FS) Symlink(_ *vfs.Call, dir vfs.Object, name, target string, _ *vfs.SetAttr, a *vfs.Attr, _ *vfs.Change) (vfs.Object, error) {
	if f.links == nil {
		return nil, vfs.ErrNotSupported
	}
	f.ns.RLock()
	defer f.ns.RUnlock()
	d, p, done, err := f.newName(dir, name)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := f.links.Symlink(target, child(p, name)); err != nil {
		return nil, err
	}
	return f.made(d, p, name, a)
}

// Remove removes what is no directory.
func (f *FS) Remove(_ *vfs.Call, dir vfs.Object, name string, _ *vfs.Change) error {
	return f.remove(dir, name, false)
}

// Rmdir removes an empty directory.
func (f *FS) Rmdir(_ *vfs.Call, dir vfs.Object, name string, _ *vfs.Change) error {
	return f.remove(dir, name, true)
}

func (f *FS) remove(dir vfs.Object, name string, wantDir bool) error {
	if name == "." || name == ".." {
		return vfs.ErrInvalid
	}
	f.ns.RLock()
	defer f.ns.RUnlock()
	d, p, done, err := f.newName(dir, name)
	if err != nil {
		return err
	}
	defer done()
	n, info, err := f.lookup(d, p, name)
	if err != nil {
		return err
	}
	p = child(p, name)
	isDir := typeOf(info) == vfs.TypeDirectory
	switch {
	case isDir && !wantDir:
		return vfs.ErrIsDir
	case !isDir && wantDir:
		return vfs.ErrNotDir
	}
	if isDir {
		// Nothing is made in it any more.
		n.names.Lock()
		defer n.names.Unlock()
		if err := f.empty(p); err != nil {
			return err
		}
	}
	n.data.Lock()
	defer n.data.Unlock()
	if err := f.store.Remove(p); err != nil {
		return f.lost(n, err)
	}
	f.table.remove(n)
	d.changed(f.now)
	return nil
}

// empty returns ErrNotEmpty if there is something in a directory.
func (f *FS) empty(p string) error {
	infos, err := f.store.ReadDir(p)
	if err == nil && len(infos) > 0 {
		err = vfs.ErrNotEmpty
	}
	return err
}

// Rename renames, while nothing else uses the store.
func (f *FS) Rename(_ *vfs.Call, from vfs.Object, fromName string, to vfs.Object, toName string, _, _ *vfs.Change) error {
	for _, name := range []string{fromName, toName} {
		if name == "." || name == ".." {
			return vfs.ErrInvalid
		}
		if err := checkName(name); err != nil {
			return err
		}
	}
	f.ns.Lock()
	defer f.ns.Unlock()
	d, dirPath, err := f.useDir(from)
	if err != nil {
		return err
	}
	e, toPath, err := f.useDir(to)
	if err != nil {
		return err
	}
	n, info, err := f.lookup(d, dirPath, fromName)
	if err != nil {
		return err
	}
	target, targetInfo, err := f.lookup(e, toPath, toName)
	switch {
	case err != nil && vfs.Cause(err) != vfs.ErrNotExist:
		return err
	case err != nil:
		target = nil
	case target == n:
		return nil
	}
	// Looking for the target may have cost others their rows.
	d, e, n = f.table.live(d), f.table.live(e), f.table.live(n)
	if f.within(e, n) {
		return vfs.ErrInvalid
	}
	oldPath, newPath := child(dirPath, fromName), child(toPath, toName)
	if target != nil {
		if err := f.replace(newPath, info, targetInfo); err != nil {
			return err
		}
	}
	if err := f.store.Rename(oldPath, newPath); err != nil {
		return err
	}
	if target = f.row(e, toName); target != nil {
		f.table.remove(target)
	}
	f.table.move(n, e, toName)
	d.changed(f.now)
	e.changed(f.now)
	n.changed(f.now)
	return nil
}

// within reports whether dir is n or below it.
func (f *FS) within(dir, n *node) bool {
	f.table.mu.RLock()
	defer f.table.mu.RUnlock()
	for ; dir != nil; dir = dir.parent {
		if dir == n {
			return true
		}
	}
	return false
}

// replace makes room for what is renamed to p, if the types allow it. The store
// itself replaces what is no directory.
func (f *FS) replace(p string, info, target iofs.FileInfo) error {
	isDir, wasDir := typeOf(info) == vfs.TypeDirectory, typeOf(target) == vfs.TypeDirectory
	switch {
	case isDir && !wasDir:
		return vfs.ErrNotDir
	case !isDir && wasDir:
		return vfs.ErrIsDir
	case !isDir:
		return nil
	}
	if err := f.empty(p); err != nil {
		return err
	}
	return f.store.Remove(p)
}
