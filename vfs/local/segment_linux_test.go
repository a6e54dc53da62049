//go:build amd64 || arm64 || riscv64

// Where addresses are short there are no segments.

package local

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/bufpool"
	"eddy.example/vfs"
)

// sending is a call whose segments the kernel sends.
func sending(c *vfs.Call) *vfs.Call {
	c.KernelSends = true
	return c
}

// segment is what ReadSegment answers a READ with, copied.
func segment(t *testing.T, f *FS, c *vfs.Call, o vfs.Object, off uint64, n int) ([]byte, bool, error) {
	t.Helper()
	s, eof, err := f.ReadSegment(c, o, off, n)
	if err != nil {
		return nil, false, err
	}
	defer s.Owner.Release()
	b := bytes.Clone(s.Mem)
	if s.File != nil {
		b = make([]byte, s.Len)
		_, err := s.File.ReadAt(b, s.Off)
		noError(t, err)
	}
	return b, eof, nil
}

func TestSegment(t *testing.T) {
	for _, source := range []ReadSource{ReadMapped, ReadSpliced} {
		t.Run(source.String(), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			data := make([]byte, 3<<20+4711)
			rand.NewChaCha8([32]byte{}).Read(data)
			noError(t, os.WriteFile(path, data, 0o644))
			f := open(t, Config{Root: dir, ReadSource: source})
			o := lookup(t, f, f.root, "file")
			for _, r := range []struct {
				off uint64
				n   int
			}{
				{0, 1 << 20}, {1, 1 << 20}, {47008, 47008}, {2<<20 + 4095, 1 << 20},
				{uint64(len(data)) - 40000, 40000}, {uint64(len(data)) - 10, 40000},
			} {
				end := min(r.off+uint64(r.n), uint64(len(data)))
				got, eof, err := segment(t, f, sending(root()), o, r.off, r.n)
				if err != nil || !bytes.Equal(got, data[r.off:end]) || eof != (end == uint64(len(data))) {
					t.Errorf("%d bytes at %d: %d bytes, eof %t, %v", r.n, r.off, len(got), eof, err)
				}
			}
			more := append(data, bytes.Repeat([]byte("more"), 1<<20)...)
			noError(t, os.WriteFile(path, more, 0o644))
			if got, _, err := segment(t, f, sending(root()), o, 5<<20, 1<<20); err != nil || !bytes.Equal(got, more[5<<20:6<<20]) {
				t.Errorf("of a longer file: %d bytes, %v", len(got), err)
			}
			noError(t, os.Truncate(path, 100_000))
			if got, eof, err := segment(t, f, sending(root()), o, 60_000, 1<<20); err != nil || !eof || !bytes.Equal(got, more[60_000:100_000]) {
				t.Errorf("of a file that was cut: %d bytes, eof %t, %v", len(got), eof, err)
			}

			refused := func(what string, c *vfs.Call, o vfs.Object, off uint64, n int, want error) {
				t.Helper()
				if _, _, err := segment(t, f, c, o, off, n); err != want {
					t.Errorf("%s: %v, want %v", what, err, want)
				}
			}
			refused("on a connection that reads it", root(), o, 0, 1<<20, vfs.ErrNotSupported)
			refused("a short READ", sending(root()), o, 0, minSegment-1, vfs.ErrNotSupported)
			refused("beyond the end", sending(root()), o, 100_000, 1<<20, vfs.ErrNotSupported)
			refused("a directory", sending(root()), f.root, 0, 1<<20, vfs.ErrIsDir)
			f.SetReadSource(ReadPages)
			refused("from pages", sending(root()), o, 0, 1<<20, vfs.ErrNotSupported)
		})
	}
}

