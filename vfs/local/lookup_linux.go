package local

import (
	"strings"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// Lookup finds a name.
func (f *FS) Lookup(c *vfs.Call, dir vfs.Object, name string, attr *vfs.Attr) (vfs.Object, error) {
	i, err := f.lookup(c, dir.(*inode), name, attr)
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (f *FS) lookup(c *vfs.Call, dir *inode, name string, attr *vfs.Attr) (*inode, error) {
	var st unix.Statx_t
	if err := f.statDir(c, dir, &st, vfs.PermExec); err != nil {
		return nil, err
	}
	f.leave(c, dir, &st)
	if name == "." || name == ".." && dir == f.root {
		if attr != nil {
			f.fill(attr, dir, &st)
		}
		return dir, nil
	}
	if len(name) > vfs.MaxName {
		return nil, vfs.ErrNameTooLong
	}
	if strings.ContainsAny(name, "/\x00") {
		return nil, vfs.ErrNotExist
	}
	h, err := f.hold(c, dir, gradePath)
	if err != nil {
		return nil, err
	}
	defer h.release()
	if name == ".." {
		return f.up(c, h.fd, attr)
	}
	i, err := f.entry(c, dir, h.fd, name, &st, true)
	if err == nil && attr != nil {
		f.fill(attr, i, &st)
	}
	return i, err
}

// statDir is stat for a directory on which the caller has all of want.
func (f *FS) statDir(c *vfs.Call, dir *inode, st *unix.Statx_t, want vfs.Perm) error {
	if !dir.isDir() {
		return vfs.ErrNotDir
	}
	if err := f.stat(c, dir, st); err != nil {
		return err
	}
	return f.check(c, dir, st, want)
}

// leave leaves the attributes of what the call is about for who has asked for it.
func (f *FS) leave(c *vfs.Call, i *inode, st *unix.Statx_t) {
	if c.Attr != nil {
		f.fill(c.Attr, i, st)
	}
}

// up finds the parent of the directory that fd is open for.
func (f *FS) up(c *vfs.Call, fd int, attr *vfs.Attr) (*inode, error) {
	parent, err := f.retry(c, func() (int, error) {
		return openat(fd, parentOf.ptr(), unix.O_PATH)
	})
	if err != nil {
		return nil, vfs.Cause(err)
	}
	var st unix.Statx_t
	if err := fstatx(parent, &st); err != nil {
		unix.Close(parent)
		return nil, vfs.Cause(err)
	}
	if f.isRoot(&st) {
		unix.Close(parent)
		if attr != nil {
			f.fill(attr, f.root, &st)
		}
		return f.root, nil
	}
	m := f.mounts.find(func(m *mount) bool { return m.dev == device(&st) })
	if m == nil {
		unix.Close(parent)
		return nil, vfs.ErrStale
	}
	i, err := f.identify(m, parent, &st)
	if err == nil {
		err = f.beneath(parent, i)
	}
	if err != nil {
		unix.Close(parent)
		return nil, err
	}
	f.adopt(c, i, parent, gradePath).release()
	if attr != nil {
		f.fill(attr, i, &st)
	}
	return i, nil
}

// entry finds what has a name in a directory, for which dirfd is open, and its
// attributes. keep: it will be used soon.
func (f *FS) entry(c *vfs.Call, dir *inode, dirfd int, name string, st *unix.Statx_t, keep bool) (*inode, error) {
	if i := f.recall(dir, dirfd, name, st); i != nil {
		if keep {
			i.used.Store(true)
		}
		return i, nil
	}
	var z nameBuf
	fd, err := f.openAt(c, dirfd, z.set(name))
	if err != nil {
		return nil, err
	}
	if err := fstatx(fd, st); err != nil {
		unix.Close(fd)
		return nil, vfs.Cause(err)
	}
	m, err := f.mountAt(dir.mount, fd, st)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	i, err := f.identify(m, fd, st)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	p := f.noted(i, dir, name)
	if keep {
		f.names.put(p, i)
	}
	if keep && i.file.Load() == nil {
		f.adopt(c, i, fd, gradePath).release()
	} else {
		unix.Close(fd)
	}
	return i, nil
}

// child is entry for who does not have the directory open. errNoPlace: nor knows
// where it is.
func (f *FS) child(c *vfs.Call, dir *inode, name string) (*inode, error) {
	if !dir.isDir() {
		return nil, vfs.ErrNotDir
	}
	h, err := f.reach(c, dir, gradePath)
	if err != nil {
		return nil, err
	}
	defer h.release()
	var st unix.Statx_t
	return f.entry(c, dir, h.fd, name, &st, false)
}

// Readlink returns a symbolic link's target.
func (f *FS) Readlink(c *vfs.Call, o vfs.Object) (string, error) {
	i := o.(*inode)
	var st unix.Statx_t
	if i.typ == vfs.TypeSymlink && !c.MayWait {
		return "", vfs.ErrWouldBlock
	}
	if err := f.stat(c, i, &st); err != nil {
		return "", err
	}
	f.leave(c, i, &st)
	if i.typ != vfs.TypeSymlink {
		return "", vfs.ErrInvalid
	}
	h, err := f.hold(c, i, gradePath)
	if err != nil {
		return "", err
	}
	defer h.release()
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(h.fd, "", buf)
	if err != nil {
		return "", vfs.Cause(err)
	}
	return string(buf[:n]), nil
}
