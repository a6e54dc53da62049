package iofs

import (
	"context"
	"io"
	"io/fs"
	"path"
	"sync"
	"testing"
	"testing/fstest"

	"eddy.example/vfs"
)

// countingFS is a MapFS whose files can only be read from front to back, or
// only by seeking, and that tells what was done with it.
type countingFS struct {
	fstest.MapFS
	seek bool

	mu      sync.Mutex
	opens   map[string]int   // of regular files
	open    int              // now
	lists   map[string]int   // of directories
	failing map[string]error // what reading a file or a directory fails with
	entered chan string      // if not nil: hears of each listing
	proceed chan struct{}    // and lets it go on
}

func (c *countingFS) Open(name string) (fs.File, error) {
	f, err := c.MapFS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return f, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opens == nil {
		c.opens = make(map[string]int)
	}
	c.opens[name]++
	c.open++
	counted := &countedFile{File: f, fs: c, name: name}
	if c.seek {
		return struct {
			*countedFile
			io.Seeker
		}{counted, f.(io.Seeker)}, nil
	}
	return counted, nil
}

func (c *countingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	c.mu.Lock()
	if c.lists == nil {
		c.lists = make(map[string]int)
	}
	c.lists[name]++
	err := c.failing[name]
	c.mu.Unlock()
	if c.entered != nil {
		c.entered <- name
		<-c.proceed
	}
	if err != nil {
		return nil, err
	}
	return fs.ReadDir(c.MapFS, name)
}

func (c *countingFS) setFailing(name string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failing = map[string]error{name: err}
}

type countedFile struct {
	fs.File
	fs   *countingFS
	name string
}

func (f *countedFile) Read(p []byte) (int, error) {
	f.fs.mu.Lock()
	err := f.fs.failing[f.name]
	f.fs.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *countedFile) Close() error {
	f.fs.mu.Lock()
	f.fs.open--
	f.fs.mu.Unlock()
	return f.File.Close()
}

func call() *vfs.Call { return &vfs.Call{Context: context.Background(), MayWait: true} }

// lookup finds a path as a client does.
func lookup(t testing.TB, f *FS, p string) vfs.Object {
	t.Helper()
	if p == "." {
		return root
	}
	o, err := f.Lookup(call(), lookup(t, f, path.Dir(p)), path.Base(p), nil)
	if err != nil {
		t.Fatalf("lookup %s: %v", p, err)
	}
	return o
}

// read reads a part of a file.
func read(t testing.TB, f *FS, o vfs.Object, off uint64, n int) string {
	t.Helper()
	p := make([]byte, n)
	n, _, err := f.Read(call(), o, p, off)
	if err != nil {
		t.Fatalf("read %v: %v", o, err)
	}
	return string(p[:n])
}
