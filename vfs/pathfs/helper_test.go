package pathfs

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eddy.example/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dirStore is a directory of this machine, as a Store.
type dirStore struct{ root *os.Root }

func newDirStore(t testing.TB) dirStore {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return dirStore{root}
}

func (d dirStore) Stat(name string) (fs.FileInfo, error) { return d.root.Lstat(name) }

func (d dirStore) ReadDir(name string) ([]fs.FileInfo, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdir(-1)
}

func (d dirStore) ReadAt(name string, p []byte, off int64) (int, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.ReadAt(p, off)
}

func (d dirStore) WriteAt(name string, p []byte, off int64) (int, error) {
	f, err := d.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.WriteAt(p, off)
}

func (d dirStore) Truncate(name string, size int64) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

func (d dirStore) Create(name string, perm fs.FileMode) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d dirStore) Mkdir(name string, perm fs.FileMode) error { return d.root.Mkdir(name, perm) }
func (d dirStore) Remove(name string) error                  { return d.root.Remove(name) }
func (d dirStore) Rename(from, to string) error              { return d.root.Rename(from, to) }
func (d dirStore) Symlink(target, name string) error         { return d.root.Symlink(target, name) }
func (d dirStore) Readlink(name string) (string, error)      { return d.root.Readlink(name) }
func (d dirStore) Chmod(name string, m fs.FileMode) error    { return d.root.Chmod(name, m) }

func (d dirStore) Chtimes(name string, atime, mtime time.Time) error {
	return d.root.Chtimes(name, atime, mtime)
}

// user is what a test does with an FS.
type user struct {
	testing.TB
	fs *FS
}

func (u user) call() *vfs.Call { return &vfs.Call{Context: u.Context(), MayWait: true} }

func (u user) lookup(dir vfs.Object, name string) vfs.Object {
	u.Helper()
	o, err := u.fs.Lookup(u.call(), dir, name, nil)
	if err != nil {
		u.Fatalf("lookup %s: %v", name, err)
	}
	return o
}

func (u user) create(dir vfs.Object, name, data string) vfs.Object {
	u.Helper()
	o, err := u.fs.Create(u.call(), dir, name, vfs.CreateGuarded, [8]byte{}, new(vfs.SetAttr), nil, nil)
	if err != nil {
		u.Fatalf("create %s: %v", name, err)
	}
	if _, _, _, err := u.fs.Write(u.call(), o, []byte(data), 0, vfs.FileSync, nil); err != nil {
		u.Fatal(err)
	}
	return o
}

func (u user) mkdir(dir vfs.Object, name string) vfs.Object {
	u.Helper()
	o, err := u.fs.Mkdir(u.call(), dir, name, new(vfs.SetAttr), nil, nil)
	if err != nil {
		u.Fatalf("mkdir %s: %v", name, err)
	}
	return o
}

func (u user) rename(from vfs.Object, name string, to vfs.Object, toName string) {
	u.Helper()
	if err := u.fs.Rename(u.call(), from, name, to, toName, nil, nil); err != nil {
		u.Fatalf("rename %s to %s: %v", name, toName, err)
	}
}

func (u user) remove(dir vfs.Object, name string) {
	u.Helper()
	if err := u.fs.Remove(u.call(), dir, name, nil); err != nil {
		u.Fatalf("remove %s: %v", name, err)
	}
}

// read is what the file that a handle names has in it.
func (u user) read(h []byte) (string, error) {
	o, err := u.fs.Resolve(u.call(), h)
	if err != nil {
		return "", err
	}
	p := make([]byte, 1000)
	n, _, err := u.fs.Read(u.call(), o, p, 0)
	return string(p[:n]), err
}

func (u user) handle(o vfs.Object) []byte { return u.fs.AppendHandle(nil, o) }
