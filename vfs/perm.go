package vfs

// Perm is a set of the permissions in a mode: three bits, in the order of a
// class of mode bits.
type Perm uint32

// The permissions. PermExec is the right to search, for a directory.
const (
	PermExec Perm = 1 << iota
	PermWrite
	PermRead
)

// Sticky is the mode bit of a directory in which only owners delete.
const Sticky = 0o1000

// perms returns what the mode gives c on an object with attributes a: the
// bits of the first class (owner, group, other) that c falls into. User 0 may
// everything, but execute only what somebody may.
func (c *Cred) perms(a *Attr) Perm {
	switch {
	case c.UID == 0:
		if a.Type == TypeDirectory || a.Mode&0o111 != 0 {
			return PermRead | PermWrite | PermExec
		}
		return PermRead | PermWrite
	case c.UID == a.UID:
		return Perm(a.Mode >> 6 & 7)
	case c.InGroup(a.GID):
		return Perm(a.Mode >> 3 & 7)
	}
	return Perm(a.Mode & 7)
}

// Check returns nil if a Unix file system gives c all of want on an object
// with attributes a (Type, Mode, UID and GID), else ErrAccess.
func (c *Cred) Check(a *Attr, want Perm) error {
	if want&^c.perms(a) != 0 {
		return ErrAccess
	}
	return nil
}

// CheckIO is Check for the data of a file, as NFSv3 needs it. There is no open
// that could remember what was allowed then: so the owner may always read and
// write (a program may open for writing what it creates with mode 0444), and
// what may be executed may be read (a client has to, to execute it).
func (c *Cred) CheckIO(a *Attr, want Perm) error {
	if c.UID == a.UID {
		return nil
	}
	have := c.perms(a)
	if have&PermExec != 0 {
		have |= PermRead
	}
	if want&^have != 0 {
		return ErrAccess
	}
	return nil
}

// CheckDelete returns nil if c may take the entry of the object victim out of
// the directory dir: with write and search permission there and, if dir is
// sticky, as the owner of one of them or as root. Else ErrAccess or, for the
// sticky bit, ErrPerm.
func (c *Cred) CheckDelete(dir, victim *Attr) error {
	if err := c.Check(dir, PermWrite|PermExec); err != nil {
		return err
	}
	if dir.Mode&Sticky != 0 && c.UID != 0 && c.UID != victim.UID && c.UID != dir.UID {
		return ErrPerm
	}
	return nil
}

// Access is the answer to ACCESS that follows from attributes a (Type, Mode,
// UID and GID): those bits of want that c has. AccessLookup and AccessDelete
// are for directories only, AccessExecute for everything else.
func (c *Cred) Access(a *Attr, want Access) Access {
	perms := c.perms(a)
	var have Access
	if perms&PermRead != 0 {
		have |= AccessRead
	}
	if a.Type == TypeDirectory {
		if perms&PermExec != 0 {
			have |= AccessLookup
			if perms&PermWrite != 0 {
				have |= AccessModify | AccessExtend | AccessDelete
			}
		}
		return have & want
	}
	if perms&PermWrite != 0 {
		have |= AccessModify | AccessExtend
	}
	if perms&PermExec != 0 {
		have |= AccessExecute
	}
	return have & want
}
