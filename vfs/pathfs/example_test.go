package pathfs_test

import (
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/memfs"
	"github.com/go-git/go-billy/v5/util"

	"eddy.example/vfs"
	"eddy.example/vfs/pathfs"
)

// billyStore is a go-billy file system as a pathfs.Store: memfs, osfs, or a
// cloud's.
type billyStore struct{ billy.Filesystem }

func (s billyStore) Stat(name string) (fs.FileInfo, error) { return s.Lstat(name) }

func (s billyStore) ReadAt(name string, p []byte, off int64) (int, error) {
	f, err := s.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.ReadAt(p, off)
}

func (s billyStore) WriteAt(name string, p []byte, off int64) (n int, err error) {
	err = s.change(name, os.O_WRONLY, 0, func(f billy.File) error {
		if _, err := f.Seek(off, 0); err != nil {
			return err
		}
		n, err = f.Write(p)
		return err
	})
	return n, err
}

func (s billyStore) Truncate(name string, size int64) error {
	return s.change(name, os.O_WRONLY, 0, func(f billy.File) error { return f.Truncate(size) })
}

func (s billyStore) Create(name string, perm fs.FileMode) error {
	// Not all of them honour O_EXCL.
	if _, err := s.Lstat(name); err == nil {
		return fs.ErrExist
	}
	return s.change(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm, func(billy.File) error { return nil })
}

func (s billyStore) Mkdir(name string, perm fs.FileMode) error {
	if _, err := s.Lstat(name); err == nil {
		return fs.ErrExist
	}
	return s.MkdirAll(name, perm)
}

// change opens a file for a change. Some stores write when it is closed.
func (s billyStore) change(name string, flag int, perm fs.FileMode, do func(billy.File) error) error {
	f, err := s.OpenFile(name, flag, perm)
	if err != nil {
		return err
	}
	if err := do(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// A go-billy file system, served. Symlink and Readlink it has by itself, in the
// form that pathfs looks for.
func Example() {
	store := memfs.New()
	if err := util.WriteFile(store, "docs/hello.txt", []byte("hello, world\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	f := pathfs.New(billyStore{store}, pathfs.Config{})

	// What follows is what a server does for a client.
	c := &vfs.Call{Context: context.Background(), MayWait: true}
	root, err := f.Resolve(c, nil)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := f.Lookup(c, root, "docs", nil)
	if err != nil {
		log.Fatal(err)
	}
	file, err := f.Lookup(c, dir, "hello.txt", nil)
	if err != nil {
		log.Fatal(err)
	}
	handle := f.AppendHandle(nil, file)
	if err := f.Rename(c, dir, "hello.txt", root, "renamed.txt", nil, nil); err != nil {
		log.Fatal(err)
	}

	file, err = f.Resolve(c, handle)
	if err != nil {
		log.Fatal(err)
	}
	if _, _, _, err := f.Write(c, file, []byte("HELLO"), 0, vfs.FileSync, nil); err != nil {
		log.Fatal(err)
	}
	p := make([]byte, 100)
	n, eof, err := f.Read(c, file, p, 0)
	fmt.Printf("%s%v %v\n", p[:n], eof, err)
	// Output:
	// HELLO, world
	// true <nil>
}
