package local

import (
	"strconv"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// gone notes that an inode has lost a name. last: it was the last, so that its
// descriptor, which would keep its space, is closed.
func (f *FS) gone(i *inode, last bool) {
	if !last {
		return
	}
	i.removed.Store(true)
	if !i.mount.named {
		f.inodes.remove(i)
	}
	f.clean(i)
	f.drop(i)
	f.rows.Delete(i.key())
}

// victim is what has a name that is to go.
type victim struct {
	*inode
	fd int // -1: there is nothing
}

// victim opens what has a name, to see what becomes of it.
func (f *FS) victim(c *vfs.Call, dir *inode, dirfd int, name string) (victim, error) {
	var z nameBuf
	fd, err := f.openAt(c, dirfd, z.set(name))
	if err != nil {
		return victim{fd: -1}, err
	}
	var st unix.Statx_t
	var i *inode
	m := dir.mount
	if err = fstatx(fd, &st); err == nil {
		if m, err = f.mountAt(m, fd, &st); err == nil {
			i, err = f.identify(m, fd, &st)
		}
	}
	if err != nil {
		unix.Close(fd)
		return victim{fd: -1}, vfs.Cause(err)
	}
	return victim{i, fd}, nil
}

// buried looks whether the victim has no name any more.
func (f *FS) buried(v victim) {
	var st unix.Statx_t
	if v.fd >= 0 && fstatx(v.fd, &st) == nil {
		f.gone(v.inode, st.Nlink == 0)
	}
}

func (v victim) close() {
	if v.fd >= 0 {
		unix.Close(v.fd)
	}
}

// Remove takes away a name of whatever is no directory.
func (f *FS) Remove(c *vfs.Call, dir vfs.Object, name string, dirChg *vfs.Change) error {
	if name == "." || name == ".." {
		return vfs.ErrIsDir
	}
	return f.remove(c, dir.(*inode), name, 0, dirChg)
}

// Rmdir removes an empty directory.
func (f *FS) Rmdir(c *vfs.Call, dir vfs.Object, name string, dirChg *vfs.Change) error {
	switch name {
	case ".":
		return vfs.ErrInvalid
	case "..":
		return vfs.ErrNotEmpty
	}
	return f.remove(c, dir.(*inode), name, unix.AT_REMOVEDIR, dirChg)
}

func (f *FS) remove(c *vfs.Call, dir *inode, name string, flags int, dirChg *vfs.Change) error {
	m := making{FS: f, c: c, dir: dir, name: name}
	if err := m.start(nil, dirChg); err != nil {
		return err
	}
	defer m.held.release()
	v, err := f.victim(c, dir, m.held.fd, name)
	if err == nil {
		defer v.close()
		as := f.server.as(c, 0)
		err = unix.Unlinkat(m.held.fd, name, flags)
		as.done()
	}
	if err != nil {
		m.stop(false)
		return vfs.Cause(err)
	}
	f.buried(v)
	m.stop(true)
	return f.durable(dir.mount, m.held)
}

// Rename renames, in one step with the removal of what has the new name.
func (f *FS) Rename(c *vfs.Call, from vfs.Object, fromName string, to vfs.Object, toName string, fromChg, toChg *vfs.Change) error {
	if !c.MayWait {
		return f.later()
	}
	a := making{FS: f, c: c, dir: from.(*inode), name: fromName}
	b := making{FS: f, c: c, dir: to.(*inode), name: toName}
	for _, m := range []*making{&a, &b} {
		if !m.dir.isDir() {
			return vfs.ErrNotDir
		}
		if err := checkName(m.name); err == vfs.ErrExist {
			return vfs.ErrInvalid // "." and ".."
		} else if err != nil {
			return err
		}
	}
	moved, err := f.rename(&a, &b, fromChg, toChg)
	for _, h := range []*file{a.held, b.held, moved} {
		if h != nil {
			defer h.release()
		}
	}
	if err != nil {
		return err
	}
	if moved != nil && moved.grade == gradePath {
		moved, err = nil, f.durable(a.dir.mount, a.held, b.held)
	} else {
		err = f.durable(a.dir.mount, a.held, b.held, moved)
	}
	return err
}

// rename renames and returns a descriptor of what was moved, if it is one that
// can be synced.
func (f *FS) rename(a, b *making, fromChg, toChg *vfs.Change) (moved *file, err error) {
	c := a.c
	first, second := a.dir, b.dir
	if first.id > second.id {
		first, second = second, first
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	if second != first {
		second.mu.Lock()
		defer second.mu.Unlock()
	}
	var st unix.Statx_t
	for _, m := range []*making{a, b} {
		if err := f.statDir(c, m.dir, &st, vfs.PermExec); err != nil {
			return nil, err
		}
		if m.held, err = f.holdToSync(c, m.dir); err != nil {
			return nil, err
		}
		chg := fromChg
		if m == b {
			chg = toChg
		}
		f.begin(&m.change, chg, m.dir, &st)
	}
	did := false
	defer func() {
		f.end(&a.change, a.dir, a.held.fd, did)
		f.end(&b.change, b.dir, b.held.fd, did && a.dir != b.dir)
	}()
	source, err := f.victim(c, a.dir, a.held.fd, a.name)
	if err != nil {
		return nil, err
	}
	defer source.close()
	target, err := f.victim(c, b.dir, b.held.fd, b.name)
	if err != nil && err != vfs.ErrNotExist {
		return nil, err
	}
	defer target.close()
	if target.inode == source.inode {
		return nil, nil // two names of one object: RFC 1813 §3.3.14 leaves both
	}
	as := f.server.as(c, 0)
	err = unix.Renameat(a.held.fd, a.name, b.held.fd, b.name)
	as.done()
	if err != nil {
		return nil, vfs.Cause(err)
	}
	did = true
	f.moved(source.inode, &place{a.dir, newCString(a.name)}, &place{b.dir, newCString(b.name)})
	f.buried(target)
	if moved, err = f.holdToSync(c, source.inode); err != nil {
		return nil, nil // the directories know it; what moved again meanwhile is others' business
	}
	return moved, nil
}

// Link gives a file one more name.
func (f *FS) Link(c *vfs.Call, o vfs.Object, dir vfs.Object, name string, attr *vfs.Attr, dirChg *vfs.Change) error {
	i := o.(*inode)
	if i.isDir() {
		return vfs.ErrIsDir
	}
	if i.mount != dir.(*inode).mount {
		return vfs.ErrCrossDevice
	}
	m := making{FS: f, c: c, dir: dir.(*inode), name: name}
	if err := m.start(nil, dirChg); err != nil {
		return err
	}
	defer m.held.release()
	h, err := m.link(i, attr)
	m.stop(err == nil)
	if err != nil {
		return err
	}
	defer h.release()
	sync := h
	if h.grade == gradePath {
		sync = nil
	}
	return f.durable(i.mount, m.held, sync)
}

func (m *making) link(i *inode, attr *vfs.Attr) (*file, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	var st unix.Statx_t
	if err := m.stat(m.c, i, &st); err != nil {
		return nil, err
	}
	h, err := m.holdToSync(m.c, i)
	if err != nil {
		return nil, err
	}
	var x change
	m.begin(&x, nil, i, &st)
	// Of all capabilities the one by which a descriptor can be given a name;
	// that the caller may search the directory was checked.
	as := m.server.as(m.c, capDACReadSearch)
	err = unix.Linkat(h.fd, "", m.held.fd, m.name, unix.AT_EMPTY_PATH)
	if err == unix.ENOENT && m.procFDs >= 0 {
		err = unix.Linkat(m.procFDs, strconv.Itoa(h.fd), m.held.fd, m.name, unix.AT_SYMLINK_FOLLOW)
	}
	as.done()
	if err != nil {
		h.release()
		return nil, vfs.Cause(err)
	}
	i.others.add(&place{m.dir, newCString(m.name)})
	m.end(&x, i, h.fd, true)
	if attr != nil && fstatx(h.fd, &st) == nil {
		m.fill(attr, i, &st)
	}
	return h, nil
}
