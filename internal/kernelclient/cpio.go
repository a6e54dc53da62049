package kernelclient

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
)

// File types and permissions as cpio and stat(2) have them.
const (
	modeDir     = 0o040755
	modeFile    = 0o100644
	modeProgram = 0o100755
	modeLink    = 0o120777
)

// A tree is a file system in memory: entries by their path without a leading
// slash. Folders exist by being named in a path.
type tree map[string]entry

type entry struct {
	mode uint32
	data []byte // a symbolic link's is its target
}

func (t tree) file(name string, mode uint32, data []byte) { t[name] = entry{mode, data} }
func (t tree) link(name, target string)                   { t[name] = entry{modeLink, []byte(target)} }
func (t tree) dir(name string)                            { t[name] = entry{mode: modeDir} }

// writeCPIO writes the tree as a cpio archive in the "newc" format, the one
// that a kernel unpacks (Documentation/driver-api/early-userspace).
func (t tree) writeCPIO(w io.Writer) error {
	all := maps.Clone(t)
	for name := range t {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, ok := all[dir]; !ok {
				all[dir] = entry{mode: modeDir}
			}
		}
	}
	inode := 0
	// In this order a folder comes before what is in it.
	for _, name := range slices.Sorted(maps.Keys(all)) {
		inode++
		if err := writeEntry(w, inode, name, all[name]); err != nil {
			return err
		}
	}
	return writeEntry(w, 0, "TRAILER!!!", entry{})
}

func writeEntry(w io.Writer, inode int, name string, e entry) error {
	links := 1
	if e.mode == modeDir {
		links = 2
	}
	// ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor
	// rdevminor namesize check, then the name and the data, each padded to a
	// multiple of four.
	head := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		inode, e.mode, 0, 0, links, 0, len(e.data), 0, 0, 0, 0, len(name)+1, 0, name)
	for _, part := range [][]byte{[]byte(head), pad(len(head)), e.data, pad(len(e.data))} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

func pad(n int) []byte { return make([]byte, -n&3) }
