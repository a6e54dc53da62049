package local

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
	"eddy.example/vfs/local/handlemap"
)

// Nothing is served that does not lie below the root at the time of the call.
// A directory does if the root is found some levels above it, by one statx of
// "../../..", which takes the tree as it is and follows no link. Anything else
// does if a name for it is found in a directory that does: by the statx that
// is needed for its attributes anyway. Only when such a look fails is there
// something to find out.

// stat fills in the attributes of an inode, after making sure that it lies
// below the root. Errors: vfs.ErrStale, vfs.ErrDelay, vfs.ErrWouldBlock.
func (f *FS) stat(c *vfs.Call, i *inode, st *unix.Statx_t) error {
	// As long as a descriptor is open for it nothing else can have its inode
	// number.
	h, err := f.hold(c, i, gradePath)
	if err != nil {
		return err
	}
	defer h.release()
	if i.isDir() {
		if err := fstatx(h.fd, st); err != nil {
			return vfs.Cause(err)
		}
		if st.Nlink == 0 {
			return vfs.ErrStale
		}
		return f.beneath(h.fd, i)
	}
	for range maxTries {
		p := i.place.Load()
		if p != nil {
			seen, err := f.seen(c, i, p, st)
			if seen || err != nil {
				return err
			}
		}
		if err := f.locate(c, i, h.fd); err != nil {
			return f.searched(i, err)
		}
	}
	return vfs.ErrDelay // it moves faster than we look
}

// maxTries is how often another place is looked at: the names of a file, and
// two for what is moved meanwhile.
const maxTries = maxOthers + 3

// seen reports whether the inode, for which a descriptor is open, has the name
// p in a directory below the root, and fills in its attributes.
func (f *FS) seen(c *vfs.Call, i *inode, p *place, st *unix.Statx_t) (bool, error) {
	parent, err := f.reach(c, p.parent, gradePath)
	if err == vfs.ErrStale || err == errNoPlace {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer parent.release()
	err = statx(parent.fd, p.name.ptr(), unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, st)
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR, unix.ESTALE:
		return false, nil
	default:
		return false, vfs.Cause(err)
	}
	if !i.is(st) {
		return false, nil
	}
	switch err := f.beneath(parent.fd, p.parent); err {
	case nil:
		return true, nil
	case vfs.ErrDelay:
		return false, err
	}
	return false, nil
}

// levels is "../../../": the 3n bytes before its NUL are n levels.
const levels cstring = dots256 + dots256 + dots256 + dots256 + "\x00"

const (
	here     cstring = ".\x00"
	parentOf cstring = "..\x00"

	dots16  = "../../../../../../../../../../../../../../../../"
	dots64  = dots16 + dots16 + dots16 + dots16
	dots256 = dots64 + dots64 + dots64 + dots64

	maxLevels = 1024 // at a time
)

