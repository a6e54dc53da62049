package iofs

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"eddy.example/vfs"
	"eddy.example/vfs/vfstest"
)

// onlyCore hides that an FS reads links.
type onlyCore struct{ vfs.FS }

func TestConformance(t *testing.T) {
	// The tree is the same every time.
	dir := ""
	dirOf := func(tree fstest.MapFS) string {
		if dir == "" {
			dir = dirOf(t, tree)
		}
		return dir
	}
	for _, tc := range []struct {
		name string
		make func(t testing.TB, tree fstest.MapFS) vfs.FS
	}{
		{"ReaderAt", func(_ testing.TB, tree fstest.MapFS) vfs.FS { return New(tree, Config{}) }},
		{"Seeker", func(_ testing.TB, tree fstest.MapFS) vfs.FS {
			return New(&countingFS{MapFS: tree, seek: true}, Config{})
		}},
		{"Sequential", func(_ testing.TB, tree fstest.MapFS) vfs.FS {
			return New(&countingFS{MapFS: tree}, Config{CacheBytes: 4 * blockSize})
		}},
		{"Bounds", func(_ testing.TB, tree fstest.MapFS) vfs.FS {
			return New(tree, Config{OpenFiles: 1, Paths: 1, ListEntries: 1})
		}},
		{"Zip", func(t testing.TB, tree fstest.MapFS) vfs.FS { return onlyCore{New(zipOf(t, tree), Config{})} }},
		{"Root", func(t testing.TB, tree fstest.MapFS) vfs.FS {
			root, err := os.OpenRoot(dirOf(tree))
			if err != nil {
				t.Fatal(err)
			}
			f := New(root.FS(), Config{})
			t.Cleanup(func() {
				f.Close()
				root.Close()
			})
			return f
		}},
		{"Dir", func(t testing.TB, tree fstest.MapFS) vfs.FS {
			f := New(os.DirFS(dirOf(tree)), Config{})
			t.Cleanup(func() { f.Close() })
			return f
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			vfstest.Run(t, vfstest.Config{NewTree: tc.make})
		})
	}
}

// zipOf makes an archive of a tree, without its links.
func zipOf(t testing.TB, tree fstest.MapFS) fs.FS {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, p := range slices.Sorted(maps.Keys(tree)) {
		f := tree[p]
		if f.Mode&fs.ModeSymlink != 0 {
			continue
		}
		h := &zip.FileHeader{Name: p, Method: zip.Deflate, Modified: f.ModTime}
		if f.Mode.IsDir() {
			h.Name += "/"
		}
		h.SetMode(f.Mode)
		entry, err := w.CreateHeader(h)
		if err == nil && !f.Mode.IsDir() {
			_, err = entry.Write(f.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// dirOf makes a directory of a tree.
func dirOf(t testing.TB, tree fstest.MapFS) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
	for p, f := range tree {
		if f.Mode.IsRegular() {
			if err := os.Chmod(dir+"/"+p, f.Mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}
