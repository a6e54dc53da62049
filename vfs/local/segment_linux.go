package local

import (
	"math/bits"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"eddy.example/bufpool"
	"eddy.example/vfs"
)

const (
	// minSegment is the shortest READ that is worth a segment: below it one
	// copy costs less than two pieces and the look at what is in memory.
	minSegment = 32 << 10

	// maxMapped is the longest file that is mapped, of the 128 TiB of addresses
	// that a process has.
	maxMapped = 1 << 40

	minMapped = 1 << 20

	// maxSegment is the longest segment.
	maxSegment = bufpool.MaxPayload
	pageSize   = bufpool.PageSize
)

// ReadSegment answers a READ with memory of the kernel's, as Config.ReadSource
// wants it. What is not in memory is vfs.ErrNotSupported: the worker would wait
// for it in the middle of sending.
func (f *FS) ReadSegment(c *vfs.Call, o vfs.Object, off uint64, n int) (s bufpool.Segment, eof bool, err error) {
	i := o.(*inode)
	source := ReadSource(f.source.Load())
	if source == ReadPages || !c.KernelSends || n < minSegment || n > maxSegment || !i.mount.pageCache || bits.UintSize < 64 {
		return s, false, vfs.ErrNotSupported
	}
	var st unix.Statx_t
	if err := f.statFile(c, i, &st, vfs.PermRead); err != nil {
		return s, false, err
	}
	f.leave(c, i, &st)
	if off >= st.Size || st.Size > maxMapped || !f.seesResidency(&st) {
		return s, false, vfs.ErrNotSupported
	}
	n = int(min(uint64(n), st.Size-off))
	h, err := f.hold(c, i, gradeRead)
	if err != nil {
		return s, false, err
	}
	m := h.mapping(int64(st.Size))
	if m == nil || !m.resident(int64(off), n) {
		if m != nil {
			m.Release()
		}
		h.release()
		return s, false, vfs.ErrNotSupported
	}
	eof = off+uint64(n) == st.Size
	if source == ReadSpliced {
		m.Release()
		return bufpool.Segment{File: (*splicedFile)(h), Off: int64(off), Len: n, Owner: (*splicedFile)(h)}, eof, nil
	}
	h.release()
	return bufpool.Segment{Mem: m.mem[off : off+uint64(n)], Owner: m}, eof, nil
}

// seesResidency reports whether the kernel tells this process which pages of a
// file are in memory: only the owner, or who may act as one. Others are told
// that all are.
func (f *FS) seesResidency(st *unix.Statx_t) bool {
	return f.server.cred.UID == 0 || f.server.cred.UID == st.Uid
}

// mapping is a file's data in memory, with some addresses more for it to grow.
// What lies beyond the end of the file must not be read. Whoever gets one
// releases it.
type mapping struct {
	mem  []byte
	refs atomic.Int32
}

// Release is called when the memory was sent, or is not needed.
func (m *mapping) Release() {
	if m.refs.Add(-1) == 0 {
		unix.Munmap(m.mem)
	}
}

func (m *mapping) acquire() bool {
	for {
		n := m.refs.Load()
		if n == 0 {
			return false
		}
		if m.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// mapping returns one of at least the first size bytes, or nil. The descriptor
// keeps it for the next who asks.
func (h *file) mapping(size int64) *mapping {
	for {
		old := h.mapped.Load()
		if old != nil && int64(len(old.mem)) >= size && old.acquire() {
			return old
		}
		if old != nil && int64(len(old.mem)) >= size {
			continue // replaced just now
		}
		length := max(minMapped, 1<<bits.Len64(uint64(size)))
		mem, err := unix.Mmap(h.fd, 0, length, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return nil
		}
		m := &mapping{mem: mem}
		m.refs.Store(2)
		if h.mapped.CompareAndSwap(old, m) {
			if old != nil {
				old.Release()
			}
			return m
		}
		unix.Munmap(mem)
	}
}

// resident reports whether n bytes from off on are in memory.
func (m *mapping) resident(off int64, n int) bool {
	var pages [maxSegment/pageSize + 1]byte
	first := off &^ (pageSize - 1)
	count := int((off + int64(n) - first + pageSize - 1) / pageSize)
	if resident(m.mem[first:first+int64(count)*pageSize], pages[:count]) != nil {
		return false
	}
	for _, p := range pages[:count] {
		if p&1 == 0 {
			return false
		}
	}
	return true
}

// splicedFile is a descriptor that a reply is sent from.
type splicedFile file

// Fd is for the kernel to send from.
func (h *splicedFile) Fd() uintptr { return uintptr(h.fd) }

// ReadAt reads like an io.ReaderAt.
func (h *splicedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := pread(h.fd, p, off)
	if err == nil && n < len(p) {
		err = unix.ENODATA
	}
	return n, err
}

// Release is called when all was sent.
func (h *splicedFile) Release() { (*file)(h).release() }
