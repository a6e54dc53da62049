package crash

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"eddy.example/nfs3"
	"golang.org/x/sys/unix"
)

// compare says what is other below root than a client's models have it. If none
// fits it is what is other than the one that fits best, and then the rest.
func compare(models []*model, root, client string) (best *comparison) {
	var all []string
	for _, m := range models {
		c := &comparison{model: m, client: client, inodes: make(map[int]uint64)}
		c.dir(own, filepath.Join(root, client))
		c.dir(shared, filepath.Join(root, sharedName))
		if best == nil || len(c.wrong) < len(best.wrong) {
			best = c
		}
		all = append(all, "or: "+strings.Join(c.wrong, "; "))
	}
	if len(best.wrong) > 0 && len(all) > 1 {
		best.wrong = append(best.wrong, all...)
	}
	return best
}

const sharedName = "shared"

type comparison struct {
	model  *model
	client string
	inodes map[int]uint64 // by node
	wrong  []string
}

func (c *comparison) errorf(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

func (c *comparison) dir(id int, path string) {
	entries, err := os.ReadDir(path)
	if err != nil {
		c.errorf("node %d: %v", id, err)
		return
	}
	var got []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), c.client+"-") {
			got = append(got, e.Name())
		}
	}
	want := c.model.nodes[id].entries
	for _, name := range got {
		if _, ok := want[name]; !ok {
			c.errorf("%s/%s is there, and should not be", path, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		c.object(want[name], filepath.Join(path, name))
	}
}

func (c *comparison) object(id int, path string) {
	n := c.model.nodes[id]
	fi, err := os.Lstat(path)
	if err != nil {
		c.errorf("node %d: %v", id, err)
		return
	}
	st := fi.Sys().(*syscall.Stat_t)
	if kind := kinds[fi.Mode().Type()]; kind != n.kind {
		c.errorf("%s, node %d, is a %v", path, id, kind)
		return
	}
	if ino, ok := c.inodes[id]; ok {
		if ino != st.Ino {
			c.errorf("%s, node %d, is inode %d and %d", path, id, ino, st.Ino)
		}
		return // seen by another name
	}
	c.inodes[id] = st.Ino
	if n.kind != nfs3.NF3DIR && int(st.Nlink) != n.links {
		c.errorf("%s, node %d: %d links, want %d", path, id, st.Nlink, n.links)
	}
	if n.kind == nfs3.NF3DIR {
		c.dir(id, path)
	}
	if n.doubtful {
		return
	}
	for _, a := range []struct {
		name string
		got  int64
		want field
	}{
		{"mode", int64(st.Mode & 0o7777), n.mode}, {"uid", int64(st.Uid), n.uid}, {"gid", int64(st.Gid), n.gid},
		{"mtime", st.Mtim.Nano(), n.mtime}, {"atime", st.Atim.Nano(), n.atime},
	} {
		if !a.want.allows(a.got) {
			c.errorf("%s, node %d: %s %o, want %o", path, id, a.name, a.got, a.want)
		}
	}
	switch n.kind {
	case nfs3.NF3REG:
		data, err := os.ReadFile(path)
		if err == nil {
			err = n.data.check(data)
		}
		if err != nil {
			c.errorf("%s, node %d: %v", path, id, err)
		}
	case nfs3.NF3LNK:
		if target, err := os.Readlink(path); err != nil || target != n.target {
			c.errorf("%s, node %d: points to %q, %v, want %q", path, id, target, err, n.target)
		}
	case nfs3.NF3CHR:
		if want := unix.Mkdev(n.rdev.Specdata1, n.rdev.Specdata2); uint64(st.Rdev) != want {
			c.errorf("%s, node %d: device %x, want %x", path, id, st.Rdev, want)
		}
	}
}

var kinds = map[fs.FileMode]nfs3.Ftype3{
	0: nfs3.NF3REG, fs.ModeDir: nfs3.NF3DIR, fs.ModeSymlink: nfs3.NF3LNK, fs.ModeNamedPipe: nfs3.NF3FIFO,
	fs.ModeDevice | fs.ModeCharDevice: nfs3.NF3CHR,
}