// TestSegmentInMemoryOnly answers from pages what the worker would have to wait
// for.
func TestSegmentInMemoryOnly(t *testing.T) {
	dir := t.TempDir()
	f := open(t, Config{Root: dir, ReadSource: ReadMapped})
	o := create(t, f, f.root, "file", "")
	file, err := os.OpenFile(filepath.Join(dir, "file"), os.O_WRONLY, 0)
	noError(t, err)
	defer file.Close()
	noError(t, file.Truncate(4<<20)) // a hole: no page is in memory
	if _, _, err := segment(t, f, sending(root()), o, 0, 1<<20); err != vfs.ErrNotSupported {
		t.Errorf("nothing is in memory: %v", err)
	}
	if _, err := file.WriteAt(make([]byte, 1<<20-1), 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := segment(t, f, sending(root()), o, 0, 1<<20); err != nil {
		t.Errorf("all is in memory: %v", err)
	}
	if _, _, err := segment(t, f, sending(root()), o, 4096, 1<<20); err != vfs.ErrNotSupported {
		t.Errorf("the last page is not in memory: %v", err)
	}
}

// TestMappingsEnd counts the mappings of a file.
func TestMappingsEnd(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mapped-file")
	f := open(t, Config{Root: dir, ReadSource: ReadMapped})
	mappings := func() int {
		maps, err := os.ReadFile("/proc/self/maps")
		noError(t, err)
		return strings.Count(string(maps), path)
	}
	want := func(what string, n int) {
		t.Helper()
		if got := mappings(); got != n {
			t.Errorf("%s: %d mappings, want %d", what, got, n)
		}
	}
	read := func(o vfs.Object) bufpool.Segment {
		t.Helper()
		s, _, err := f.ReadSegment(sending(root()), o, 0, 1<<20)
		noError(t, err)
		return s
	}
	noError(t, os.WriteFile(path, make([]byte, 1<<20), 0o644))
	o := lookup(t, f, f.root, "mapped-file")
	first := read(o)
	want("after a READ", 1)
	noError(t, os.WriteFile(path, make([]byte, 10<<20), 0o644))
	second := read(o)
	want("of a file that has grown, while the first is sent", 2)
	first.Owner.Release()
	second.Owner.Release()
	want("when all was sent", 1)
	last := read(o)
	noError(t, f.Remove(root(), f.root, "mapped-file", nil))
	want("removed, while it is sent", 1)
	if !bytes.Equal(last.Mem, make([]byte, 1<<20)) {
		t.Error("what is sent is not what was read")
	}
	last.Owner.Release()
	want("removed", 0)
}

// TestSegmentPermission asks for data that the caller may not have.
func TestSegmentPermission(t *testing.T) {
	dir := t.TempDir()
	noError(t, os.Chmod(dir, 0o755))
	noError(t, os.WriteFile(filepath.Join(dir, "secret"), make([]byte, 1<<20), 0o600))
	f := open(t, Config{Root: dir, ReadSource: ReadMapped})
	if f.Describe().Identity != IdentityClients {
		t.Fatal("run as root")
	}
	o := lookup(t, f, f.root, "secret")
	if _, _, err := segment(t, f, sending(user(4711, 4711)), o, 0, 1<<20); err != vfs.ErrAccess {
		t.Errorf("another's file: %v", err)
	}
	if err := unix.Chown(filepath.Join(dir, "secret"), 4711, 4711); err != nil {
		t.Fatal(err)
	}
	if _, _, err := segment(t, f, sending(user(4711, 4711)), o, 0, 1<<20); err != nil {
		t.Errorf("one's own file: %v", err)
	}
}

func BenchmarkSegment(b *testing.B) {
	dir := b.TempDir()
	noError(b, os.WriteFile(filepath.Join(dir, "file"), make([]byte, 1<<20), 0o644))
	f := open(b, Config{Root: dir, ReadSource: ReadMapped})
	o := lookup(b, f, f.root, "file")
	for _, n := range []int{64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := sending(root())
			b.ReportAllocs()
			for b.Loop() {
				s, _, err := f.ReadSegment(c, o, 0, n)
				if err != nil {
					b.Fatal(err)
				}
				s.Owner.Release()
			}
		})
	}
}
