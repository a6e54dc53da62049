package iofs

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"eddy.example/vfs"
)

// Config says what an fs.FS does not, and how much is kept. The zero Config is
// fine.
type Config struct {
	// UID and GID own everything.
	UID, GID uint32

	// ModTime is the time of what has none, as the files of an embed.FS.
	// Clients believe that a file with the time and size of before is the
	// file of before; so the zero ModTime stands for the time of New.
	ModTime time.Time

	// OpenFiles is how many files are kept open between calls. 0: 64.
	OpenFiles int

	// CacheBytes is how much is remembered of files that can only be read
	// from front to back. 0: 16 MiB.
	CacheBytes int

	// ListEntries is how many entries of directory listings are remembered,
	// beside the listing used last, however long. 0: 65536.
	ListEntries int

	// Paths is how many long paths are remembered by their hashes. 0: 65536.
	Paths int
}

// FS is an fs.FS as a backend. All methods may be called concurrently.
type FS struct {
	fsys     fs.FS
	uid, gid uint32
	modTime  time.Time

	searching sync.Mutex // held by the one search for a handle

	mu      sync.Mutex // guards what follows; never held over a call of fsys
	objects cache[[hashSize]byte, vfs.Object]
	lists   cache[object, *listing]
	files   cache[object, *file]
	blocks  cache[blockKey, []byte]
	doomed  []fs.File // to be closed by who unlocks mu
}

var _ interface {
	vfs.FS
	vfs.LinkReader
	vfs.Accesser
	vfs.Invalidator
} = (*FS)(nil)

// New returns fsys as a backend.
func New(fsys fs.FS, c Config) *FS {
	orElse := func(n, def int) int {
		if n > 0 {
			return n
		}
		return def
	}
	if c.ModTime.IsZero() {
		c.ModTime = time.Now()
	}
	f := &FS{fsys: fsys, uid: c.UID, gid: c.GID, modTime: c.ModTime}
	f.objects.limit = orElse(c.Paths, 65536)
	f.lists.limit = orElse(c.ListEntries, 65536)
	f.files.limit = orElse(c.OpenFiles, 64)
	f.files.dropped = f.unref
	f.blocks.limit = orElse(c.CacheBytes, 16<<20)
	return f
}

// Close closes the files that are kept open and forgets what was remembered.
// Calls that are under way end well.
func (f *FS) Close() error {
	f.mu.Lock()
	f.objects.clear()
	f.lists.clear()
	f.files.clear()
	f.blocks.clear()
	f.unlock()
	return nil
}

// Invalidate forgets an object's open file or listing. Both are forgotten
// anyhow when size or modification time change.
func (f *FS) Invalidate(o vfs.Object) {
	f.mu.Lock()
	f.lists.remove(o.(object))
	f.files.remove(o.(object))
	f.unlock()
}

// unlock unlocks f.mu and closes what nobody uses any more.
func (f *FS) unlock() {
	doomed := f.doomed
	f.doomed = nil
	f.mu.Unlock()
	for _, d := range doomed {
		d.Close()
	}
}

// object is a path, as fs.ValidPath has it.
type object string

const root object = "."

func (o object) child(name string) object {
	if o == root {
		return object(name)
	}
	return o + "/" + object(name)
}

// gone turns "does not exist" into "is gone": for an object that was found
// before.
func gone(err error) error {
	if err == nil {
		return nil
	}
	if c := vfs.Cause(err); c == vfs.ErrNotExist || c == vfs.ErrNotDir {
		return vfs.ErrStale
	}
	return err
}

// stat returns an object's FileInfo and attributes.
func (f *FS) stat(o object, attr *vfs.Attr) (fs.FileInfo, error) {
	info, err := fs.Lstat(f.fsys, string(o))
	if vfs.Cause(err) == vfs.ErrInvalid {
		return nil, vfs.ErrNotExist // a name that can't be
	}
	if err != nil {
		return nil, err
	}
	f.fillAttr(o, info, attr)
	return info, nil
}

// fillAttr makes attributes of what is known.
func (f *FS) fillAttr(o object, info fs.FileInfo, attr *vfs.Attr) {
	mode, mtime := info.Mode(), info.ModTime()
	if mtime.IsZero() {
		mtime = f.modTime
	}
	t := vfs.Time{Sec: mtime.Unix(), Nsec: uint32(mtime.Nanosecond())}
	size := uint64(max(0, info.Size()))
	*attr = vfs.Attr{
		Mask: vfs.AttrBasic, Type: typeOf(mode), Mode: permissions(mode),
		// With 1 link for directories programs don't count subdirectories by it.
		Nlink: 1, UID: f.uid, GID: f.gid, Size: size, Used: size,
		FileID: fileID(o), Atime: t, Mtime: t, Ctime: t,
	}
}

func typeOf(m fs.FileMode) vfs.Type {
	switch m & fs.ModeType {
	case 0:
		return vfs.TypeRegular
	case fs.ModeDir:
		return vfs.TypeDirectory
	case fs.ModeSymlink:
		return vfs.TypeSymlink
	case fs.ModeNamedPipe:
		return vfs.TypeFIFO
	case fs.ModeSocket:
		return vfs.TypeSocket
	case fs.ModeDevice:
		return vfs.TypeBlock
	}
	return vfs.TypeChar // also for ModeIrregular: nothing that can be read
}

