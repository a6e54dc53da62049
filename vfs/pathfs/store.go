package pathfs

import (
	"io/fs"
	"time"
)

// Store keeps objects by path. Paths are as in io/fs: no slash at either end, no
// "." and "..", names of any bytes, and "." is the root. Errors wrap those of
// io/fs, syscall or vfs. No method follows a symbolic link.
type Store interface {
	// Stat describes an object.
	Stat(name string) (fs.FileInfo, error)

	// ReadDir describes all that is in a directory, in any order.
	ReadDir(name string) ([]fs.FileInfo, error)

	// ReadAt and WriteAt are like those of io.ReaderAt and io.WriterAt; WriteAt
	// behind the end fills up with zeros. A store to which opening a file is
	// dear keeps some open.
	ReadAt(name string, p []byte, off int64) (int, error)
	WriteAt(name string, p []byte, off int64) (int, error)

	// Truncate sets a file's size, filling up with zeros.
	Truncate(name string, size int64) error

	// Create makes an empty file, and fails with fs.ErrExist if there is
	// something.
	Create(name string, perm fs.FileMode) error

	// Mkdir makes a directory, as Create makes a file.
	Mkdir(name string, perm fs.FileMode) error

	// Remove removes a file, a symbolic link or an empty directory.
	Remove(name string) error

	// Rename renames whatever it is. A file or link at the new path is replaced;
	// a directory never is there.
	Rename(from, to string) error
}

// Linker is a Store with symbolic links. Symlink fails with fs.ErrExist if there
// is something.
type Linker interface {
	Symlink(target, name string) error
	Readlink(name string) (string, error)
}

// Chmoder is a Store that can set permissions.
type Chmoder interface {
	Chmod(name string, perm fs.FileMode) error
}

// Chtimer is a Store that can set times.
type Chtimer interface {
	Chtimes(name string, atime, mtime time.Time) error
}

// Syncer is a Store whose writes are durable only after Sync.
type Syncer interface {
	Sync(name string) error
}
