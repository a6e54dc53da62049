package local

import (
	"math"
	"strconv"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// settable are the attributes that Setattr and the creating operations take.
const settable = vfs.AttrMode | vfs.AttrUID | vfs.AttrGID | vfs.AttrSize

// Setattr changes attributes. What can be known to fail fails before anything
// is changed.
func (f *FS) Setattr(c *vfs.Call, o vfs.Object, s *vfs.SetAttr, guard *vfs.Time, chg *vfs.Change) error {
	if !c.MayWait {
		return f.later()
	}
	i := o.(*inode)
	i.mu.Lock()
	h, err := f.setattr(c, i, s, guard, chg)
	i.mu.Unlock()
	if h == nil {
		return err
	}
	defer h.release()
	if err != nil {
		return err
	}
	return f.durableAttr(i, h)
}

// durableAttr is durable for a change of attributes: of a file together with
// the syncs of its data, so that these hold up nobody else.
func (f *FS) durableAttr(i *inode, h *file) error {
	switch {
	case i.typ != vfs.TypeRegular || h.grade == gradePath:
		return f.durable(i.mount, h)
	case f.async.Load():
		return nil
	}
	return f.commit(i, h, true)
}

// setattr is Setattr for who holds i.mu, without the sync. It returns what is
// to be synced, if anything was changed.
func (f *FS) setattr(c *vfs.Call, i *inode, s *vfs.SetAttr, guard *vfs.Time, chg *vfs.Change) (*file, error) {
	if err := valid(s); err != nil {
		return nil, err
	}
	var st unix.Statx_t
	if err := f.stat(c, i, &st); err != nil {
		return nil, err
	}
	var x change
	f.begin(&x, chg, i, &st)
	if chg != nil {
		chg.Post = chg.Pre
	}
	if guard != nil && *guard != timeOf(st.Ctime) {
		return nil, vfs.ErrNotSync
	}
	if i.typ == vfs.TypeSymlink && s.Mask&vfs.AttrMode != 0 {
		// Links have no mode on Linux; clients that know one set it all the same.
		modeless := *s
		modeless.Mask &^= vfs.AttrMode
		s = &modeless
	}
	if s.IsZero() {
		return nil, nil
	}
	if err := f.maySet(c, i, s, &st); err != nil {
		return nil, err
	}
	h, err := f.holdToSet(c, i, s)
	if err != nil {
		return nil, err
	}
	i.verf.set = false
	err = f.apply(c, h, s)
	f.end(&x, i, h.fd, true)
	return h, err
}

// holdToSet holds a descriptor through which s can be set.
func (f *FS) holdToSet(c *vfs.Call, i *inode, s *vfs.SetAttr) (*file, error) {
	if s.Mask&vfs.AttrSize != 0 {
		return f.hold(c, i, gradeWrite)
	}
	return f.holdToSync(c, i)
}

// holdToSync holds the best descriptor for a sync that there can be.
func (f *FS) holdToSync(c *vfs.Call, i *inode) (*file, error) {
	if i.isDir() || i.typ == vfs.TypeRegular {
		h, err := f.hold(c, i, gradeRead)
		if err != vfs.ErrAccess && err != vfs.ErrPerm {
			return h, err
		}
	}
	return f.hold(c, i, gradePath)
}

// valid checks what can't be set whatever the object.
func valid(s *vfs.SetAttr) error {
	switch {
	case s.Mask&^settable != 0, !validTime(s.SetAtime, s.Atime), !validTime(s.SetMtime, s.Mtime):
		return vfs.ErrInvalid
	case s.Mask&vfs.AttrSize != 0 && s.Size > math.MaxInt64:
		return vfs.ErrFileTooBig
	}
	return nil
}

func validTime(how vfs.SetTime, t vfs.Time) bool {
	return how <= vfs.TimeServer || how == vfs.TimeGiven && t.Nsec < 1e9
}

// maySet decides whether the caller may set what s says, by the rules of the
// kernel, which has the last word: so that of several attributes all are set
// or none.
func (f *FS) maySet(c *vfs.Call, i *inode, s *vfs.SetAttr, st *unix.Statx_t) error {
	who := f.server.who(c)
	root := who.UID == 0
	owner := root || who.UID == st.Uid
	has := func(m vfs.AttrMask) bool { return s.Mask&m != 0 }
	given := s.SetAtime == vfs.TimeGiven || s.SetMtime == vfs.TimeGiven
	switch {
	case has(vfs.AttrMode) && !owner:
		return vfs.ErrPerm
	case has(vfs.AttrUID) && !root && (!owner || s.UID != st.Uid):
		return vfs.ErrPerm
	case has(vfs.AttrGID) && !root && (!owner || s.GID != st.Gid && !who.InGroup(s.GID)):
		return vfs.ErrPerm
	case given && !owner:
		return vfs.ErrPerm
	}
	if s.SetAtime|s.SetMtime != vfs.TimeKeep && !owner {
		if err := f.check(c, i, st, vfs.PermWrite); err != nil {
			return err
		}
	}
	if !has(vfs.AttrSize) {
		return nil
	}
	switch i.typ {
	case vfs.TypeRegular:
		return f.checkData(c, i, st, vfs.PermWrite)
	case vfs.TypeDirectory:
		return vfs.ErrIsDir
	}
	return vfs.ErrInvalid
}

// apply sets attributes as the caller: first what fails most easily, and the
// mode after the owner, which takes set-id bits away.
func (f *FS) apply(c *vfs.Call, h *file, s *vfs.SetAttr) error {
	as := f.server.as(c, 0)
	defer as.done()
	if s.Mask&vfs.AttrSize != 0 {
		if err := unix.Ftruncate(h.fd, int64(s.Size)); err != nil {
			return vfs.Cause(err)
		}
	}
	if s.Mask&(vfs.AttrUID|vfs.AttrGID) != 0 {
		uid, gid := -1, -1
		if s.Mask&vfs.AttrUID != 0 {
			uid = int(int32(s.UID))
		}
		if s.Mask&vfs.AttrGID != 0 {
			gid = int(int32(s.GID))
		}
		if err := unix.Fchownat(h.fd, "", uid, gid, unix.AT_EMPTY_PATH); err != nil {
			return vfs.Cause(err)
		}
	}
	if s.Mask&vfs.AttrMode != 0 {
		if err := f.chmod(h, s.Mode); err != nil {
			return vfs.Cause(err)
		}
	}
	if s.SetAtime|s.SetMtime == vfs.TimeKeep {
		return nil
	}
	times := [2]timespec{newTimespec(s.SetAtime, s.Atime), newTimespec(s.SetMtime, s.Mtime)}
	return vfs.Cause(utimens(h.fd, &times))
}

// newTimespec is a time as utimensat wants it.
func newTimespec(how vfs.SetTime, t vfs.Time) timespec {
	switch how {
	case vfs.TimeKeep:
		return timespec{nsec: unix.UTIME_OMIT}
	case vfs.TimeServer:
		return timespec{nsec: unix.UTIME_NOW}
	}
	return timespec{t.Sec, int64(t.Nsec)}
}

// chmod sets the mode. What can't be opened has no fchmod.
func (f *FS) chmod(h *file, mode uint32) error {
	if h.grade > gradePath {
		return unix.Fchmod(h.fd, mode&0o7777)
	}
	err := fchmodat2(h.fd, nowhere.ptr(), mode&0o7777, unix.AT_EMPTY_PATH)
	if err == unix.ENOSYS && f.procFDs >= 0 {
		err = unix.Fchmodat(f.procFDs, strconv.Itoa(h.fd), mode&0o7777, 0)
	}
	return err
}
