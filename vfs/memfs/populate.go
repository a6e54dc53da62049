package memfs

import (
	"context"
	"fmt"
	"path"
	"strings"

	"eddy.example/vfs"
)

// rootCall is a call of the program itself.
func rootCall() *vfs.Call { return &vfs.Call{Context: context.Background(), MayWait: true} }

// MkdirAll makes a directory and what is missing above it, as root. One that is
// there is left as it is.
func (fs *FS) MkdirAll(name string, mode uint32) error {
	_, err := fs.mkdirAll(name, mode)
	return err
}

func (fs *FS) mkdirAll(name string, mode uint32) (*inode, error) {
	c, d := rootCall(), fs.root
	s := &vfs.SetAttr{Mask: vfs.AttrMode, Mode: mode}
	for part := range strings.SplitSeq(path.Clean("/" + name)[1:], "/") {
		if part == "" {
			continue // the root itself
		}
		o, err := fs.Mkdir(c, d, part, s, nil, nil)
		if err == vfs.ErrExist {
			o, err = fs.Lookup(c, d, part, nil)
		}
		if err != nil {
			return nil, fmt.Errorf("memfs: mkdir %s: %w", name, err)
		}
		d = o.(*inode)
	}
	if d.dir == nil {
		return nil, fmt.Errorf("memfs: mkdir %s: %w", name, vfs.ErrNotDir)
	}
	return d, nil
}

// WriteFile puts data into a file, as root. It makes the file with mode, and
// the directories above it with 0755, if they are not there.
func (fs *FS) WriteFile(name string, data []byte, mode uint32) error {
	dir, base := path.Split(path.Clean("/" + name))
	d, err := fs.mkdirAll(dir, 0o755)
	if err != nil {
		return err
	}
	c := rootCall()
	s := &vfs.SetAttr{Mask: vfs.AttrMode | vfs.AttrSize, Mode: mode}
	o, err := fs.Create(c, d, base, vfs.CreateUnchecked, [8]byte{}, s, nil, nil)
	if err == nil {
		var n int
		n, _, _, err = fs.Write(c, o, data, 0, vfs.FileSync, nil)
		if err == nil && n < len(data) {
			err = vfs.ErrNoSpace
		}
	}
	if err != nil {
		return fmt.Errorf("memfs: write %s: %w", name, err)
	}
	return nil
}
