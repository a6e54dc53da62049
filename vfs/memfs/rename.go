package memfs

import (
	"slices"

	"eddy.example/vfs"
)

// Rename renames, in one step with the removal of what has the new name.
func (fs *FS) Rename(c *vfs.Call, from vfs.Object, fromName string, to vfs.Object, toName string, fromChg, toChg *vfs.Change) error {
	fs.ns.Lock()
	defer fs.ns.Unlock()
	// Only this call changes names now, so what is found here holds until
	// the end, even while no inode is locked.
	r := rename{fs: fs, from: from.(*inode), to: to.(*inode), fromName: fromName, toName: toName}
	if err := r.find(c); err != nil {
		return err
	}
	for _, i := range distinct(r.from, r.to, r.source, r.target) {
		i.mu.Lock()
		defer i.mu.Unlock()
	}
	if err := r.check(c); err != nil {
		return err
	}
	before(fromChg, r.from)
	before(toChg, r.to)
	if r.source != r.target {
		r.apply()
	}
	afterwards(fromChg, r.from)
	afterwards(toChg, r.to)
	return nil
}

type rename struct {
	fs               *FS
	from, to         *inode // directories
	fromName, toName string
	source, target   *inode // target is nil if toName is free
}

// find looks the names up.
func (r *rename) find(c *vfs.Call) (err error) {
	for _, name := range [2]string{r.fromName, r.toName} {
		if name == "." || name == ".." {
			return vfs.ErrInvalid
		}
	}
	r.from.mu.RLock()
	e, err := r.from.checkEntry(c, r.fromName)
	r.from.mu.RUnlock()
	if err != nil {
		return err
	}
	r.source = e.inode
	r.to.mu.RLock()
	r.target, err = r.to.checkAdd(c, r.toName)
	r.to.mu.RUnlock()
	if err == vfs.ErrExist {
		return nil
	}
	return err
}

// check decides whether the rename is allowed and possible. All locks are held.
func (r *rename) check(c *vfs.Call) error {
	if err := c.Cred.CheckDelete(&r.from.attr, &r.source.attr); err != nil {
		return err
	}
	if err := c.Cred.Check(&r.to.attr, vfs.PermWrite|vfs.PermExec); err != nil {
		return err
	}
	if r.source.dir != nil && r.from != r.to {
		// A directory that gets another parent is written to: its "..".
		if err := c.Cred.Check(&r.source.attr, vfs.PermWrite); err != nil {
			return err
		}
		for d := r.to; ; d = d.dir.parent {
			if d == r.source {
				return vfs.ErrInvalid
			}
			if d == r.fs.root {
				break
			}
		}
		if r.target == nil && r.to.attr.Nlink >= maxLink {
			return vfs.ErrTooManyLinks
		}
	}
	if r.target == nil || r.target == r.source {
		return nil
	}
	if err := c.Cred.CheckDelete(&r.to.attr, &r.target.attr); err != nil {
		return err
	}
	switch {
	case r.source.dir == nil && r.target.dir != nil:
		return vfs.ErrIsDir
	case r.source.dir != nil && r.target.dir == nil:
		return vfs.ErrNotDir
	case r.target.dir != nil && len(r.target.dir.names) != 0:
		return vfs.ErrNotEmpty
	}
	return nil
}

// apply renames. A name that is replaced keeps its place in the directory.
func (r *rename) apply() {
	fs := r.fs
	if e := r.to.dir.names[r.toName]; e != nil {
		e.inode = r.source
		fs.touch(r.to, ofData)
		fs.unlink(r.to, r.target)
		fs.removeName(r.from, r.from.dir.names[r.fromName])
	} else {
		// A longer name may exceed the limit, by a few bytes: a rename
		// does not fail for want of space.
		fs.space.used.Add(entryCost(r.toName))
		fs.removeName(r.from, r.from.dir.names[r.fromName])
		fs.addName(r.to, r.toName, r.source)
	}
	if r.source.dir != nil {
		r.from.attr.Nlink--
		r.to.attr.Nlink++
		r.source.dir.parent = r.to
	}
	fs.touch(r.source, ofAttr)
}

// distinct returns the inodes without nils and repetitions.
func distinct(inodes ...*inode) (set []*inode) {
	for _, i := range inodes {
		if i != nil && !slices.Contains(set, i) {
			set = append(set, i)
		}
	}
	return set
}
