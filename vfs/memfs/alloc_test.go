//go:build !race

// The race detector allocates where the code does not.

package memfs

import (
	"testing"

	"eddy.example/vfs"
)

func TestAllocations(t *testing.T) {
	fs := New(Config{})
	i := write(t, fs, "file", 1<<20)
	var (
		c      = call()
		o      = vfs.Object(i)
		root   = vfs.Object(fs.root)
		buf    = make([]byte, 64<<10)
		handle = fs.AppendHandle(nil, o)
		attr   vfs.Attr
		chg    vfs.Change
		statfs vfs.Statfs
		s      = vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o600}
		fill   = func(*vfs.DirEntry) bool { return true }
	)
	fs.Link(c, o, fs.root, "other", nil, nil)
	for _, tc := range []struct {
		name string
		most float64
		do   func() error
	}{
		{"Resolve", 0, func() error { _, err := fs.Resolve(c, handle); return err }},
		{"AppendHandle", 0, func() error { handle = fs.AppendHandle(handle[:0], o); return nil }},
		{"Lookup", 0, func() error { _, err := fs.Lookup(c, root, "file", &attr); return err }},
		{"Getattr", 0, func() error { return fs.Getattr(c, o, vfs.AttrBasic, &attr) }},
		{"Access", 0, func() error { _, err := fs.Access(c, o, vfs.AccessRead); return err }},
		{"Read", 0, func() error { _, _, err := fs.Read(c, o, buf, 47008); return err }},
		{"Write", 0, func() error { _, _, _, err := fs.Write(c, o, buf, 47008, vfs.Unstable, &chg); return err }},
		{"Commit", 0, func() error { _, err := fs.Commit(c, o, 0, 0, &chg); return err }},
		{"Setattr", 0, func() error { return fs.Setattr(c, o, &s, nil, &chg) }},
		{"Statfs", 0, func() error { return fs.Statfs(c, o, &statfs) }},
		// However many entries there are.
		{"ReadDir", 2, func() error { _, err := fs.ReadDir(c, root, 0, vfs.AttrBasic, fill); return err }},
	} {
		n := testing.AllocsPerRun(100, func() {
			if err := tc.do(); err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
		})
		if n > tc.most {
			t.Errorf("%s: %v allocations, at most %v are allowed", tc.name, n, tc.most)
		}
	}
}
