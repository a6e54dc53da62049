package local

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// These tests need root: one of the two kinds of handles does, and mounting.

// both runs a test with each kind of handles, and as on a kernel without
// openat2, in a tree of its own: "export" is served, "outside" lies beside it.
func both(t *testing.T, run func(t *testing.T, f *FS, top string)) {
	for name, handles := range map[string]Handles{"kernel": HandlesKernel, "map": HandlesMap, "old kernel": HandlesMap} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			for _, dir := range []string{"export/a/b", "outside"} {
				noError(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
			}
			noError(t, os.WriteFile(filepath.Join(top, "outside/secret"), []byte("secret"), 0o644))
			noError(t, os.WriteFile(filepath.Join(top, "export/a/b/file"), []byte("contents"), 0o644))
			f := open(t, Config{Root: filepath.Join(top, "export"), Handles: handles})
			f.oldKernel = f.oldKernel || name == "old kernel"
			run(t, f, top)
		})
	}
}

// settle calls until the answer is not that it takes time: a search ends
// between two calls.
func settle(f *FS, call func() error) error {
	for {
		err := vfs.Cause(call())
		if err != vfs.ErrDelay {
			return err
		}
		f.search.wg.Wait()
	}
}

// refused fails the test if anything can be done with the objects.
func refused(t *testing.T, f *FS, what string, handles ...[]byte) {
	t.Helper()
	for n, h := range handles {
		o, err := vfs.Object(nil), error(nil)
		if err = settle(f, func() (err error) { o, err = f.Resolve(root(), h); return err }); err != nil {
			if err != vfs.ErrStale {
				t.Errorf("%s: resolve %d: %v", what, n, err)
			}
			continue
		}
		for op, call := range map[string]func() error{
			"getattr": func() error { return f.Getattr(root(), o, vfs.AttrBasic, new(vfs.Attr)) },
			"read":    func() error { _, _, err := f.Read(root(), o, make([]byte, 10), 0); return err },
			"write":   func() error { _, _, _, err := f.Write(root(), o, []byte("x"), 0, vfs.Unstable, nil); return err },
			"commit":  func() error { _, err := f.Commit(root(), o, 0, 0, nil); return err },
			"lookup":  func() error { _, err := f.Lookup(root(), o, "file", nil); return err },
			"parent":  func() error { _, err := f.Lookup(root(), o, "..", nil); return err },
			"list": func() error {
				_, err := f.ReadDir(root(), o, 0, 0, func(*vfs.DirEntry) bool { return true })
				return err
			},
			"create": func() error {
				_, err := f.Create(root(), o, "new", vfs.CreateUnchecked, [8]byte{}, new(vfs.SetAttr), nil, nil)
				return err
			},
			"setattr": func() error {
				return f.Setattr(root(), o, &vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o777}, nil, nil)
			},
			"access": func() error { _, err := f.Access(root(), o, vfs.AccessRead); return err },
		} {
			if err := settle(f, call); err == nil {
				t.Errorf("%s: %s of %d works", what, op, n)
			}
		}
	}
}

// served fails the test unless the file can be read by its handle.
func served(t *testing.T, f *FS, what string, h []byte) {
	t.Helper()
	var o vfs.Object
	var got string
	err := settle(f, func() (err error) {
		if o, err = f.Resolve(root(), h); err == nil {
			got, err = read(f, o)
		}
		return err
	})
	if err != nil || got != "contents" {
		t.Errorf("%s: %q, %v", what, got, err)
	}
}

func TestRenamedOut(t *testing.T) {
	both(t, func(t *testing.T, f *FS, top string) {
		in, out := filepath.Join(top, "export/a/b"), filepath.Join(top, "outside/b")
		dir := f.AppendHandle(nil, lookup(t, f, f.root, "a/b"))
		file := f.AppendHandle(nil, lookup(t, f, f.root, "a/b/file"))
		served(t, f, "before", file)

		noError(t, os.Rename(filepath.Join(in, "file"), filepath.Join(top, "outside/file")))
		refused(t, f, "the file outside", file)
		noError(t, os.Rename(filepath.Join(top, "outside/file"), filepath.Join(in, "other")))
		served(t, f, "the file back by another name", file)

		noError(t, os.Rename(in, out))
		refused(t, f, "its directory outside", dir, file)
		noError(t, os.Symlink(out, in))
		refused(t, f, "a link to where its directory is", dir, file)
		noError(t, os.Remove(in))
		noError(t, os.Rename(out, filepath.Join(top, "export/b")))
		served(t, f, "its directory back elsewhere", file)
		if o, err := f.Resolve(root(), dir); err != nil || o != lookup(t, f, f.root, "b") {
			t.Errorf("the directory back elsewhere: %v, %v", o, err)
		}
	})
}

