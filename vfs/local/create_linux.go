package local

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// checkName checks a name that is to be given to something.
func checkName(name string) error {
	switch {
	case name == "." || name == "..":
		return vfs.ErrExist
	case name == "" || strings.ContainsAny(name, "/\x00"):
		return vfs.ErrInvalid
	case len(name) > vfs.MaxName:
		return vfs.ErrNameTooLong
	}
	return nil
}

// making is the making of a new name in a directory, whose mu is held.
type making struct {
	change
	*FS
	c    *vfs.Call
	dir  *inode
	held *file // of the directory
	name string
	set  vfs.SetAttr
}

// start checks what can be checked before, and holds the directory. Only with
// a nil error the caller ends it with stop.
func (m *making) start(s *vfs.SetAttr, chg *vfs.Change) error {
	if !m.c.MayWait {
		return m.later()
	}
	if !m.dir.isDir() {
		return vfs.ErrNotDir
	}
	if err := checkName(m.name); err != nil {
		return err
	}
	if s != nil {
		if err := valid(s); err != nil {
			return err
		}
		m.set = *s
	}
	m.dir.mu.Lock()
	var st unix.Statx_t
	err := m.statDir(m.c, m.dir, &st, vfs.PermExec)
	if err == nil {
		m.held, err = m.holdToSync(m.c, m.dir)
	}
	if err != nil {
		m.dir.mu.Unlock()
		return err
	}
	m.begin(&m.change, chg, m.dir, &st)
	return nil
}

// stop ends it. did: the directory was changed.
func (m *making) stop(did bool) {
	m.end(&m.change, m.dir, m.held.fd, did)
	m.dir.mu.Unlock()
}

// mode is the mode that the new object is to have.
func (m *making) mode(otherwise uint32) uint32 {
	if m.set.Mask&vfs.AttrMode != 0 {
		return m.set.Mode & 0o7777
	}
	return otherwise
}

// finish gives the new object what it is to have beside its mode, and the mode
// where the process's umask has taken something from it. A directory's default
// access list takes the umask's place, and has had its effect.
func (m *making) finish(i *inode, h *file, mode uint32, attr *vfs.Attr) error {
	var st unix.Statx_t
	if err := fstatx(h.fd, &st); err != nil {
		return vfs.Cause(err)
	}
	m.set.Mask &^= vfs.AttrMode
	if missing := mode &^ uint32(st.Mode) & 0o777; missing != 0 && i.typ != vfs.TypeSymlink && !m.hasDefaultACL() {
		m.set.Mask |= vfs.AttrMode
		m.set.Mode = uint32(st.Mode)&0o7777 | missing
	}
	if !m.set.IsZero() {
		if err := m.maySet(m.c, i, &m.set, &st); err != nil {
			return err
		}
		if err := m.apply(m.c, h, &m.set); err != nil {
			return err
		}
		if err := fstatx(h.fd, &st); err != nil {
			return vfs.Cause(err)
		}
	}
	if attr != nil {
		m.fill(attr, i, &st)
	}
	return nil
}

func (m *making) hasDefaultACL() bool {
	n, err := unix.Fgetxattr(m.held.fd, "system.posix_acl_default", nil)
	return err == nil && n > 0
}

// Create creates a regular file, or finds the one that is there.
func (f *FS) Create(c *vfs.Call, dir vfs.Object, name string, how vfs.CreateMode, verf [8]byte, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	m := making{FS: f, c: c, dir: dir.(*inode), name: name}
	if how == vfs.CreateExclusive {
		s = new(vfs.SetAttr)
	}
	if err := m.start(s, dirChg); err != nil {
		return nil, err
	}
	defer m.held.release()
	for range 3 {
		i, h, err := m.create(how, verf, attr)
		did := err == nil
		if err == vfs.ErrExist {
			if i, h, err = m.existing(how, verf, attr); err == vfs.ErrNotExist {
				continue // removed behind our back
			}
		}
		m.stop(did)
		if err != nil {
			return nil, err
		}
		switch {
		case did:
			err = f.durable(m.dir.mount, m.held, h)
		case h != nil:
			err = f.durableAttr(i, h)
		}
		if h != nil {
			h.release()
		}
		if err != nil {
			return nil, err
		}
		return i, nil
	}
	m.stop(false)
	return nil, vfs.ErrDelay
}

