package local

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
	"eddy.example/vfs/local/handlemap"
)

// A handle is a byte for its kind and eight for the file system, then
//
//	kernelHandle  the type and the bytes of the file system's own handle
//	mapHandle     inode number and generation, 8 and 4 bytes
const (
	kernelHandle = 1
	mapHandle    = 2

	handleHead    = 1 + 8
	mapHandleSize = handleHead + 8 + 4
)

// handle is a handle's bytes; comparable, so that it can be a key.
type handle struct {
	n uint8
	b [vfs.MaxHandle]byte
}

func (h *handle) bytes() []byte { return h.b[:h.n] }
func (h *handle) fsid() uint64  { return binary.BigEndian.Uint64(h.b[1:]) }

// hash spreads handles over the shards of a table.
func (h *handle) hash() uint32 {
	sum := uint32(2166136261)
	for _, b := range h.b[handleHead:h.n] {
		sum = (sum ^ uint32(b)) * 16777619
	}
	return sum
}

func (h *handle) begin(kind byte, fsid uint64) {
	h.b[0] = kind
	binary.BigEndian.PutUint64(h.b[1:], fsid)
}

// setKernel makes it the handle of what the file system calls id.
func (h *handle) setKernel(fsid uint64, id *fileID) {
	h.begin(kernelHandle, fsid)
	h.b[handleHead] = byte(id.kind)
	h.n = uint8(handleHead + 1 + copy(h.b[handleHead+1:], id.id()))
}

func (h *handle) setMap(k handlemap.Key) {
	h.begin(mapHandle, k.Dev)
	binary.BigEndian.PutUint64(h.b[handleHead:], k.Ino)
	binary.BigEndian.PutUint32(h.b[handleHead+8:], k.Gen)
	h.n = mapHandleSize
}

// parse checks the form of a handle that a client sent.
func (h *handle) parse(b []byte) bool {
	if len(b) > len(h.b) || len(b) <= handleHead+1 {
		return false
	}
	h.n = uint8(copy(h.b[:], b))
	return b[0] == kernelHandle || b[0] == mapHandle && len(b) == mapHandleSize
}

// fileID is what the file system calls the object.
func (h *handle) fileID(id *fileID) {
	id.kind = int32(h.b[handleHead])
	id.bytes = uint32(copy(id.data[:], h.b[handleHead+1:h.n]))
}

// key is the object's name in the map of places.
func (h *handle) key() handlemap.Key {
	return handlemap.Key{
		Dev: h.fsid(),
		Ino: binary.BigEndian.Uint64(h.b[handleHead:]),
		Gen: binary.BigEndian.Uint32(h.b[handleHead+8:]),
	}
}

// AppendHandle appends o's handle: at most 40 bytes.
func (f *FS) AppendHandle(b []byte, o vfs.Object) []byte {
	return append(b, o.(*inode).handle.bytes()...)
}

// Resolve finds an object. That it is still there, and inside the export, shows
// when it is used.
func (f *FS) Resolve(c *vfs.Call, h []byte) (vfs.Object, error) {
	i, err := f.resolve(c, h)
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (f *FS) resolve(c *vfs.Call, b []byte) (*inode, error) {
	if len(b) == 0 {
		return f.root, nil
	}
	var h handle
	if !h.parse(b) {
		return nil, vfs.ErrBadHandle
	}
	if i := f.inodes.get(&h); i != nil {
		return i, nil
	}
	if !c.MayWait {
		return nil, vfs.ErrWouldBlock
	}
	m, err := f.mountOf(c, h.fsid())
	if err != nil {
		return nil, err
	}
	if (h.b[0] == kernelHandle) != m.kernel {
		return nil, vfs.ErrStale // of a time when objects had other names
	}
	if m.kernel {
		return f.openHandle(c, m, &h)
	}
	return f.find(c, h.key())
}

// openHandle makes an inode of a handle of the file system's own.
func (f *FS) openHandle(c *vfs.Call, m *mount, h *handle) (*inode, error) {
	fd, err := f.openID(c, m, h)
	if err != nil {
		return nil, err
	}
	var st unix.Statx_t
	if err := fstatx(fd, &st); err != nil {
		unix.Close(fd)
		return nil, vfs.Cause(err)
	}
	i, err := f.identify(m, fd, &st)
	if err == nil && i.handle != *h {
		err = vfs.ErrStale
	}
	if err != nil || !i.isDir() {
		unix.Close(fd) // a file is opened at its name, when that is known
		return i, err
	}
	f.adopt(c, i, fd, gradePath).release()
	return i, nil
}

// openID opens what the file system's own handle h names.
func (f *FS) openID(c *vfs.Call, m *mount, h *handle) (int, error) {
	var id fileID
	h.fileID(&id)
	fd, err := f.retry(c, func() (int, error) { return openByHandle(m.root, &id, unix.O_PATH) })
	switch err {
	case nil:
		return fd, nil
	case unix.EINVAL, unix.EOVERFLOW, unix.ENOENT:
		return -1, vfs.ErrStale // no handle of this file system's, or not any more
	}
	return -1, vfs.Cause(err)
}

// identify returns the inode of the object that fd is open for, which lies on
// m and has the attributes st.
func (f *FS) identify(m *mount, fd int, st *unix.Statx_t) (*inode, error) {
	var id fileID
	err := error(unix.EOPNOTSUPP)
	if m.named {
		err = nameToHandle(fd, &id, m.nameFlags)
	}
	switch {
	case err == nil:
		return f.inodeOf(m, &id, generation(id.id(), uint64(id.kind)), st), nil
	case m.kernel:
		return nil, vfs.Cause(err)
	}
	return f.inodeOf(m, nil, generation(nil, uint64(st.Btime.Sec)*1e9+uint64(st.Btime.Nsec)), st), nil
}

// inodeOf returns the inode of the object on m that the file system calls id and
// that has the attributes st.
func (f *FS) inodeOf(m *mount, id *fileID, gen uint32, st *unix.Statx_t) *inode {
	var h handle
	if m.kernel {
		h.setKernel(m.fsid, id)
	} else {
		h.setMap(handlemap.Key{Dev: m.fsid, Ino: st.Ino, Gen: gen})
	}
	if i := f.inodes.get(&h); i != nil {
		return i
	}
	return f.inodes.put(&inode{handle: h, mount: m, ino: st.Ino, dev: device(st), gen: gen, typ: typeOf(st.Mode)})
}

// generation tells the objects apart that have one inode number after each
// other.
func generation(id []byte, more uint64) uint32 {
	sum := uint32(2166136261)
	for _, b := range id {
		sum = (sum ^ uint32(b)) * 16777619
	}
	for ; more != 0; more >>= 8 {
		sum = (sum ^ uint32(byte(more))) * 16777619
	}
	return sum
}