func TestRootRenamed(t *testing.T) {
	both(t, func(t *testing.T, f *FS, top string) {
		file := f.AppendHandle(nil, lookup(t, f, f.root, "a/b/file"))
		noError(t, os.Rename(filepath.Join(top, "export"), filepath.Join(top, "moved")))
		served(t, f, "the root renamed", file)
		// What takes the root's old path is not it.
		noError(t, os.MkdirAll(filepath.Join(top, "export/a/b"), 0o755))
		noError(t, os.Rename(filepath.Join(top, "moved/a/b/file"), filepath.Join(top, "export/a/b/file")))
		refused(t, f, "at the root's old path", file)
		if up, err := f.Lookup(root(), f.root, "..", nil); up != f.root || err != nil {
			t.Errorf("above the root: %v, %v", up, err)
		}
	})
}

func TestHardLinkOutside(t *testing.T) {
	both(t, func(t *testing.T, f *FS, top string) {
		in, out := filepath.Join(top, "export/a/b/file"), filepath.Join(top, "outside/link")
		noError(t, os.Link(in, out))
		file := f.AppendHandle(nil, lookup(t, f, f.root, "a/b/file"))
		served(t, f, "with a link outside", file)
		noError(t, os.Remove(in))
		refused(t, f, "with nothing but a link outside", file)
		noError(t, os.Link(out, filepath.Join(top, "export/again")))
		served(t, f, "with a new link inside", file)
	})
}

func TestSymlinksAreNotFollowed(t *testing.T) {
	both(t, func(t *testing.T, f *FS, top string) {
		noError(t, os.Symlink("../outside", filepath.Join(top, "export/link")))
		link := lookup(t, f, f.root, "link")
		if _, err := f.Lookup(root(), link, "secret", nil); err != vfs.ErrNotDir {
			t.Errorf("a name in a link: %v", err)
		}
		for _, name := range []string{"link/secret", "../outside/secret", "a/../../outside"} {
			if _, err := f.Lookup(root(), f.root, name, nil); err == nil {
				t.Errorf("%s was found", name)
			}
		}
		if _, err := f.Create(root(), f.root, "link", vfs.CreateUnchecked, [8]byte{}, new(vfs.SetAttr), nil, nil); vfs.Cause(err) != vfs.ErrExist {
			t.Errorf("create by the name of a link: %v", err)
		}
		// A directory that a handle was given out for becomes a link.
		b := f.AppendHandle(nil, lookup(t, f, f.root, "a/b"))
		noError(t, os.RemoveAll(filepath.Join(top, "export/a/b")))
		noError(t, os.Symlink("../../outside", filepath.Join(top, "export/a/b")))
		refused(t, f, "a directory replaced by a link", b)
	})
}

// TestRaces works below a name that is exchanged with a link to the outside all
// the time: nothing is ever found there, nor made.
func TestRaces(t *testing.T) {
	both(t, func(t *testing.T, f *FS, top string) {
		outside, a := filepath.Join(top, "outside"), filepath.Join(top, "export/a")
		noError(t, os.WriteFile(filepath.Join(outside, "file"), []byte("secret"), 0o644))
		noError(t, os.Symlink("../../outside", filepath.Join(a, "link")))
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(a, "b"), unix.AT_FDCWD, filepath.Join(a, "link"), unix.RENAME_EXCHANGE)
				if err != nil {
					t.Errorf("exchange: %v", err)
					return
				}
			}
		})
		dir := lookup(t, f, f.root, "a")
		found := 0
		for n := range 3000 {
			b, err := f.Lookup(root(), dir, "b", nil)
			if err != nil {
				continue
			}
			f.Create(root(), b, "new-"+strconv.Itoa(n), vfs.CreateGuarded, [8]byte{}, new(vfs.SetAttr), nil, nil)
			o, err := f.Lookup(root(), b, "file", nil)
			if err != nil {
				continue
			}
			if got, err := read(f, o); err == nil {
				found++
				if got != "contents" {
					t.Fatalf("read %q", got)
				}
			}
		}
		close(stop)
		wg.Wait()
		if found == 0 {
			t.Error("nothing was ever found: there was no race")
		}
		if names, err := os.ReadDir(outside); len(names) != 2 || err != nil {
			t.Errorf("outside are %v, %v", names, err)
		}
	})
}

