package memfs

import "eddy.example/vfs"

// Remove takes away a name of whatever is no directory, and with its last name
// the object.
func (fs *FS) Remove(c *vfs.Call, dir vfs.Object, name string, dirChg *vfs.Change) error {
	if name == "." || name == ".." {
		return vfs.ErrIsDir
	}
	return fs.remove(c, dir.(*inode), name, dirChg, func(victim *inode) error {
		if victim.dir != nil {
			return vfs.ErrIsDir
		}
		return nil
	})
}

// Rmdir removes an empty directory.
func (fs *FS) Rmdir(c *vfs.Call, dir vfs.Object, name string, dirChg *vfs.Change) error {
	switch name {
	case ".":
		return vfs.ErrInvalid
	case "..":
		return vfs.ErrNotEmpty
	}
	return fs.remove(c, dir.(*inode), name, dirChg, func(victim *inode) error {
		if victim.dir == nil {
			return vfs.ErrNotDir
		}
		if len(victim.dir.names) != 0 {
			return vfs.ErrNotEmpty
		}
		return nil
	})
}

func (fs *FS) remove(c *vfs.Call, d *inode, name string, dirChg *vfs.Change, check func(victim *inode) error) error {
	fs.ns.Lock()
	defer fs.ns.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	e, err := d.checkEntry(c, name)
	if err != nil {
		return err
	}
	victim := e.inode
	victim.mu.Lock()
	defer victim.mu.Unlock()
	if err := c.Cred.CheckDelete(&d.attr, &victim.attr); err != nil {
		return err
	}
	if err := check(victim); err != nil {
		return err
	}
	before(dirChg, d)
	fs.removeName(d, e)
	fs.unlink(d, victim)
	afterwards(dirChg, d)
	return nil
}

// checkEntry finds the entry of the directory that the caller wants removed.
// The directory's lock is held.
func (i *inode) checkEntry(c *vfs.Call, name string) (*entry, error) {
	if err := i.checkDir(c, vfs.PermExec); err != nil {
		return nil, err
	}
	if len(name) > vfs.MaxName {
		return nil, vfs.ErrNameTooLong
	}
	e := i.dir.names[name]
	if e == nil {
		return nil, vfs.ErrNotExist
	}
	return e, nil
}

// unlink takes one link from the inode, whose entry in d is gone already. The
// locks of both are held.
func (fs *FS) unlink(d, i *inode) {
	if i.dir != nil {
		d.attr.Nlink--
		fs.drop(i)
		return
	}
	i.attr.Nlink--
	fs.touch(i, ofAttr)
	if i.attr.Nlink == 0 {
		fs.drop(i)
	}
}
