package iofs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"eddy.example/vfs"
)

func numbered(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i) ^ byte(i>>8) ^ byte(i>>16)
	}
	return p
}

// Reads in any order of files without ReadAt and Seek, with little memory.
func TestSequential(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 6*blockSize).Draw(t, "size")
		data := numbered(size)
		f := New(&countingFS{MapFS: fstest.MapFS{"a": {Data: data}, "b": {Data: data}}}, Config{CacheBytes: 2 * blockSize, OpenFiles: 1})
		for range rapid.IntRange(1, 20).Draw(t, "reads") {
			name := rapid.SampledFrom([]object{"a", "b"}).Draw(t, "name")
			off := rapid.IntRange(0, size-1).Draw(t, "off")
			p := make([]byte, rapid.IntRange(1, 2*blockSize).Draw(t, "n"))
			n, eof, err := f.Read(call(), name, p, uint64(off))
			want := data[off:min(off+len(p), size)]
			if err != nil || !bytes.Equal(p[:n], want) || eof != (off+len(p) >= size) {
				t.Fatalf("%d bytes at %d of %d: %d, eof %v, %v, or others", len(p), off, size, n, eof, err)
			}
		}
	})
}

// Clients read ahead, and their calls overtake each other: as long as what was
// read is remembered the file is read once.
func TestSequentialReadAhead(t *testing.T) {
	data := numbered(64 * blockSize)
	counting := &countingFS{MapFS: fstest.MapFS{"file": {Data: data}}}
	f := New(counting, Config{})
	const step = 47008
	var offsets []int
	for off := 0; off < len(data); off += step {
		offsets = append(offsets, off)
	}
	for i := 0; i+7 < len(offsets); i += 8 { // each eight in reverse
		for k := range 4 {
			offsets[i+k], offsets[i+7-k] = offsets[i+7-k], offsets[i+k]
		}
	}
	for _, off := range offsets {
		if got := read(t, f, object("file"), uint64(off), step); got != string(data[off:min(off+step, len(data))]) {
			t.Fatalf("other bytes at %d", off)
		}
	}
	if n := counting.opens["file"]; n != 1 {
		t.Errorf("the file was opened %d times", n)
	}
}

func TestSequentialError(t *testing.T) {
	data := numbered(3 * blockSize)
	counting := &countingFS{MapFS: fstest.MapFS{"file": {Data: data}}}
	f := New(counting, Config{})
	read(t, f, object("file"), 0, 10)
	mistake := errors.New("a bad sector")
	counting.setFailing("file", mistake)
	if _, _, err := f.Read(call(), object("file"), make([]byte, 10), 2*blockSize); !errors.Is(err, mistake) {
		t.Errorf("%v, want %v", err, mistake)
	}
	counting.setFailing("file", nil)
	if got := read(t, f, object("file"), 2*blockSize, 10); got != string(data[2*blockSize:2*blockSize+10]) {
		t.Errorf("after the error: %q", got)
	}
}

func TestOpenFilesAreBounded(t *testing.T) {
	for _, seek := range []bool{false, true} {
		tree := fstest.MapFS{}
		for i := range 50 {
			tree[fmt.Sprint(i)] = &fstest.MapFile{Data: []byte(fmt.Sprint("this is ", i))}
		}
		counting := &countingFS{MapFS: tree, seek: seek}
		f := New(counting, Config{OpenFiles: 4})
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for i := range 200 {
					name := fmt.Sprint((i*7 + g) % 50)
					if got := read(t, f, object(name), 0, 100); got != "this is "+name {
						t.Errorf("%s: %q", name, got)
					}
				}
			})
		}
		wg.Wait()
		if counting.open > 4 {
			t.Errorf("%d files are open", counting.open)
		}
		f.Close()
		if counting.open != 0 {
			t.Errorf("%d files are open after Close", counting.open)
		}
		if got := read(t, f, object("1"), 0, 100); got != "this is 1" {
			t.Errorf("after Close: %q", got)
		}
		f.Invalidate(object("1"))
		if counting.open != 0 {
			t.Errorf("%d files are open after Invalidate", counting.open)
		}
	}
}

// A file that is kept open is not what a path names once it was replaced.
func TestReplacedFile(t *testing.T) {
	dir := t.TempDir()
	put := func(contents string) {
		t.Helper()
		tmp := filepath.Join(dir, "tmp")
		if err := os.WriteFile(tmp, []byte(contents), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(tmp, filepath.Join(dir, "file")); err != nil {
			t.Fatal(err)
		}
	}
	f := New(os.DirFS(dir), Config{})
	defer f.Close()
	for _, contents := range []string{"one", "another", "x", ""} {
		put(contents)
		if got := read(t, f, object("file"), 0, 100); got != contents {
			t.Errorf("%q, want %q", got, contents)
		}
	}
}

func TestNotARegularFile(t *testing.T) {
	f := New(fstest.MapFS{"dir/file": {}, "pipe": {Mode: os.ModeNamedPipe}}, Config{})
	for o, want := range map[object]error{"dir": vfs.ErrIsDir, "pipe": vfs.ErrInvalid} {
		if _, _, err := f.Read(call(), o, make([]byte, 1), 0); err != want {
			t.Errorf("%s: %v, want %v", o, err, want)
		}
	}
}