// above looks at the directory n levels above fd.
func above(fd, n int, st *unix.Statx_t) error {
	if n <= maxLevels {
		return statx(fd, levels[len(levels)-1-3*n:].ptr(), 0, st)
	}
	far, err := unix.Openat(fd, string(levels[:len(levels)-1]), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(far)
	return above(far, n-maxLevels, st)
}

// beneath returns nil if the directory, for which fd is open, is the root or
// lies below it; else vfs.ErrStale, or vfs.ErrDelay if it moves faster than we
// look.
func (f *FS) beneath(fd int, dir *inode) error {
	if dir == f.root {
		return nil
	}
	var st unix.Statx_t
	for range maxTries {
		if n := int(dir.depth.Load()); n > 0 && above(fd, n, &st) == nil && f.isRoot(&st) {
			return nil
		}
		n, err := f.levelsBelow(fd)
		if err != nil {
			return err
		}
		dir.depth.Store(int32(n))
	}
	return vfs.ErrDelay
}

// levelsBelow counts the levels from the directory that fd is open for up to
// the root; vfs.ErrStale if that is not met. Each step starts at the directory
// that the one before has found: what moves about inside the tree meanwhile can
// make the number wrong, and does not lead outside.
func (f *FS) levelsBelow(fd int) (n int, err error) {
	var st, below unix.Statx_t
	if err := fstatx(fd, &below); err != nil {
		return 0, vfs.Cause(err)
	}
	at := fd
	defer func() {
		if at != fd {
			unix.Close(at)
		}
	}()
	for n = 1; ; n++ {
		up, err := openat(at, parentOf.ptr(), unix.O_PATH)
		if err == unix.ENOENT {
			return 0, vfs.ErrStale // beside what of the file system is mounted
		}
		if err != nil {
			return 0, vfs.Cause(err)
		}
		if at != fd {
			unix.Close(at)
		}
		at = up
		if err := fstatx(at, &st); err != nil {
			return 0, vfs.Cause(err)
		}
		if f.isRoot(&st) {
			return n, nil
		}
		if sameObject(&st, &below) {
			return 0, vfs.ErrStale // the top of everything
		}
		below = st
	}
}

func (f *FS) isRoot(st *unix.Statx_t) bool {
	return f.root.is(st)
}

// resolveCached is RESOLVE_CACHED, since Linux 5.12: what is not in memory is
// EAGAIN.
const resolveCached = 0x20

// openName opens one name in a directory: no link that has it, nothing beyond a
// mount point, and without waiting if the call may not. The errors are the
// system's.
func (f *FS) openName(c *vfs.Call, dirfd int, name *byte, flags int) (int, error) {
	flags |= unix.O_NOFOLLOW | unix.O_CLOEXEC
	if f.oldKernel {
		// One name needs no more; mountAt sees what is mounted.
		if !c.MayWait {
			return -1, unix.EAGAIN
		}
		return f.retry(c, func() (int, error) { return openat(dirfd, name, flags) })
	}
	how := unix.OpenHow{Flags: uint64(flags), Resolve: f.beneathFlags}
	if !c.MayWait {
		how.Resolve |= resolveCached
	}
	return f.retry(c, func() (int, error) { return openat2(dirfd, name, &how) })
}

// openAt opens a name in a directory, for its path only.
func (f *FS) openAt(c *vfs.Call, dirfd int, name *byte) (int, error) {
	fd, err := f.openName(c, dirfd, name, unix.O_PATH)
	switch {
	case err == nil:
		return fd, nil
	case err == unix.EAGAIN && !c.MayWait:
		return -1, vfs.ErrWouldBlock
	case err == unix.EXDEV:
		return -1, vfs.ErrAccess // a mount point
	}
	return -1, vfs.Cause(err)
}

// openPlace opens an inode that has no descriptor: at its name, so that this
// stays in the kernel's memory as long as the descriptor is open.
func (f *FS) openPlace(c *vfs.Call, i *inode) (int, error) {
	if i.isDir() && i.mount.kernel {
		if !c.MayWait {
			return -1, vfs.ErrWouldBlock
		}
		return f.openID(c, i.mount, &i.handle)
	}
	for range maxTries {
		if p := i.place.Load(); p != nil && !i.aboveItself(p) {
			fd, err := f.openIf(c, i, p)
			if fd >= 0 || err == vfs.ErrWouldBlock || err == vfs.ErrDelay {
				return fd, err
			}
		}
		if err := f.locate(c, i, -1); err != nil {
			return -1, err
		}
	}
	return -1, vfs.ErrDelay
}

// aboveItself reports whether the directories that would have to be opened to
// find i at p are found in i again: some of what is remembered is wrong.
func (i *inode) aboveItself(p *place) bool {
	for n := 0; p != nil; n++ {
		if p.parent == i || n > maxLevels {
			return true
		}
		if p.parent.file.Load() != nil {
			return false
		}
		p = p.parent.place.Load()
	}
	return false
}

// openIf opens the name p if it is the inode's, or returns -1.
func (f *FS) openIf(c *vfs.Call, i *inode, p *place) (int, error) {
	parent, err := f.reach(c, p.parent, gradePath)
	if err != nil {
		return -1, err
	}
	defer parent.release()
	fd, err := f.openAt(c, parent.fd, p.name.ptr())
	if err != nil {
		return -1, err
	}
	var st unix.Statx_t
	if fstatx(fd, &st) == nil && i.is(&st) {
		if is, err := f.identify(i.mount, fd, &st); err == nil && is == i {
			return fd, nil
		}
	}
	unix.Close(fd)
	return -1, nil
}

// locate finds where an inode is now and notes it as its place. fd is open for
// it, or -1. The error is vfs.ErrStale if it is nowhere below the root, and
// errNoPlace if it takes a search to know.
func (f *FS) locate(c *vfs.Call, i *inode, fd int) error {
	if !c.MayWait {
		return vfs.ErrWouldBlock
	}
	failed := i.place.Load()
	if p := i.others.take(failed); p != nil {
		f.settle(i, p)
		return nil
	}
	if fd < 0 && i.mount.kernel {
		var err error
		if fd, err = f.openID(c, i.mount, &i.handle); err != nil {
			return err
		}
		defer unix.Close(fd)
	}
	if fd >= 0 {
		p, err := f.whereIs(c, i, fd)
		if err != nil {
			return err
		}
		if p != nil {
			f.settle(i, p)
			return nil
		}
	}
	// What is remembered is of use only if it is not what has just failed.
	if parent, name, ok := f.rows.Get(i.key()); ok && (failed == nil || failed.name.String() != name || failed.parent.key() != parent) {
		if dir, err := f.follow(c, parent, maxLevels); err == nil {
			i.place.Store(&place{dir, newCString(name)})
			return nil
		}
	}
	return errNoPlace
}

// errNoPlace is an inode whose place is not known. What a call is about is searched
// for then; what is only on the way to that is not: the one search finds both, and
// nobody would ask for the end of the other.
var errNoPlace = errors.New("local: place not known")

// searched is err of a call that is about the inode.
func (f *FS) searched(i *inode, err error) error {
	if err == errNoPlace {
		return f.search.wait(i.key())
	}
	return err
}

// whereIs asks the kernel where the object is that fd is open for. It returns
// nil if the kernel does not know a name that is below the root, vfs.ErrStale
// if there is none, and vfs.ErrDelay if it moves faster than we look.
func (f *FS) whereIs(c *vfs.Call, i *inode, fd int) (*place, error) {
	last := ""
	for range maxTries {
		var st unix.Statx_t
		if err := fstatx(fd, &st); err != nil {
			return nil, vfs.Cause(err)
		}
		if st.Nlink == 0 {
			return nil, vfs.ErrStale
		}
		path, err := f.pathOf(fd)
		if err != nil || path == last {
			return nil, nil
		}
		below, ok := f.belowRoot(path)
		if !ok {
			// With one name, and that elsewhere, there is none here. A file whose
			// names the kernel has forgotten has a path too, which is not its.
			var there unix.Statx_t
			z := newCString(path)
			if st.Nlink == 1 && !i.isDir() && statx(unix.AT_FDCWD, z.ptr(), unix.AT_SYMLINK_NOFOLLOW, &there) == nil && sameObject(&st, &there) {
				return nil, vfs.ErrStale
			}
			return nil, nil
		}
		if p, err := f.placeAt(c, i, below); p != nil || err != nil {
			return p, err
		}
		last = path
	}
	return nil, vfs.ErrDelay
}

// placeAt returns the place at a path below the root if that is the inode's.
func (f *FS) placeAt(c *vfs.Call, i *inode, path string) (*place, error) {
	above, name := "", path
	if n := strings.LastIndexByte(path, '/'); n >= 0 {
		above, name = path[:n], path[n+1:]
	}
	dir, err := f.walk(c, above)
	if err != nil || !dir.isDir() || name == "" || len(name) > vfs.MaxName {
		return nil, nil
	}
	p := &place{dir, newCString(name)}
	var st unix.Statx_t
	if seen, err := f.seen(c, i, p, &st); !seen {
		return nil, err
	}
	return p, nil
}

// walk finds what lies at a path below the root.
func (f *FS) walk(c *vfs.Call, path string) (*inode, error) {
	i := f.root
	for name := range strings.SplitSeq(path, "/") {
		if name == "" {
			continue // the root's own path
		}
		if len(name) > vfs.MaxName {
			return nil, vfs.ErrNameTooLong
		}
		var err error
		if i, err = f.child(c, i, name); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// find returns the object that the map of places calls k.
func (f *FS) find(c *vfs.Call, k handlemap.Key) (*inode, error) {
	i, err := f.follow(c, k, maxLevels)
	if err == vfs.ErrStale {
		return nil, f.search.wait(k)
	}
	return i, err
}

// follow follows the map of places, from the root down to k. vfs.ErrStale: it
// does not lead there.
func (f *FS) follow(c *vfs.Call, k handlemap.Key, depth int) (*inode, error) {
	if k == f.root.key() {
		return f.root, nil
	}
	if !f.root.mount.kernel {
		var h handle
		h.setMap(k)
		if i := f.inodes.get(&h); i != nil {
			return i, nil
		}
	}
	parent, name, ok := f.rows.Get(k)
	if !ok || depth == 0 {
		return nil, vfs.ErrStale
	}
	dir, err := f.follow(c, parent, depth-1)
	if err != nil {
		return nil, err
	}
	i, err := f.child(c, dir, name)
	switch {
	case err == nil && i.key() == k:
		return i, nil
	case err == nil, err == vfs.ErrNotExist, err == vfs.ErrNotDir, err == vfs.ErrAccess, err == errNoPlace:
		return nil, vfs.ErrStale
	}
	return nil, err
}

// note remembers a name that an inode was found under.
func (f *FS) note(i *inode, p *place) {
	old := i.place.Load()
	if old != nil && *old == *p {
		return
	}
	if old != nil && !i.isDir() {
		i.others.add(old)
	}
	f.settle(i, p)
}

// moved remembers that the name from of an inode is the name to now.
func (f *FS) moved(i *inode, from, to *place) {
	if p := i.place.Load(); p != nil && *p != *from && !i.isDir() {
		i.others.add(p)
	}
	f.settle(i, to)
}

// settle makes p the place at which the inode is looked for.
func (f *FS) settle(i *inode, p *place) {
	i.place.Store(p)
	f.search.found(i.key())
	f.rows.Put(i.key(), p.parent.key(), p.name.String())
}
