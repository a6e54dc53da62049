package local

import (
	"encoding/binary"
	"math"
	"sync"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// dirent is an entry as getdents64 returns it.
type dirent struct {
	ino  uint64
	next int64 // where the one behind it begins
	kind uint8
	name []byte // valid as long as the buffer
}

func (e *dirent) isDot() bool {
	return string(e.name) == "." || string(e.name) == ".."
}

// nextDirent takes an entry from a buffer of getdents64, which has one.
func nextDirent(b []byte) (e dirent, rest []byte) {
	const head = 8 + 8 + 2 + 1
	size := binary.NativeEndian.Uint16(b[16:])
	e = dirent{
		ino:  binary.NativeEndian.Uint64(b),
		next: int64(binary.NativeEndian.Uint64(b[8:])),
		kind: b[18],
		name: b[head:size],
	}
	for n, x := range e.name {
		if x == 0 {
			e.name = e.name[:n]
			break
		}
	}
	return e, b[size:]
}

// listBuffer is what a listing works with.
type listBuffer struct {
	entries [32 << 10]byte
	out     vfs.DirEntry
}

var listBuffers = sync.Pool{New: func() any { return new(listBuffer) }}

// ReadDir reports entries. It reads them from a descriptor of its own, as that
// has the position, in pieces of what the buffer holds.
func (f *FS) ReadDir(c *vfs.Call, dir vfs.Object, after vfs.Cookie, want vfs.AttrMask, fill func(*vfs.DirEntry) bool) (eof bool, err error) {
	d := dir.(*inode)
	var st unix.Statx_t
	if err := f.statDir(c, d, &st, vfs.PermRead); err != nil {
		return false, err
	}
	if !c.MayWait {
		return false, vfs.ErrWouldBlock
	}
	h, err := f.hold(c, d, gradePath)
	if err != nil {
		return false, err
	}
	defer h.release()
	fd, err := f.retry(c, func() (int, error) {
		return openat(h.fd, here.ptr(), unix.O_RDONLY|unix.O_DIRECTORY)
	})
	if err != nil {
		return false, vfs.Cause(err)
	}
	defer unix.Close(fd)
	order, at := orderOf(after)
	if at == math.MaxInt64 || at > d.mount.lastPosition {
		return true, nil
	}
	if _, err := unix.Seek(fd, at, unix.SEEK_SET); err != nil {
		if err == unix.EINVAL {
			return true, nil // behind all that there can be
		}
		return false, vfs.Cause(err)
	}
	b := listBuffers.Get().(*listBuffer)
	defer listBuffers.Put(b)
	// What is behind the names is behind the right to search, too. An overlay
	// has other numbers in its entries than in the attributes.
	look := want != 0 || d.mount.overlay
	if look && f.check(c, d, &st, vfs.PermExec) != nil {
		look = false
	}
	for {
		n, err := unix.Getdents(fd, b.entries[:])
		if err != nil {
			return false, vfs.Cause(err)
		}
		if n == 0 {
			return true, nil
		}
		if order == orderUnknown {
			order = orderIn(b.entries[:n])
		}
		for list := b.entries[:n]; len(list) > 0; {
			var e dirent
			if e, list = nextDirent(list); e.isDot() {
				continue
			}
			b.out = vfs.DirEntry{Name: string(e.name), Cookie: order.cookie(at, e.next), FileID: e.ino}
			at = e.next
			if look {
				i, err := f.listed(c, d, h.fd, b.out.Name, &st)
				if err == nil {
					b.out.Object, b.out.FileID = i, st.Ino
					f.fill(&b.out.Attr, i, &st)
				} else if err == vfs.ErrNotExist {
					continue // removed meanwhile
				}
			}
			more := fill(&b.out)
			b.out = vfs.DirEntry{}
			if !more {
				return false, nil
			}
		}
	}
}
