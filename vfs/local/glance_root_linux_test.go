package local

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// These tests need root, for handles of the file system's.

// everything makes one object of each kind in a directory.
func everything(t *testing.T, dir string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(dir, name) }
	noError(t, os.WriteFile(at("file"), []byte("contents"), 0o644))
	noError(t, os.Link(at("file"), at("second")))
	noError(t, os.Mkdir(at("dir"), 0o755))
	noError(t, os.Symlink("file", at("link")))
	noError(t, os.Symlink("nowhere", at("dangling")))
	noError(t, unix.Mkfifo(at("fifo"), 0o600))
	noError(t, unix.Mknod(at("null"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at("socket")})
	noError(t, err)
	l.SetUnlinkOnClose(false)
	l.Close()
}

// A listing opens the directory and nothing in it, and has the objects and
// attributes that LOOKUP finds.
func TestListingOpensOne(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "listing")
	noError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	everything(t, dir)
	for _, handles := range []Handles{HandlesKernel, HandlesMap} {
		f := open(t, Config{Root: dir, Handles: handles})
		var listed []vfs.DirEntry
		var eof bool
		withoutOpening(t, 1, func() {
			eof, err = f.ReadDir(root(), f.root, 0, vfs.AttrBasic, func(e *vfs.DirEntry) bool {
				listed = append(listed, *e)
				return true
			})
		})
		noError(t, err)
		if !eof || len(listed) != 8 {
			t.Errorf("%v: %d entries, the end is reached: %v", handles, len(listed), eof)
		}
		for _, e := range listed {
			var a vfs.Attr
			o, err := f.Lookup(root(), f.root, e.Name, &a)
			if err != nil || o != e.Object || a != e.Attr {
				t.Errorf("%v: %s: %v with %+v, LOOKUP finds %v with %+v, %v", handles, e.Name, e.Object, e.Attr, o, a, err)
			}
		}
	}
}

// Entries are replaced by others, of other kinds and with numbers that were in use,
// while they are listed: number, kind and object belong together, and what is there
// in the end is listed as it is.
func TestListingDuringChanges(t *testing.T) {
	both(t, func(t *testing.T, f *FS, top string) {
		dir := filepath.Join(top, "export/a/b")
		b := lookup(t, f, f.root, "a/b")
		stop := make(chan struct{})
		var others sync.WaitGroup
		others.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				path := filepath.Join(dir, fmt.Sprint(n%5))
				os.Remove(path)
				var err error
				if n%3 == 0 {
					err = os.Mkdir(path, 0o755)
				} else {
					err = os.WriteFile(path, nil, 0o644)
				}
				if err != nil {
					t.Errorf("round %d: %v", n, err)
					return
				}
			}
		})
		list := func(check func(e *vfs.DirEntry)) {
			_, err := f.ReadDir(root(), b, 0, vfs.AttrBasic, func(e *vfs.DirEntry) bool {
				check(e)
				return true
			})
			noError(t, err)
		}
		for range 500 {
			list(func(e *vfs.DirEntry) {
				if i, _ := e.Object.(*inode); i != nil && (i.ino != e.FileID || i.ino != e.Attr.FileID || i.typ != e.Attr.Type) {
					t.Errorf("%s: object %d of type %d, attributes of %d of type %d", e.Name, i.ino, i.typ, e.Attr.FileID, e.Attr.Type)
				}
			})
		}
		close(stop)
		others.Wait()
		seen := map[string]vfs.Object{}
		list(func(e *vfs.DirEntry) { seen[e.Name] = e.Object })
		for name, o := range seen {
			if found := lookup(t, f, b, name); found != o {
				t.Errorf("%s: %v is listed, LOOKUP finds %v", name, o, found)
			}
		}
	})
}

func TestInoLayout(t *testing.T) {
	id := fileID{kind: 1, bytes: 12}
	copy(id.data[:], "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c")
	if l := inoLayoutOf(unix.TMPFS_MAGIC, &id, 1); l != (inoLayout{}) {
		t.Errorf("a layout that the first handle does not have: %+v", l)
	}
	if l := inoLayoutOf(unix.NFS_SUPER_MAGIC, &id, 1); l != (inoLayout{}) {
		t.Errorf("the layout of a file system that is not known: %+v", l)
	}
	if (&inoLayout{}).match(&id, 0) || (&inoLayout{kind: 1, bytes: 12}).match(&id, 0) {
		t.Error("an unknown layout matches")
	}
	l := inoLayout{kind: 1, bytes: 12, at: 4, size: 8}
	var st unix.Statx_t
	fd, err := unix.Open("/dev/shm", unix.O_PATH|unix.O_CLOEXEC, 0)
	noError(t, err)
	defer unix.Close(fd)
	noError(t, fstatx(fd, &st))
	noError(t, nameToHandle(fd, &id, 0))
	if got := inoLayoutOf(unix.TMPFS_MAGIC, &id, st.Ino); got != l || !l.match(&id, st.Ino) || l.match(&id, st.Ino+1) {
		t.Errorf("tmpfs: %+v", got)
	}
	if id.bytes = 8; l.match(&id, st.Ino) {
		t.Error("a handle that is too short matches")
	}
}
