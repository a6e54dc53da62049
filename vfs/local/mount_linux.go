package local

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// mount is a file system: the one of the root, or with Config.CrossMounts one
// below it.
type mount struct {
	fsid      uint64
	root      int // its topmost directory that is served
	dev       uint64
	id        uint64 // of the mount
	overlay   bool   // files may have the device number of a layer
	pageCache bool   // its files' data are in the page cache, as they are
	named     bool   // nameToHandle works
	nameFlags int
	inos      inoLayout
	kernel    bool // openByHandle works, and is to be used

	lastPosition int64 // in any directory

	commits commits // of names
}

// mounts are the file systems that are served, the root's first.
type mounts struct {
	mu  sync.RWMutex
	all []*mount
}

func (s *mounts) find(is func(*mount) bool) *mount {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, m := range s.all {
		if is(m) {
			return m
		}
	}
	return nil
}

func device(st *unix.Statx_t) uint64 {
	return uint64(st.Dev_major)<<32 | uint64(st.Dev_minor)
}

// newMount looks at the file system that fd, a directory, lies on. fd is its
// from then on.
func newMount(fd int, want Handles) (*mount, error) {
	m := &mount{root: fd}
	var st unix.Statx_t
	if err := fstatx(fd, &st); err != nil {
		return nil, err
	}
	m.dev, m.id = device(&st), st.Mnt_id
	var s unix.Statfs_t
	err := unix.Fstatfs(fd, &s)
	if err != nil {
		return nil, err
	}
	m.fsid = fsidOf(fd, &s)
	m.lastPosition = math.MaxInt64
	if uint32(s.Type) == unix.TMPFS_MAGIC {
		m.lastPosition = math.MaxInt32 // a seek beyond it leads to the beginning
	}
	m.overlay = uint32(s.Type) == unix.OVERLAYFS_SUPER_MAGIC
	switch uint32(s.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		m.pageCache = true
	}
	// Where the file system has no handles to open it may still have them as
	// names.
	var id fileID
	for _, flags := range []int{0, handleFID} {
		if nameToHandle(fd, &id, flags) == nil {
			m.named, m.nameFlags = true, flags
			break
		}
	}
	if !m.named || m.nameFlags != 0 || id.kind < 0 || id.kind > 255 {
		err = fmt.Errorf("the file system has no handles: %w", unix.EOPNOTSUPP)
	} else {
		var again int
		if again, err = openByHandle(fd, &id, unix.O_PATH); err == nil {
			unix.Close(again)
		}
	}
	if err != nil && want == HandlesKernel {
		return nil, fmt.Errorf("open_by_handle_at: %w", err)
	}
	m.kernel = err == nil && want != HandlesMap
	if m.named && m.nameFlags == 0 {
		m.inos = inoLayoutOf(uint32(s.Type), &id, st.Ino)
	}
	return m, nil
}

// readOnly reports whether the file system is mounted read-only now.
func (m *mount) readOnly() bool {
	var s unix.Statfs_t
	return unix.Fstatfs(m.root, &s) == nil && s.Flags&unix.ST_RDONLY != 0
}

// fsidOf is a number for the file system that stays the same when the host
// starts again: of its UUID, or what statfs says, which for btrfs tells
// subvolumes apart and for XFS is the device's number.
func fsidOf(fd int, s *unix.Statfs_t) uint64 {
	var uuid struct {
		n     uint8
		bytes [16]byte
	}
	if uint32(s.Type) != unix.BTRFS_SUPER_MAGIC {
		_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), getFSUUID, uintptr(unsafe.Pointer(&uuid)))
		if e == 0 && uuid.n == 16 && uuid.bytes != [16]byte{} {
			return binary.BigEndian.Uint64(uuid.bytes[:8]) ^ binary.BigEndian.Uint64(uuid.bytes[8:])
		}
	}
	return uint64(uint32(s.Fsid.Val[0]))<<32 | uint64(uint32(s.Fsid.Val[1]))
}

// getFSUUID is FS_IOC_GETFSUUID, since Linux 6.9.
const getFSUUID = 0x80111500