func permissions(m fs.FileMode) uint32 {
	p := uint32(m.Perm())
	if p == 0 {
		p = 0o444
		if m.IsDir() {
			p = 0o555
		}
	}
	if m&fs.ModeSetuid != 0 {
		p |= 0o4000
	}
	if m&fs.ModeSetgid != 0 {
		p |= 0o2000
	}
	if m&fs.ModeSticky != 0 {
		p |= vfs.Sticky
	}
	return p
}

// Getattr returns attributes.
func (f *FS) Getattr(_ *vfs.Call, o vfs.Object, _ vfs.AttrMask, attr *vfs.Attr) error {
	_, err := f.stat(o.(object), attr)
	return gone(err)
}

// Access answers from mode and owner, without the right to change anything.
func (f *FS) Access(c *vfs.Call, o vfs.Object, want vfs.Access) (vfs.Access, error) {
	var a vfs.Attr
	if _, err := f.stat(o.(object), &a); err != nil {
		return 0, gone(err)
	}
	return c.Cred.Access(&a, want&^(vfs.AccessModify|vfs.AccessExtend|vfs.AccessDelete)), nil
}

// Lookup finds a name.
func (f *FS) Lookup(c *vfs.Call, dir vfs.Object, name string, attr *vfs.Attr) (vfs.Object, error) {
	d := dir.(object)
	var a vfs.Attr
	if err := f.statDir(d, &a); err != nil {
		return nil, err
	}
	if err := c.Cred.Check(&a, vfs.PermExec); err != nil {
		return nil, err
	}
	var o object
	switch {
	case name == ".":
		o = d
	case name == "..":
		o = object(path.Dir(string(d)))
	case len(name) > vfs.MaxName:
		return nil, vfs.ErrNameTooLong
	case !validName(name):
		return nil, vfs.ErrNotExist
	default:
		o = d.child(name)
	}
	if attr == nil {
		attr = &a
	}
	if _, err := f.stat(o, attr); err != nil {
		return nil, err
	}
	return o, nil
}

// statDir is stat for a directory.
func (f *FS) statDir(d object, a *vfs.Attr) error {
	if _, err := f.stat(d, a); err != nil {
		return gone(err)
	}
	if a.Type != vfs.TypeDirectory {
		return vfs.ErrNotDir
	}
	return nil
}

// Readlink returns a symbolic link's target, if the fs.FS is an
// fs.ReadLinkFS.
func (f *FS) Readlink(_ *vfs.Call, o vfs.Object) (string, error) {
	var a vfs.Attr
	if _, err := f.stat(o.(object), &a); err != nil {
		return "", gone(err)
	}
	if a.Type != vfs.TypeSymlink {
		return "", vfs.ErrInvalid
	}
	links, ok := f.fsys.(fs.ReadLinkFS)
	if !ok {
		return "", vfs.ErrNotSupported
	}
	target, err := links.ReadLink(string(o.(object)))
	return target, gone(err)
}

// listing is a directory's entries as they were when it had a certain time.
type listing struct {
	mtime   vfs.Time
	entries []fs.DirEntry
}

// ReadDir reports the entries by name; cookies are their places in the list.
func (f *FS) ReadDir(c *vfs.Call, dir vfs.Object, after vfs.Cookie, want vfs.AttrMask, fill func(*vfs.DirEntry) bool) (eof bool, err error) {
	d := dir.(object)
	var a vfs.Attr
	if err := f.statDir(d, &a); err != nil {
		return false, err
	}
	if err := c.Cred.Check(&a, vfs.PermRead); err != nil {
		return false, err
	}
	entries, err := f.list(d, a.Mtime)
	if err != nil {
		return false, err
	}
	next := uint64(0)
	if after >= vfs.FirstCookie {
		next = uint64(after - vfs.FirstCookie + 1)
	}
	var out vfs.DirEntry
	for ; next < uint64(len(entries)); next++ {
		e := entries[next]
		o := d.child(e.Name())
		out = vfs.DirEntry{Name: e.Name(), Cookie: vfs.FirstCookie + vfs.Cookie(next), FileID: fileID(o)}
		if want != 0 {
			if info, err := e.Info(); err == nil {
				out.Object = o
				f.fillAttr(o, info, &out.Attr)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return false, err
			}
		}
		if !fill(&out) {
			return false, nil
		}
	}
	return true, nil
}

// list returns a directory's entries, from memory if they were read when the
// directory had the same time. Entries that no path of an fs.FS can name are
// left out.
func (f *FS) list(d object, mtime vfs.Time) ([]fs.DirEntry, error) {
	f.mu.Lock()
	l, ok := f.lists.get(d)
	f.unlock()
	if ok && l.mtime == mtime {
		return l.entries, nil
	}
	entries, err := fs.ReadDir(f.fsys, string(d))
	if err != nil {
		return nil, gone(err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !validName(e.Name()) })
	if time.Since(time.Unix(mtime.Sec, int64(mtime.Nsec))) < settled {
		return entries, nil
	}
	f.mu.Lock()
	f.lists.put(d, &listing{mtime, entries}, len(entries)+1)
	f.unlock()
	return entries, nil
}

// settled is how old a directory's time must be to tell that nothing has
// changed since: a change right after it may have the same.
const settled = time.Second

// validName reports whether an entry of an fs.FS can have this name.
func validName(name string) bool {
	return fs.ValidPath(name) && name != "." && strings.IndexByte(name, '/') < 0
}
