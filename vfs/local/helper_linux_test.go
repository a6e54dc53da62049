package local

import (
	"context"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"eddy.example/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open serves c.Root, or a new directory, until the test ends.
func open(t testing.TB, c Config) *FS {
	t.Helper()
	if c.Root == "" {
		c.Root = t.TempDir()
	}
	f, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return f
}

// root is a call of root's that may wait.
func root() *vfs.Call { return &vfs.Call{Context: context.Background(), MayWait: true} }

// user is a call of a user's that may wait.
func user(uid, gid uint32, groups ...uint32) *vfs.Call {
	c := root()
	c.Cred = vfs.Cred{UID: uid, GID: gid, Groups: groups}
	return c
}

func lookup(t testing.TB, f *FS, dir vfs.Object, path string) vfs.Object {
	t.Helper()
	o := dir
	for name := range strings.SplitSeq(path, "/") {
		var err error
		if o, err = f.Lookup(root(), o, name, nil); err != nil {
			t.Fatalf("lookup %s of %s: %v", name, path, err)
		}
	}
	return o
}

func create(t testing.TB, f *FS, dir vfs.Object, name, contents string) vfs.Object {
	t.Helper()
	s := &vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o644}
	o, err := f.Create(root(), dir, name, vfs.CreateGuarded, [8]byte{}, s, nil, nil)
	if err != nil {
		t.Fatalf("create %s: %v", name, err)
	}
	if contents != "" {
		if _, _, _, err := f.Write(root(), o, []byte(contents), 0, vfs.Unstable, nil); err != nil {
			t.Fatalf("write %s: %v", name, err)
		}
	}
	return o
}

func mkdir(t testing.TB, f *FS, dir vfs.Object, name string) vfs.Object {
	t.Helper()
	o, err := f.Mkdir(root(), dir, name, &vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o755}, nil, nil)
	if err != nil {
		t.Fatalf("mkdir %s: %v", name, err)
	}
	return o
}

// read is what a file has.
func read(f *FS, o vfs.Object) (string, error) {
	buf := make([]byte, 1000)
	n, _, err := f.Read(root(), o, buf, 0)
	return string(buf[:n]), vfs.Cause(err)
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