func TestMountPoints(t *testing.T) {
	for _, cross := range []bool{false, true} {
		top := t.TempDir()
		noError(t, os.MkdirAll(filepath.Join(top, "mnt"), 0o755))
		noError(t, os.WriteFile(filepath.Join(top, "file"), nil, 0o644))
		if err := unix.Mount("tmpfs", filepath.Join(top, "mnt"), "tmpfs", 0, ""); err != nil {
			t.Fatalf("mount, which needs root: %v", err)
		}
		t.Cleanup(func() { unix.Unmount(filepath.Join(top, "mnt"), unix.MNT_DETACH) })
		noError(t, os.WriteFile(filepath.Join(top, "mnt/inner"), []byte("contents"), 0o644))

		state := t.TempDir()
		f, err := Open(Config{Root: top, CrossMounts: cross, State: state})
		noError(t, err)
		var listed, known bool
		_, err = f.ReadDir(root(), f.root, 0, vfs.AttrBasic, func(e *vfs.DirEntry) bool {
			if e.Name == "mnt" {
				listed, known = true, e.Object != nil
			}
			return true
		})
		if err != nil || !listed || known != cross {
			t.Errorf("cross %v: the mount point is listed: %v, with attributes: %v, %v", cross, listed, known, err)
		}
		mnt, err := f.Lookup(root(), f.root, "mnt", nil)
		if !cross {
			if err != vfs.ErrAccess {
				t.Errorf("lookup of a mount point: %v", err)
			}
			noError(t, f.Close())
			continue
		}
		noError(t, err)
		var a vfs.Attr
		noError(t, f.Getattr(root(), mnt, vfs.AttrBasic, &a))
		if !a.Has(vfs.AttrFSID) || a.FSID == 0 {
			t.Errorf("the file system below has no number: %+v", a)
		}
		if up, err := f.Lookup(root(), mnt, "..", nil); up != f.root || err != nil {
			t.Errorf("above the mount point: %v, %v", up, err)
		}
		if err := f.Rename(root(), f.root, "file", mnt, "file", nil, nil); vfs.Cause(err) != vfs.ErrCrossDevice {
			t.Errorf("rename to another file system: %v", err)
		}
		if err := f.Rmdir(root(), f.root, "mnt", nil); vfs.Cause(err) != vfs.ErrAccess {
			t.Errorf("rmdir of a mount point: %v", err)
		}
		h := f.AppendHandle(nil, lookup(t, f, mnt, "inner"))
		served(t, f, "a file on it", h)
		noError(t, f.Close())

		f = open(t, Config{Root: top, CrossMounts: true, State: state})
		served(t, f, "a file on it, after a restart", h)
		narrow := open(t, Config{Root: top})
		if _, err := narrow.Resolve(root(), h); err != vfs.ErrStale {
			t.Errorf("a file on it, after it was closed to clients: %v", err)
		}
	}
}

func TestSpecialFilesAreNotOpened(t *testing.T) {
	both(t, func(t *testing.T, f *FS, top string) {
		noError(t, unix.Mkfifo(filepath.Join(top, "export/fifo"), 0o666))
		// A character device that nobody has: opening it would be ENXIO.
		noError(t, unix.Mknod(filepath.Join(top, "export/dev"), unix.S_IFCHR|0o666, int(unix.Mkdev(250, 250))))
		for _, name := range []string{"fifo", "dev"} {
			o := lookup(t, f, f.root, name)
			if _, _, err := f.Read(root(), o, make([]byte, 1), 0); !errors.Is(err, vfs.ErrInvalid) {
				t.Errorf("%s: read: %v", name, err)
			}
			if _, _, _, err := f.Write(root(), o, []byte{1}, 0, vfs.Unstable, nil); !errors.Is(err, vfs.ErrInvalid) {
				t.Errorf("%s: write: %v", name, err)
			}
			noError(t, f.Setattr(root(), o, &vfs.SetAttr{Mask: vfs.AttrMode | vfs.AttrUID, Mode: 0o600, UID: 7}, nil, nil))
			var a vfs.Attr
			noError(t, f.Getattr(root(), o, vfs.AttrBasic, &a))
			if a.Mode != 0o600 || a.UID != 7 {
				t.Errorf("%s: mode %o, owner %d", name, a.Mode, a.UID)
			}
		}
	})
}
