package local

// The system calls that the hot paths make, and those that x/sys does not have
// as they are needed here. unsafe because x/sys copies each path to the heap, and
// a GETATTR or LOOKUP is not to allocate.

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// cstring is a path that ends with its NUL.
type cstring string

func newCString(s string) cstring { return cstring(s + "\x00") }

// String is the path without the NUL.
func (s cstring) String() string { return string(s[:len(s)-1]) }

func (s cstring) ptr() *byte { return unsafe.StringData(string(s)) }

// nowhere is the empty path, which means the descriptor itself to calls with
// AT_EMPTY_PATH.
const nowhere cstring = "\x00"

// nameBuf holds a name and its NUL on the stack.
type nameBuf [vfs.MaxName + 1]byte

// set copies the name, which is at most vfs.MaxName long.
func (b *nameBuf) set(name string) *byte {
	b[copy(b[:vfs.MaxName], name)] = 0
	return &b[0]
}

// setInt writes n in decimal.
func (b *nameBuf) setInt(n int) *byte {
	s := strconv.AppendInt(b[:0], int64(n), 10)
	b[len(s)] = 0
	return &b[0]
}

// attrMask are the fields of statx that are asked for.
const attrMask = unix.STATX_BASIC_STATS | unix.STATX_BTIME | unix.STATX_MNT_ID

func statx(dirfd int, path *byte, flags int, st *unix.Statx_t) error {
	for {
		_, _, e := unix.Syscall6(unix.SYS_STATX, uintptr(dirfd), uintptr(unsafe.Pointer(path)),
			uintptr(flags), attrMask, uintptr(unsafe.Pointer(st)), 0)
		if e != unix.EINTR {
			return errOf(e)
		}
	}
}

// fstatx is statx of the descriptor itself.
func fstatx(fd int, st *unix.Statx_t) error {
	return statx(fd, nowhere.ptr(), unix.AT_EMPTY_PATH|unix.AT_STATX_SYNC_AS_STAT, st)
}

func openat2(dirfd int, path *byte, how *unix.OpenHow) (int, error) {
	for {
		fd, _, e := unix.Syscall6(unix.SYS_OPENAT2, uintptr(dirfd), uintptr(unsafe.Pointer(path)),
			uintptr(unsafe.Pointer(how)), unix.SizeofOpenHow, 0, 0)
		if e != unix.EINTR {
			return int(fd), errOf(e)
		}
	}
}

// openat follows a magic link, which openat2 is told not to here.
func openat(dirfd int, path *byte, flags int) (int, error) {
	for {
		fd, _, e := unix.Syscall6(unix.SYS_OPENAT, uintptr(dirfd), uintptr(unsafe.Pointer(path)),
			uintptr(flags|unix.O_LARGEFILE|unix.O_CLOEXEC), 0, 0, 0)
		if e != unix.EINTR {
			return int(fd), errOf(e)
		}
	}
}

func faccessat2(dirfd int, path *byte, mode uint32, flags int) error {
	_, _, e := unix.Syscall6(unix.SYS_FACCESSAT2, uintptr(dirfd), uintptr(unsafe.Pointer(path)),
		uintptr(mode), uintptr(flags), 0, 0)
	return errOf(e)
}

// maxFileID is the longest identifier of a file system's that a handle of ours
// has room for.
const maxFileID = vfs.MaxHandle - handleHead - 1

// fileID is struct file_handle.
type fileID struct {
	bytes uint32
	kind  int32
	data  [maxFileID + 2]byte // rounded up to whole words
}

func (id *fileID) id() []byte { return id.data[:id.bytes] }

// nameToHandleAt fills in what the file system calls a name's object, a link itself
// if it is one, and returns the number of the mount that it is on.
func nameToHandleAt(dirfd int, path *byte, id *fileID, flags int) (mount int32, err error) {
	id.bytes = maxFileID
	_, _, e := unix.Syscall6(unix.SYS_NAME_TO_HANDLE_AT, uintptr(dirfd), uintptr(unsafe.Pointer(path)),
		uintptr(unsafe.Pointer(id)), uintptr(unsafe.Pointer(&mount)), uintptr(flags), 0)
	return mount, errOf(e)
}

// nameToHandle is nameToHandleAt of the descriptor itself.
func nameToHandle(fd int, id *fileID, flags int) error {
	_, err := nameToHandleAt(fd, nowhere.ptr(), id, flags|unix.AT_EMPTY_PATH)
	return err
}

func openByHandle(mount int, id *fileID, flags int) (int, error) {
	for {
		fd, _, e := unix.Syscall(unix.SYS_OPEN_BY_HANDLE_AT, uintptr(mount), uintptr(unsafe.Pointer(id)),
			uintptr(flags|unix.O_LARGEFILE|unix.O_CLOEXEC))
		if e != unix.EINTR {
			return int(fd), errOf(e)
		}
	}
}

// preadNoWait reads what is in memory: EAGAIN if nothing is.
func preadNoWait(fd int, p []byte, off int64) (int, error) {
	v := unix.Iovec{Base: unsafe.SliceData(p)}
	v.SetLen(len(p))
	// On 64-bit systems the low word has all of the offset.
	n, _, e := unix.Syscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(&v)), 1,
		uintptr(off), uintptr(uint64(off)>>(unix.SizeofLong*8-1)>>1), unix.RWF_NOWAIT)
	return int(n), errOf(e)
}

// resident fills in one byte for each page of memory, a mapping of a file: its
// lowest bit says whether the page is in memory.
func resident(mem, pages []byte) error {
	_, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem)), uintptr(unsafe.Pointer(unsafe.SliceData(pages))))
	return errOf(e)
}

// errOf keeps a nil error from becoming an Errno that is 0.
func errOf(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}

func fchmodat2(dirfd int, path *byte, mode uint32, flags int) error {
	_, _, e := unix.Syscall6(unix.SYS_FCHMODAT2, uintptr(dirfd), uintptr(unsafe.Pointer(path)),
		uintptr(mode), uintptr(flags), 0, 0)
	return errOf(e)
}

// timespec is struct __kernel_timespec, which has 64 bits everywhere.
type timespec struct{ sec, nsec int64 }

// utimens sets the times of what fd is open for, if only for its path.
func utimens(fd int, times *[2]timespec) error {
	_, _, e := unix.Syscall6(sysUtimens, uintptr(fd), uintptr(unsafe.Pointer(nowhere.ptr())),
		uintptr(unsafe.Pointer(times)), unix.AT_EMPTY_PATH, 0, 0)
	return errOf(e)
}
