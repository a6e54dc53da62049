package local

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// listed is entry for what a listing has come across.
func (f *FS) listed(c *vfs.Call, dir *inode, dirfd int, name string, st *unix.Statx_t) (*inode, error) {
	i := f.recall(dir, dirfd, name, st)
	if i == nil {
		i = f.glance(dir, dirfd, name, st)
	}
	if i != nil {
		return i, nil
	}
	return f.entry(c, dir, dirfd, name, st, false)
}

// glance finds what has a name in a directory, for which dirfd is open, and its
// attributes, without opening it: nil if that does not do. It asks for the file
// system's handle and then for the attributes. Both are of one object if the number
// in the handle is the one in the attributes: or the object of the handle is gone,
// and its number has been used again in between; then the handle is stale, as that
// of any object that is removed while a listing is on its way.
func (f *FS) glance(dir *inode, dirfd int, name string, st *unix.Statx_t) *inode {
	m := dir.mount
	if m.inos.size == 0 {
		return nil
	}
	var z nameBuf
	var id fileID
	path := z.set(name)
	on, err := nameToHandleAt(dirfd, path, &id, 0)
	if err != nil || uint64(on) != m.id {
		return nil
	}
	if statx(dirfd, path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, st) != nil || !m.has(st) || device(st) != m.dev || !m.inos.match(&id, st.Ino) {
		return nil
	}
	i := f.inodeOf(m, &id, generation(id.id(), uint64(id.kind)), st)
	if !i.is(st) || i.typ != typeOf(st.Mode) || i.removed.Load() {
		return nil
	}
	f.noted(i, dir, name)
	return i
}

// inoLayout is where the handles of a file system have the inode number. size 0: not
// known.
type inoLayout struct {
	kind     int32
	bytes    uint32
	at, size int
}

// inoLayoutOf is the layout for a type of file system of which id names an object with
// the number ino.
func inoLayoutOf(magic uint32, id *fileID, ino uint64) inoLayout {
	l := inoLayout{kind: id.kind, bytes: id.bytes}
	switch magic {
	case unix.EXT4_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC:
		l.size = 4
	case unix.XFS_SUPER_MAGIC:
		if l.size = 4; id.kind&0x80 != 0 {
			l.size = 8
		}
	case unix.BTRFS_SUPER_MAGIC:
		l.size = 8
	case unix.TMPFS_MAGIC:
		l.at, l.size = 4, 8 // behind the generation
	}
	if !l.match(id, ino) {
		return inoLayout{}
	}
	return l
}

// match reports whether ino is the number in a handle.
func (l *inoLayout) match(id *fileID, ino uint64) bool {
	if id.kind != l.kind || id.bytes != l.bytes || l.at+l.size > int(id.bytes) {
		return false
	}
	b := id.data[l.at:]
	switch l.size {
	case 4:
		return uint64(binary.NativeEndian.Uint32(b)) == ino
	case 8:
		return binary.NativeEndian.Uint64(b) == ino
	}
	return false
}