// handleFID is AT_HANDLE_FID, since Linux 6.5: a name will do.
const handleFID = 0x200

// mountAt returns the file system of an object that was found below a
// directory on m, for which fd is open and which has the attributes st.
func (f *FS) mountAt(m *mount, fd int, st *unix.Statx_t) (*mount, error) {
	dev := device(st)
	if st.Mnt_id != m.id && !f.crossMounts {
		return nil, vfs.ErrAccess
	}
	if st.Mnt_id != m.id && f.mounts.find(func(m *mount) bool { return m.dev == dev && m.id != st.Mnt_id }) != nil {
		return nil, vfs.ErrAccess // a part of a file system that is served as a whole
	}
	if dev == m.dev || m.overlay && typeOf(st.Mode) != vfs.TypeDirectory {
		return m, nil
	}
	if !f.crossMounts {
		return nil, vfs.ErrAccess
	}
	if known := f.mounts.find(func(m *mount) bool { return m.dev == dev }); known != nil {
		return known, nil
	}
	if typeOf(st.Mode) != vfs.TypeDirectory {
		return nil, vfs.ErrAccess // a file on which another one is mounted
	}
	root, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, vfs.Cause(err)
	}
	return f.addMount(root)
}

// addMount adds the file system that root lies on, or returns the one that is
// there. A second file system with the fsid of another is refused.
func (f *FS) addMount(root int) (*mount, error) {
	m, err := newMount(root, f.wantHandles)
	if err != nil {
		unix.Close(root)
		if errors.Is(err, unix.EOPNOTSUPP) {
			return nil, vfs.ErrAccess // nothing to name its objects by
		}
		return nil, vfs.Cause(err)
	}
	f.mounts.mu.Lock()
	defer f.mounts.mu.Unlock()
	for _, old := range f.mounts.all {
		if old.dev == m.dev {
			unix.Close(root)
			return old, nil
		}
		if old.fsid == m.fsid {
			unix.Close(root)
			return nil, vfs.ErrAccess
		}
	}
	f.mounts.all = append(f.mounts.all, m)
	return m, nil
}

// mountOf returns the file system with this fsid. One that nobody has come
// across since the start is looked for among those mounted below the root.
func (f *FS) mountOf(c *vfs.Call, fsid uint64) (*mount, error) {
	is := func(m *mount) bool { return m.fsid == fsid }
	if m := f.mounts.find(is); m != nil {
		return m, nil
	}
	if !f.crossMounts {
		return nil, vfs.ErrStale
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, vfs.ErrStale
	}
	for line := range bytes.Lines(table) {
		fields := strings.Fields(string(line))
		if len(fields) < 5 {
			continue
		}
		below, ok := f.belowRoot(unescape(fields[4]))
		if !ok || below == "" {
			continue
		}
		// The way there leads across it.
		if i, err := f.walk(c, below); err == nil && is(i.mount) {
			return i.mount, nil
		}
	}
	return nil, vfs.ErrStale
}

// belowRoot returns what of an absolute path lies below the root.
func (f *FS) belowRoot(path string) (string, bool) {
	root, err := f.pathOf(f.mounts.all[0].root)
	if err != nil {
		return "", false
	}
	if root == "/" {
		return path[1:], true
	}
	below, ok := strings.CutPrefix(path, root)
	switch {
	case !ok:
		return "", false
	case below == "":
		return "", true
	case below[0] != '/':
		return "", false
	}
	return below[1:], true
}

// pathOf is the path that the kernel has for a descriptor.
func (f *FS) pathOf(fd int) (string, error) {
	if f.procFDs < 0 {
		return "", unix.ENOENT
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(f.procFDs, strconv.Itoa(fd), buf)
	if err != nil {
		return "", err
	}
	if n == len(buf) || n == 0 || buf[0] != '/' {
		return "", unix.ENAMETOOLONG
	}
	return string(buf[:n]), nil
}

// unescape undoes what mountinfo does to space, tab, newline and backslash.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b = append(b, byte(n))
				i += 3
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}
