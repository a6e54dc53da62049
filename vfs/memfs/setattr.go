package memfs

import "eddy.example/vfs"

// settable are the attributes that Setattr and the creating operations take.
const settable = vfs.AttrMode | vfs.AttrUID | vfs.AttrGID | vfs.AttrSize

// Setattr changes attributes, all or none, by the rules of a Unix system: mode
// and times are the owner's to set, the owner root's, the group the owner's
// among the own groups, the size whose who may write.
func (fs *FS) Setattr(c *vfs.Call, o vfs.Object, s *vfs.SetAttr, guard *vfs.Time, chg *vfs.Change) error {
	i := o.(*inode)
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.alive(); err != nil {
		return err
	}
	before(chg, i)
	defer afterwards(chg, i)
	if guard != nil && *guard != i.attr.Ctime {
		return vfs.ErrNotSync
	}
	return fs.setattr(c, i, s)
}

// setattr is Setattr for who holds the lock.
func (fs *FS) setattr(c *vfs.Call, i *inode, s *vfs.SetAttr) error {
	if s.IsZero() {
		return nil
	}
	if err := i.checkSetattr(&c.Cred, s); err != nil {
		return err
	}
	i.hasVerf = false
	if s.Mask&vfs.AttrSize != 0 {
		fs.setSize(i, s.Size)
	}
	// A new owner does not inherit a privilege, not even by root's hand.
	if c.Cred.UID != 0 && s.Mask&vfs.AttrSize != 0 || s.Mask&(vfs.AttrUID|vfs.AttrGID) != 0 {
		i.dropSetID()
	}
	fs.touch(i, s.Mask&vfs.AttrSize != 0)
	i.assign(&c.Cred, s)
	return nil
}

// initAttr gives the new inode the group and set-group-id bit that it inherits
// from the directory d, and what s says.
func (fs *FS) initAttr(c *vfs.Call, d, i *inode, s *vfs.SetAttr) error {
	if d.attr.Mode&setGID != 0 {
		i.attr.GID = d.attr.GID
	}
	if err := i.checkSetattr(&c.Cred, s); err != nil {
		return err
	}
	if s.Mask&vfs.AttrSize != 0 {
		i.attr.Size = s.Size
	}
	i.assign(&c.Cred, s)
	if i.dir != nil && d.attr.Mode&setGID != 0 {
		i.attr.Mode |= setGID
	}
	return nil
}

// checkSetattr decides whether the caller may set what s says.
func (i *inode) checkSetattr(cred *vfs.Cred, s *vfs.SetAttr) error {
	root := cred.UID == 0
	owner := root || cred.UID == i.attr.UID
	has := func(m vfs.AttrMask) bool { return s.Mask&m != 0 }
	given := s.SetAtime == vfs.TimeGiven || s.SetMtime == vfs.TimeGiven
	switch {
	case has(^settable), !validTime(s.SetAtime, s.Atime), !validTime(s.SetMtime, s.Mtime):
		return vfs.ErrInvalid
	case has(vfs.AttrMode) && !owner:
		return vfs.ErrPerm
	case has(vfs.AttrUID) && !root && (!owner || s.UID != i.attr.UID):
		return vfs.ErrPerm
	case has(vfs.AttrGID) && !root && (!owner || s.GID != i.attr.GID && !cred.InGroup(s.GID)):
		return vfs.ErrPerm
	case given && !owner:
		return vfs.ErrPerm
	}
	if s.SetAtime|s.SetMtime != vfs.TimeKeep && !owner {
		if err := cred.Check(&i.attr, vfs.PermWrite); err != nil {
			return err
		}
	}
	if !has(vfs.AttrSize) {
		return nil
	}
	switch {
	case i.attr.Type == vfs.TypeDirectory:
		return vfs.ErrIsDir
	case i.attr.Type != vfs.TypeRegular:
		return vfs.ErrInvalid
	case s.Size > maxFileSize:
		return vfs.ErrFileTooBig
	}
	return cred.CheckIO(&i.attr, vfs.PermWrite)
}

func validTime(how vfs.SetTime, t vfs.Time) bool {
	return how <= vfs.TimeServer || how == vfs.TimeGiven && t.Nsec < 1e9
}

// assign sets mode, owner, group and times. The server's time is that of the
// change.
func (i *inode) assign(cred *vfs.Cred, s *vfs.SetAttr) {
	a := &i.attr
	if s.Mask&vfs.AttrUID != 0 {
		a.UID = s.UID
	}
	if s.Mask&vfs.AttrGID != 0 {
		a.GID = s.GID
	}
	if s.Mask&vfs.AttrMode != 0 {
		a.Mode = s.Mode & permissions
		if cred.UID != 0 && !cred.InGroup(a.GID) {
			a.Mode &^= setGID
		}
	}
	assignTime(&a.Atime, s.SetAtime, s.Atime, a.Ctime)
	assignTime(&a.Mtime, s.SetMtime, s.Mtime, a.Ctime)
}

func assignTime(t *vfs.Time, how vfs.SetTime, given, now vfs.Time) {
	switch how {
	case vfs.TimeServer:
		*t = now
	case vfs.TimeGiven:
		*t = given
	}
}