// create creates the file.
func (m *making) create(how vfs.CreateMode, verf [8]byte, attr *vfs.Attr) (*inode, *file, error) {
	const flags = unix.O_CREAT | unix.O_EXCL | unix.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	mode := m.mode(0o600)
	fd, err := m.retry(m.c, func() (int, error) {
		as := m.server.as(m.c, 0)
		defer as.done()
		return unix.Openat(m.held.fd, m.name, flags, mode)
	})
	if err != nil {
		return nil, nil, vfs.Cause(err)
	}
	var st unix.Statx_t
	if err := fstatx(fd, &st); err != nil {
		unix.Close(fd)
		return nil, nil, vfs.Cause(err)
	}
	i, err := m.identify(m.dir.mount, fd, &st)
	if err != nil {
		unix.Close(fd)
		return nil, nil, err
	}
	m.note(i, &place{m.dir, newCString(m.name)})
	h := m.adopt(m.c, i, fd, gradeWrite)
	if how == vfs.CreateExclusive {
		i.mu.Lock()
		i.verf = exclusive{verf: verf, set: true}
		i.mu.Unlock()
		i.verf.times(&m.set)
	}
	if err := m.finish(i, h, mode, attr); err != nil {
		h.release()
		unix.Unlinkat(m.held.fd, m.name, 0)
		m.gone(i, true)
		return nil, nil, err
	}
	return i, h, nil
}

