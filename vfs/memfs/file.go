package memfs

import "eddy.example/vfs"

// Read copies a file's data to p.
func (fs *FS) Read(c *vfs.Call, o vfs.Object, p []byte, off uint64) (n int, eof bool, err error) {
	i := o.(*inode)
	i.mu.RLock()
	defer i.mu.RUnlock()
	if err := i.checkFile(c, vfs.PermRead); err != nil {
		return 0, false, err
	}
	size := i.attr.Size
	if off >= size {
		return 0, true, nil
	}
	n = int(min(uint64(len(p)), size-off))
	i.data.read(p[:n], off)
	return n, off+uint64(n) == size, nil
}

// Write copies data to the file. It reaches the stability asked for; see the
// package comment. With too little space for all of data it writes what fits.
func (fs *FS) Write(c *vfs.Call, o vfs.Object, data []byte, off uint64, how vfs.Stability, chg *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	n, err := fs.write(c, o.(*inode), data, off, chg)
	return n, how, fs.verifier, err
}

func (fs *FS) write(c *vfs.Call, i *inode, data []byte, off uint64, chg *vfs.Change) (n int, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.checkFile(c, vfs.PermWrite); err != nil {
		return 0, err
	}
	if off > maxFileSize || uint64(len(data)) > maxFileSize-off {
		return 0, vfs.ErrFileTooBig
	}
	before(chg, i)
	defer afterwards(chg, i)
	if len(data) == 0 {
		return 0, nil
	}
	n = i.data.write(data, off, &fs.space)
	if n == 0 {
		return 0, vfs.ErrNoSpace
	}
	i.attr.Size = max(i.attr.Size, off+uint64(n))
	i.attr.Used = uint64(i.data.held) * pageSize
	if c.Cred.UID != 0 {
		i.dropSetID()
	}
	fs.touch(i, ofData)
	return n, nil
}

// Commit has nothing to do: what is written is as durable as it gets.
func (fs *FS) Commit(c *vfs.Call, o vfs.Object, _, _ uint64, chg *vfs.Change) (vfs.Verifier, error) {
	i := o.(*inode)
	i.mu.RLock()
	defer i.mu.RUnlock()
	if err := i.checkFile(c, vfs.PermWrite); err != nil {
		return fs.verifier, err
	}
	before(chg, i)
	afterwards(chg, i)
	return fs.verifier, nil
}

// checkFile returns nil if the inode is a regular file whose data the caller
// may use as want says. Its lock is held.
func (i *inode) checkFile(c *vfs.Call, want vfs.Perm) error {
	if err := i.alive(); err != nil {
		return err
	}
	switch i.attr.Type {
	case vfs.TypeRegular:
		return c.Cred.CheckIO(&i.attr, want)
	case vfs.TypeDirectory:
		return vfs.ErrIsDir
	}
	return vfs.ErrInvalid
}

// setSize cuts or extends the file. Its lock is held.
func (fs *FS) setSize(i *inode, size uint64) {
	if size < i.attr.Size {
		i.data.truncate(size, &fs.space)
	}
	i.attr.Size = size
	i.attr.Used = uint64(i.data.held) * pageSize
}

// dropSetID takes the set-id bits from a file whose data somebody other than
// root changes, or whose owner does. Set-group-id without group execution means
// no privilege and stays.
func (i *inode) dropSetID() {
	if i.attr.Type != vfs.TypeRegular {
		return
	}
	i.attr.Mode &^= setUID
	if i.attr.Mode&groupExec != 0 {
		i.attr.Mode &^= setGID
	}
}
