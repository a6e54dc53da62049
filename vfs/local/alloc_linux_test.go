//go:build linux && !race && !invariants

// The race detector allocates where the code does not.

package local

import (
	"math/bits"
	"os"
	"path/filepath"
	"testing"
	"time"

	"eddy.example/vfs"
)

func TestAllocations(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	f := open(t, Config{Root: dir, Clock: future{}, ReadSource: ReadMapped})
	var (
		c      = root()
		sends  = &vfs.Call{Context: c.Context, KernelSends: true}
		loop   = &vfs.Call{Context: c.Context}
		user   = &vfs.Call{Context: c.Context, Cred: vfs.Cred{UID: 1000, GID: 1000, Groups: []uint32{4, 24}}}
		buf    = make([]byte, 64<<10)
		attr   vfs.Attr
		chg    vfs.Change
		o      = lookup(t, f, f.root, "file")
		top    = vfs.Object(f.root)
		handle = f.AppendHandle(nil, o)
	)
	if _, _, err := f.Read(c, o, buf, 0); err != nil {
		t.Fatal(err)
	}
	user.MayWait = true
	if _, err := f.Access(user, o, vfs.AccessRead); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Access(user, top, vfs.AccessLookup); err != nil {
		t.Fatal(err)
	}
	user.MayWait = false
	for _, tc := range []struct {
		name string
		do   func() error
	}{
		{"Resolve", func() error { _, err := f.Resolve(loop, handle); return err }},
		{"AppendHandle", func() error { handle = f.AppendHandle(handle[:0], o); return nil }},
		{"Getattr", func() error { return f.Getattr(loop, o, vfs.AttrBasic, &attr) }},
		{"Lookup", func() error { _, err := f.Lookup(loop, top, "file", &attr); return err }},
		{"Access", func() error { _, err := f.Access(loop, o, vfs.AccessRead); return err }},
		{"AccessAsUser", func() error { _, err := f.Access(user, o, vfs.AccessRead); return err }},
		{"LookupAsUser", func() error { _, err := f.Lookup(user, top, "file", &attr); return err }},
		{"Read", func() error { _, _, err := f.Read(c, o, buf, 47008); return err }},
		{"ReadSegment", func() error {
			s, _, err := f.ReadSegment(sends, o, 47008, 64<<10)
			if err == nil {
				s.Owner.Release()
			}
			if bits.UintSize < 64 && err == vfs.ErrNotSupported {
				err = nil
			}
			return err
		}},
		{"Write", func() error { _, _, _, err := f.Write(c, o, buf, 47008, vfs.Unstable, &chg); return err }},
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := tc.do(); err != nil {
				t.Fatalf("%s: %v", tc.name, err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", tc.name, n)
		}
	}
}

// future is a clock by which every ctime has settled.
type future struct{}

func (future) Now() time.Time { return time.Now().Add(time.Hour) }
