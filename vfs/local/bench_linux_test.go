package local

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"eddy.example/vfs"
)

func benchmark(b *testing.B, do func(f *FS, c *vfs.Call, o vfs.Object) error) {
	dir := filepath.Join(b.TempDir(), "a", "b", "c")
	noError(b, os.MkdirAll(dir, 0o755))
	noError(b, os.WriteFile(filepath.Join(dir, "file"), make([]byte, 1<<20), 0o644))
	f := open(b, Config{Root: filepath.Join(dir, "..", "..", "..")})
	o := lookup(b, f, f.root, "a/b/c/file")
	c := root()
	b.ReportAllocs()
	for b.Loop() {
		if err := do(f, c, o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGetattr(b *testing.B) {
	var a vfs.Attr
	benchmark(b, func(f *FS, c *vfs.Call, o vfs.Object) error { return f.Getattr(c, o, vfs.AttrBasic, &a) })
}

func BenchmarkLookup(b *testing.B) {
	var a vfs.Attr
	benchmark(b, func(f *FS, c *vfs.Call, o vfs.Object) error {
		_, err := f.Lookup(c, o.(*inode).place.Load().parent, "file", &a)
		return err
	})
}

func BenchmarkRead64K(b *testing.B) {
	buf := make([]byte, 64<<10)
	b.SetBytes(int64(len(buf)))
	benchmark(b, func(f *FS, c *vfs.Call, o vfs.Object) error {
		_, _, err := f.Read(c, o, buf, 64<<10)
		return err
	})
}

func BenchmarkReadDirPlus100(b *testing.B) {
	dir := b.TempDir()
	for n := range 100 {
		noError(b, os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), nil, 0o644))
	}
	f := open(b, Config{Root: dir})
	c := root()
	b.ReportAllocs()
	for b.Loop() {
		_, err := f.ReadDir(c, f.root, 0, vfs.AttrBasic, func(*vfs.DirEntry) bool { return true })
		noError(b, err)
	}
}

func BenchmarkWrite64KAsUser(b *testing.B) {
	buf := make([]byte, 64<<10)
	b.SetBytes(int64(len(buf)))
	benchmark(b, func(f *FS, _ *vfs.Call, o vfs.Object) error {
		_, _, _, err := f.Write(user(0, 0), o, buf, 64<<10, vfs.Unstable, nil)
		return err
	})
}
