package vfs

// Capabilities are the interfaces that an FS implements, found once so that
// no call asks again. A nil field is an operation the FS does not have.
type Capabilities struct {
	Segment   SegmentReader
	Readlink  LinkReader
	Access    Accesser
	Statfs    Statfser
	Limits    Limits
	Write     Writer
	Commit    Committer
	Setattr   AttrSetter
	Create    Creator
	Mkdir     Mkdirer
	Symlink   Symlinker
	Mknod     Mknoder
	Remove    Remover
	Rmdir     Rmdirer
	Rename    Renamer
	Link      Linker
	MayWait   bool // the FS honours Call.MayWait
	Exclusive bool
}

// CapabilitiesOf looks at fs.
func CapabilitiesOf(fs FS) Capabilities {
	c := Capabilities{Limits: DefaultLimits()}
	c.Segment, _ = fs.(SegmentReader)
	c.Readlink, _ = fs.(LinkReader)
	c.Access, _ = fs.(Accesser)
	c.Statfs, _ = fs.(Statfser)
	c.Write, _ = fs.(Writer)
	c.Commit, _ = fs.(Committer)
	c.Setattr, _ = fs.(AttrSetter)
	c.Create, _ = fs.(Creator)
	c.Mkdir, _ = fs.(Mkdirer)
	c.Symlink, _ = fs.(Symlinker)
	c.Mknod, _ = fs.(Mknoder)
	c.Remove, _ = fs.(Remover)
	c.Rmdir, _ = fs.(Rmdirer)
	c.Rename, _ = fs.(Renamer)
	c.Link, _ = fs.(Linker)
	if l, ok := fs.(Limiter); ok {
		c.Limits = l.Limits()
	}
	_, c.MayWait = fs.(Waiter)
	_, c.Exclusive = fs.(Exclusive)
	return c
}

// DefaultAccess is the answer to ACCESS for an FS that is no Accesser: what the
// attributes a (Type, Mode, UID and GID) allow and the FS can do.
func (k *Capabilities) DefaultAccess(cred *Cred, a *Attr, want Access) Access {
	switch {
	case a.Type == TypeDirectory:
		adds := k.Create != nil || k.Mkdir != nil || k.Symlink != nil || k.Mknod != nil || k.Link != nil || k.Rename != nil
		deletes := k.Remove != nil || k.Rmdir != nil || k.Rename != nil
		if !adds {
			want &^= AccessExtend
		}
		if !deletes {
			want &^= AccessDelete
		}
		if !adds && !deletes {
			want &^= AccessModify
		}
	case k.Write == nil:
		want &^= AccessModify | AccessExtend
	}
	return cred.Access(a, want)
}
