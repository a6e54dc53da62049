package memfs

import (
	"sync"
	"time"

	"eddy.example/vfs"
)

// Bits of a mode.
const (
	permissions = 0o7777
	setUID      = 0o4000
	setGID      = 0o2000
	groupExec   = 0o0010
)

// known are the attributes that every inode has. FSID is not among them: it
// is the export's.
const known = vfs.AttrBasic | vfs.AttrRdev | vfs.AttrChange | vfs.AttrBtime

// inodeCost is what an inode counts against the limit, and nameCost an entry
// beside the length of its name: about what they take.
const (
	inodeCost = 320
	nameCost  = 96
)

// inode is an object of the file system.
type inode struct {
	mu sync.RWMutex // guards what follows

	// attr are the attributes; FileID and Type never change. With Nlink 0 the
	// inode is gone: it has no data, and every call on it is stale.
	attr vfs.Attr

	data   pages      // of a regular file
	dir    *directory // of a directory
	target string     // of a symbolic link; never changes

	// verf is what an exclusive CREATE came with, until the first SETATTR.
	verf    [8]byte
	hasVerf bool
}

// newInode returns an inode that nobody else knows yet, and that counts
// nothing against the limit.
func (fs *FS) newInode(t vfs.Type) *inode {
	now := toTime(fs.now())
	i := &inode{attr: vfs.Attr{
		Mask: known, Type: t, Nlink: 1, FileID: fs.lastIno.Add(1),
		Atime: now, Mtime: now, Ctime: now, Btime: now, Change: 1,
	}}
	if t == vfs.TypeDirectory {
		i.attr.Nlink = 2
		i.dir = newDirectory()
	}
	return i
}

// drop ends the inode when its last name is gone. Its lock is held. What it
// held is garbage from now on.
func (fs *FS) drop(i *inode) {
	fs.inodes.remove(i)
	fs.space.give(inodeCost + int64(len(i.target)) + i.data.held*pageSize)
	i.attr.Nlink, i.attr.Used = 0, 0
	i.data = pages{}
}

// alive returns ErrStale if the inode is gone. Its lock is held.
func (i *inode) alive() error {
	if i.attr.Nlink == 0 {
		return vfs.ErrStale
	}
	return nil
}

// What a change is of: attributes alone, or data or entries too.
const (
	ofAttr = false
	ofData = true
)

// touch records a change in times and change counter. The inode's lock is
// held.
func (fs *FS) touch(i *inode, data bool) {
	now := toTime(fs.now())
	if !i.attr.Ctime.Before(now) {
		now = after(i.attr.Ctime)
	}
	i.attr.Ctime = now
	if data {
		i.attr.Mtime = now
	}
	i.attr.Change++
}

// Getattr copies the attributes.
func (fs *FS) Getattr(_ *vfs.Call, o vfs.Object, _ vfs.AttrMask, attr *vfs.Attr) error {
	i := o.(*inode)
	i.mu.RLock()
	defer i.mu.RUnlock()
	if err := i.alive(); err != nil {
		return err
	}
	*attr = i.attr
	return nil
}

// Access answers from mode and owner.
func (fs *FS) Access(c *vfs.Call, o vfs.Object, want vfs.Access) (vfs.Access, error) {
	i := o.(*inode)
	i.mu.RLock()
	defer i.mu.RUnlock()
	if err := i.alive(); err != nil {
		return 0, err
	}
	return c.Cred.Access(&i.attr, want), nil
}

// Readlink returns a symbolic link's target.
func (fs *FS) Readlink(_ *vfs.Call, o vfs.Object) (string, error) {
	i := o.(*inode)
	i.mu.RLock()
	defer i.mu.RUnlock()
	if err := i.alive(); err != nil {
		return "", err
	}
	if i.attr.Type != vfs.TypeSymlink {
		return "", vfs.ErrInvalid
	}
	return i.target, nil
}

// before and afterwards fill in one side of a Change, which may be nil. The
// inode's lock is held over both and the change.
func before(chg *vfs.Change, i *inode) {
	if chg != nil {
		chg.Pre = i.attr
	}
}

func afterwards(chg *vfs.Change, i *inode) {
	if chg != nil {
		chg.Post = i.attr
	}
}

func toTime(t time.Time) vfs.Time {
	return vfs.Time{Sec: t.Unix(), Nsec: uint32(t.Nanosecond())}
}

// after is the next moment after t.
func after(t vfs.Time) vfs.Time {
	if t.Nsec++; t.Nsec == 1e9 {
		t.Sec, t.Nsec = t.Sec+1, 0
	}
	return t
}
