package memfs

import (
	"strings"

	"eddy.example/vfs"
)

// Create creates a regular file, or finds the one that is there.
func (fs *FS) Create(c *vfs.Call, dir vfs.Object, name string, how vfs.CreateMode, verf [8]byte, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	i, err := fs.create(c, dir.(*inode), name, how, verf, s, attr, dirChg)
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (fs *FS) create(c *vfs.Call, d *inode, name string, how vfs.CreateMode, verf [8]byte, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (*inode, error) {
	fs.ns.Lock()
	defer fs.ns.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	old, err := d.checkAdd(c, name)
	if err == nil {
		i := fs.newInode(vfs.TypeRegular)
		if how == vfs.CreateExclusive {
			i.verf, i.hasVerf = verf, true
		}
		return i, fs.insert(c, d, name, i, s, attr, dirChg)
	}
	if old == nil || err != vfs.ErrExist {
		return nil, err
	}

	before(dirChg, d)
	afterwards(dirChg, d)
	old.mu.Lock()
	defer old.mu.Unlock()
	if old.attr.Type != vfs.TypeRegular {
		return nil, vfs.ErrExist
	}
	switch how {
	case vfs.CreateUnchecked:
		if s.Mask&vfs.AttrSize != 0 {
			err = fs.setattr(c, old, &vfs.SetAttr{Mask: vfs.AttrSize, Size: s.Size})
		} else {
			err = nil
		}
	case vfs.CreateExclusive:
		if old.hasVerf && old.verf == verf {
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	if attr != nil {
		*attr = old.attr
	}
	return old, nil
}

// Mkdir creates a directory.
func (fs *FS) Mkdir(c *vfs.Call, dir vfs.Object, name string, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	return fs.make(c, dir.(*inode), name, fs.newInode(vfs.TypeDirectory), s, attr, dirChg)
}

// Symlink creates a symbolic link.
func (fs *FS) Symlink(c *vfs.Call, dir vfs.Object, name, target string, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	i := fs.newInode(vfs.TypeSymlink)
	i.target = target
	i.attr.Size = uint64(len(target))
	return fs.make(c, dir.(*inode), name, i, s, attr, dirChg)
}

// Mknod creates a device, socket or FIFO: names with numbers, for clients to
// use; nothing here opens them. Only root makes devices.
func (fs *FS) Mknod(c *vfs.Call, dir vfs.Object, name string, t vfs.Type, major, minor uint32, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	i := fs.newInode(t)
	switch t {
	case vfs.TypeBlock, vfs.TypeChar:
		if c.Cred.UID != 0 {
			return nil, vfs.ErrPerm
		}
		i.attr.RdevMajor, i.attr.RdevMinor = major, minor
	case vfs.TypeSocket, vfs.TypeFIFO:
	default:
		return nil, vfs.ErrBadType
	}
	return fs.make(c, dir.(*inode), name, i, s, attr, dirChg)
}

// make gives a new inode its name, if that is free.
func (fs *FS) make(c *vfs.Call, d *inode, name string, i *inode, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	fs.ns.Lock()
	defer fs.ns.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.checkAdd(c, name); err != nil {
		return nil, err
	}
	if err := fs.insert(c, d, name, i, s, attr, dirChg); err != nil {
		return nil, err
	}
	return i, nil
}

// Link gives a file one more name.
func (fs *FS) Link(c *vfs.Call, o vfs.Object, dir vfs.Object, name string, attr *vfs.Attr, dirChg *vfs.Change) error {
	i, d := o.(*inode), dir.(*inode)
	if i.dir != nil {
		return vfs.ErrIsDir
	}
	fs.ns.Lock()
	defer fs.ns.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.checkAdd(c, name); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.alive(); err != nil {
		return err
	}
	if i.attr.Nlink >= maxLink {
		return vfs.ErrTooManyLinks
	}
	if !fs.space.take(entryCost(name)) {
		return vfs.ErrNoSpace
	}
	before(dirChg, d)
	fs.addName(d, name, i)
	i.attr.Nlink++
	fs.touch(i, ofAttr)
	afterwards(dirChg, d)
	if attr != nil {
		*attr = i.attr
	}
	return nil
}

// checkAdd returns nil if the caller may add name to the directory and it is
// free; with ErrExist also what has the name, unless it is "." or "..". The
// directory's lock is held.
func (i *inode) checkAdd(c *vfs.Call, name string) (*inode, error) {
	if err := i.checkDir(c, vfs.PermExec); err != nil {
		return nil, err
	}
	switch {
	case name == "." || name == "..":
		return nil, vfs.ErrExist
	case name == "" || strings.IndexByte(name, '/') >= 0:
		return nil, vfs.ErrInvalid
	case len(name) > vfs.MaxName:
		return nil, vfs.ErrNameTooLong
	}
	if e := i.dir.names[name]; e != nil {
		return e.inode, vfs.ErrExist
	}
	return nil, c.Cred.Check(&i.attr, vfs.PermWrite)
}

// insert gives the new inode its owner, what s says, and a name in d that is
// free. d's lock is held.
func (fs *FS) insert(c *vfs.Call, d *inode, name string, i *inode, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) error {
	i.attr.UID, i.attr.GID = c.Cred.UID, c.Cred.GID
	i.attr.Mode = 0o600
	if i.dir != nil {
		if d.attr.Nlink >= maxLink {
			return vfs.ErrTooManyLinks
		}
		i.attr.Mode = 0o700
		i.dir.parent = d
	}
	if i.attr.Type == vfs.TypeSymlink {
		i.attr.Mode = 0o777
	}
	if err := fs.initAttr(c, d, i, s); err != nil {
		return err
	}
	if !fs.space.take(inodeCost + int64(len(i.target)) + entryCost(name)) {
		return vfs.ErrNoSpace
	}
	if attr != nil {
		*attr = i.attr // while nobody else knows the inode
	}
	before(dirChg, d)
	fs.inodes.add(i)
	fs.addName(d, name, i)
	if i.dir != nil {
		d.attr.Nlink++
	}
	afterwards(dirChg, d)
	return nil
}

// entryCost is what an entry counts against the limit, and adds to the size of
// its directory.
func entryCost(name string) int64 { return nameCost + int64(len(name)) }

// addName adds an entry to d, whose lock is held and whose space is taken.
func (fs *FS) addName(d *inode, name string, i *inode) {
	d.dir.add(name, i)
	d.attr.Size += uint64(entryCost(name))
	d.attr.Used = d.attr.Size
	fs.touch(d, ofData)
}

// removeName removes an entry of d, whose lock is held.
func (fs *FS) removeName(d *inode, e *entry) {
	d.dir.remove(e)
	fs.space.give(entryCost(e.name))
	d.attr.Size -= uint64(entryCost(e.name))
	d.attr.Used = d.attr.Size
	fs.touch(d, ofData)
}