// existing finds the file that has the name. The descriptor is of a file that
// was changed.
func (m *making) existing(how vfs.CreateMode, verf [8]byte, attr *vfs.Attr) (*inode, *file, error) {
	if how == vfs.CreateGuarded {
		return nil, nil, vfs.ErrExist
	}
	var st unix.Statx_t
	i, err := m.entry(m.c, m.dir, m.held.fd, m.name, &st, true)
	if err != nil {
		return nil, nil, err
	}
	if i.typ != vfs.TypeRegular {
		return nil, nil, vfs.ErrExist
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if how == vfs.CreateExclusive && !i.verf.matches(verf, &st) {
		return nil, nil, vfs.ErrExist
	}
	var h *file
	if how == vfs.CreateUnchecked && m.set.Mask&vfs.AttrSize != 0 {
		if h, err = m.setattr(m.c, i, &vfs.SetAttr{Mask: vfs.AttrSize, Size: m.set.Size}, nil, nil); err != nil {
			if h != nil {
				h.release()
			}
			return nil, nil, err
		}
	}
	if attr != nil {
		attr.Mask = 0
		if err := m.Getattr(m.c, i, known, attr); err != nil {
			attr.Mask = 0
		}
	}
	return i, h, nil
}

// exclusive is the verifier that an exclusive CREATE came with. It is kept
// with the file too, in its times, for a CREATE that comes again after the
// server was started anew: 31 bits of each half in the seconds, the one left in
// the nanoseconds, which are no others that anybody has.
type exclusive struct {
	verf [8]byte
	set  bool
}

const exclusiveNsec = 0x0edd1e00

func (e *exclusive) split() (a, m uint32) {
	return binary.BigEndian.Uint32(e.verf[:4]), binary.BigEndian.Uint32(e.verf[4:])
}

func exclusiveTime(half uint32) vfs.Time {
	return vfs.Time{Sec: int64(half &^ (1 << 31)), Nsec: exclusiveNsec | half>>31}
}

// times makes s set the times that keep the verifier.
func (e *exclusive) times(s *vfs.SetAttr) {
	a, m := e.split()
	s.SetAtime, s.Atime = vfs.TimeGiven, exclusiveTime(a)
	s.SetMtime, s.Mtime = vfs.TimeGiven, exclusiveTime(m)
}

// matches reports whether the file, whose times are in st, was created with
// verf.
func (e *exclusive) matches(verf [8]byte, st *unix.Statx_t) bool {
	if e.set {
		return e.verf == verf
	}
	a, m := (&exclusive{verf: verf}).split()
	return timeOf(st.Atime) == exclusiveTime(a) && timeOf(st.Mtime) == exclusiveTime(m)
}

// Mkdir creates a directory.
func (f *FS) Mkdir(c *vfs.Call, dir vfs.Object, name string, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	m := making{FS: f, c: c, dir: dir.(*inode), name: name}
	return m.make(s, attr, dirChg, vfs.TypeDirectory, 0o700, func(dirfd int, mode uint32) error {
		return unix.Mkdirat(dirfd, name, mode)
	})
}

// Symlink creates a symbolic link.
func (f *FS) Symlink(c *vfs.Call, dir vfs.Object, name, target string, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	m := making{FS: f, c: c, dir: dir.(*inode), name: name}
	return m.make(s, attr, dirChg, vfs.TypeSymlink, 0, func(dirfd int, _ uint32) error {
		return unix.Symlinkat(target, dirfd, name)
	})
}

// Mknod creates devices, sockets and FIFOs: names for clients to use; nothing
// here opens them.
func (f *FS) Mknod(c *vfs.Call, dir vfs.Object, name string, t vfs.Type, major, minor uint32, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	format := map[vfs.Type]uint32{
		vfs.TypeBlock: unix.S_IFBLK, vfs.TypeChar: unix.S_IFCHR,
		vfs.TypeSocket: unix.S_IFSOCK, vfs.TypeFIFO: unix.S_IFIFO,
	}[t]
	if format == 0 {
		return nil, vfs.ErrBadType
	}
	dev := uint64(0)
	if t == vfs.TypeBlock || t == vfs.TypeChar {
		dev = unix.Mkdev(major, minor)
		if dev > 1<<32-1 {
			return nil, vfs.ErrInvalid // more than the system call takes
		}
	}
	m := making{FS: f, c: c, dir: dir.(*inode), name: name}
	return m.make(s, attr, dirChg, t, 0o600, func(dirfd int, mode uint32) error {
		return unix.Mknodat(dirfd, name, format|mode, int(uint32(dev)))
	})
}

// make makes something that is no file, and finds it.
func (m *making) make(s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change, t vfs.Type, mode uint32, call func(dirfd int, mode uint32) error) (vfs.Object, error) {
	if s.Mask&vfs.AttrSize != 0 {
		without := *s
		without.Mask &^= vfs.AttrSize // it has none that could be set
		s = &without
	}
	if err := m.start(s, dirChg); err != nil {
		return nil, err
	}
	defer m.held.release()
	mode = m.mode(mode)
	i, h, err := m.makeAndFind(t, mode, attr, call)
	m.stop(err == nil)
	if err != nil {
		return nil, err
	}
	defer h.release()
	sync := []*file{m.held, nil}
	// What is as it was made is safe with its directory. What was changed since,
	// the mode for the umask's sake, is not, even if there is no descriptor to sync.
	if h.grade > gradePath || !m.set.IsZero() {
		sync[1] = h
	}
	if err := m.durable(m.dir.mount, sync...); err != nil {
		return nil, err
	}
	return i, nil
}

func (m *making) makeAndFind(t vfs.Type, mode uint32, attr *vfs.Attr, call func(dirfd int, mode uint32) error) (*inode, *file, error) {
	as := m.server.as(m.c, 0)
	err := call(m.held.fd, mode)
	as.done()
	if err != nil {
		return nil, nil, vfs.Cause(err)
	}
	var st unix.Statx_t
	i, err := m.entry(m.c, m.dir, m.held.fd, m.name, &st, true)
	if err != nil {
		return nil, nil, err
	}
	if i.typ != t {
		return nil, nil, vfs.ErrIO // replaced behind our back
	}
	h, err := m.holdToSync(m.c, i)
	if err != nil {
		return nil, nil, err
	}
	if err := m.finish(i, h, mode, attr); err != nil {
		h.release()
		flags := 0
		if i.isDir() {
			flags = unix.AT_REMOVEDIR
		}
		if unix.Unlinkat(m.held.fd, m.name, flags) == nil {
			m.gone(i, true)
		}
		return nil, nil, err
	}
	return i, h, nil
}
