package memfs

import (
	"slices"
	"sort"

	"eddy.example/vfs"
)

// directory is the contents of a directory: entries by name, and in the order
// of their cookies. A new entry gets a cookie greater than all before it, so
// positions stay what they are while entries come and go.
type directory struct {
	parent *inode // of a directory that is gone: what was its parent last
	names  map[string]*entry
	// blocks are the entries in the order of cookies, in pieces of at most
	// blockSize, so that adding, removing and finding a position all cost the
	// same, however many there are. No block is empty.
	blocks [][]*entry
	last   vfs.Cookie
}

type entry struct {
	name   string
	cookie vfs.Cookie
	inode  *inode
}

const blockSize = 128

func newDirectory() *directory {
	return &directory{names: make(map[string]*entry), last: vfs.FirstCookie - 1}
}

// add adds a name that is not there.
func (d *directory) add(name string, i *inode) {
	d.last++
	e := &entry{name, d.last, i}
	d.names[name] = e
	n := len(d.blocks)
	if n == 0 || len(d.blocks[n-1]) == blockSize {
		d.blocks = append(d.blocks, nil)
		n++
	}
	d.blocks[n-1] = append(d.blocks[n-1], e)
}

// remove removes an entry that is there.
func (d *directory) remove(e *entry) {
	delete(d.names, e.name)
	b, k := d.find(e.cookie - 1)
	d.blocks[b] = slices.Delete(d.blocks[b], k, k+1)
	if len(d.blocks[b]) == 0 {
		d.blocks = slices.Delete(d.blocks, b, b+1)
	} else {
		d.join(b)
	}
	d.join(b - 1)
	if len(d.names) == 0 {
		d.names, d.blocks = make(map[string]*entry), nil
	}
}

// join makes one block of b and the next if they became small, or a directory
// that shrank would keep a block for each entry left.
func (d *directory) join(b int) {
	if b < 0 || b+1 >= len(d.blocks) || len(d.blocks[b])+len(d.blocks[b+1]) > blockSize/2 {
		return
	}
	d.blocks[b] = append(d.blocks[b], d.blocks[b+1]...)
	d.blocks = slices.Delete(d.blocks, b+1, b+2)
}

// find returns the position of the first entry whose cookie is greater than
// after; block is len(d.blocks) if there is none.
func (d *directory) find(after vfs.Cookie) (block, k int) {
	block = sort.Search(len(d.blocks), func(i int) bool {
		b := d.blocks[i]
		return b[len(b)-1].cookie > after
	})
	if block == len(d.blocks) {
		return block, 0
	}
	b := d.blocks[block]
	return block, sort.Search(len(b), func(i int) bool { return b[i].cookie > after })
}

// copyFrom fills list with the entries behind after and returns how many
// there were.
func (d *directory) copyFrom(after vfs.Cookie, list []entry) (n int) {
	block, k := d.find(after)
	for ; block < len(d.blocks) && n < len(list); block, k = block+1, 0 {
		for _, e := range d.blocks[block][k:] {
			if n == len(list) {
				break
			}
			list[n] = *e
			n++
		}
	}
	return n
}

// checkDir returns nil if the inode is a directory on which the caller has all
// of want. Its lock is held.
func (i *inode) checkDir(c *vfs.Call, want vfs.Perm) error {
	if err := i.alive(); err != nil {
		return err
	}
	if i.dir == nil {
		return vfs.ErrNotDir
	}
	return c.Cred.Check(&i.attr, want)
}

// Lookup finds a name.
func (fs *FS) Lookup(c *vfs.Call, dir vfs.Object, name string, attr *vfs.Attr) (vfs.Object, error) {
	i, err := dir.(*inode).lookup(c, name)
	if err != nil {
		return nil, err
	}
	if attr != nil {
		if err := fs.Getattr(c, i, known, attr); err != nil {
			return nil, vfs.ErrNotExist // it was removed meanwhile
		}
	}
	return i, nil
}

func (i *inode) lookup(c *vfs.Call, name string) (*inode, error) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	if err := i.checkDir(c, vfs.PermExec); err != nil {
		return nil, err
	}
	switch name {
	case ".":
		return i, nil
	case "..":
		return i.dir.parent, nil
	}
	if len(name) > vfs.MaxName {
		return nil, vfs.ErrNameTooLong
	}
	e := i.dir.names[name]
	if e == nil {
		return nil, vfs.ErrNotExist
	}
	return e.inode, nil
}

// ReadDir reports entries. It copies some under the directory's lock and
// reports them without: fill may take its time, and their attributes lie
// behind locks of their own.
func (fs *FS) ReadDir(c *vfs.Call, dir vfs.Object, after vfs.Cookie, want vfs.AttrMask, fill func(*vfs.DirEntry) bool) (eof bool, err error) {
	var batch [32]entry
	var out vfs.DirEntry
	for {
		n, err := dir.(*inode).list(c, after, batch[:])
		if err != nil {
			return false, err
		}
		for _, e := range batch[:n] {
			out = vfs.DirEntry{Name: e.name, Cookie: e.cookie, FileID: e.inode.attr.FileID}
			if want != 0 && fs.Getattr(c, e.inode, want, &out.Attr) == nil {
				out.Object = e.inode
			}
			if !fill(&out) {
				return false, nil
			}
			after = e.cookie
		}
		if n < len(batch) {
			return true, nil
		}
	}
}

func (i *inode) list(c *vfs.Call, after vfs.Cookie, batch []entry) (int, error) {
	i.mu.RLock()
	defer i.mu.RUnlock()
	if err := i.checkDir(c, vfs.PermRead); err != nil {
		return 0, err
	}
	return i.dir.copyFrom(after, batch), nil
}
