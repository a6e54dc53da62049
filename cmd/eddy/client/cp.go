package client

import (
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"

	"eddy.example/nfs3"
)

// Cp is "eddy cp".
type Cp struct {
	Paths     []string `arg:"" name:"from… to" help:"What to copy, and last where to: names of local files and directories or nfs://HOST[:PORT]/PATH."`
	Recursive bool     `short:"r" help:"Directories too, with all that is in them; symbolic links in them stay links."`
	Preserve  bool     `short:"p" help:"Keep mode and time of change."`
}

// Run copies.
func (c *Cp) Run() error { return run(c.run) }

func (c *Cp) run(e *env) error {
	last := len(c.Paths) - 1
	if last < 1 {
		return hintf(nil, "what to copy, and where to? eddy cp FROM… TO")
	}
	from, into := c.Paths[:last], c.Paths[last]
	to, err := openTarget(e, into)
	if err != nil {
		return err
	}
	defer to.tree.close()
	if len(from) > 1 && to.name != "" {
		return hintf(nil, "%s: not a directory, so there is no room for %d files", into, len(from))
	}
	p := newProgress(e)
	defer p.stop()
	job := &copying{Cp: c, env: e, to: to.tree, progress: p}
	for _, f := range from {
		if err := job.one(f, into, to); err != nil {
			return err
		}
	}
	if job.skipped > 0 {
		return hintf(nil, "%d objects that are neither files, directories nor links were left out", job.skipped)
	}
	return nil
}

// target is where cp copies to: into dir, as name or, if that is empty, as what
// it is called where it comes from.
type target struct {
	tree tree
	dir  *node
	name string
}

func openTarget(e *env, to string) (*target, error) {
	if !isRemote(to) {
		return openLocalTarget(to)
	}
	r, err := open(e, to)
	if err != nil {
		return nil, err
	}
	dir, n, err := r.findIn(e.ctx, r.at.path)
	if err == nil && n != nil && n.isLink() {
		n, err = r.find(e.ctx, r.at.path, true)
	}
	switch {
	case err != nil:
		r.close()
		return nil, err
	case n != nil && n.isDir():
		return &target{remoteTree{r}, n, ""}, nil
	}
	return &target{remoteTree{r}, dir, path.Base(r.at.path)}, nil
}

func openLocalTarget(to string) (*target, error) {
	dir, name := filepath.Split(filepath.Clean(to))
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		dir, name = to, ""
	}
	t, err := openLocal(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	return &target{t, &node{path: "."}, name}, nil
}

// openOrigin finds what cp copies from. Links in its name are followed.
func openOrigin(e *env, from string) (tree, *node, error) {
	if isRemote(from) {
		r, err := open(e, from)
		if err != nil {
			return nil, nil, err
		}
		n, err := r.find(e.ctx, r.at.path, true)
		if err != nil {
			r.close()
			return nil, nil, err
		}
		n.name = path.Base(r.at.path)
		return remoteTree{r}, n, nil
	}
	p, err := filepath.EvalSymlinks(from)
	if err == nil {
		p, err = filepath.Abs(p)
	}
	if err != nil {
		return nil, nil, explainLocal(err)
	}
	t, err := openLocal(filepath.Dir(p))
	if err != nil {
		return nil, nil, err
	}
	n, err := t.stat(filepath.Base(p))
	if err != nil {
		t.close()
		return nil, nil, t.explain(err)
	}
	if name := filepath.Base(from); name != "." && name != ".." {
		n.name = name
	}
	return t, n, nil
}

// copying is a cp at work.
type copying struct {
	*Cp
	*env
	from, to tree
	progress *progress
	skipped  int
}

// one copies one of the names given.
func (c *copying) one(from, into string, to *target) error {
	if !isRemote(from) && !isRemote(into) {
		return hintf(nil, "%s and %s are both local: that is what cp is for", from, into)
	}
	tree, n, err := openOrigin(c.env, from)
	if err != nil {
		return err
	}
	defer tree.close()
	c.from = tree
	name := to.name
	if name == "" {
		name = n.name
	}
	switch {
	case n.isDir() && !c.Recursive:
		return hintf(nil, "%s: is a directory: -r copies it with all that is in it", from)
	case !validName(name):
		return hintf(nil, "%s: the copy needs a name: end %s with one", from, into)
	case c.within(n, to.dir):
		return hintf(nil, "%s: a directory can't be copied into itself", from)
	}
	return c.copy(n, to.dir, name)
}

// within reports whether to is n or below it, on one server.
func (c *copying) within(n, to *node) bool {
	a, ok := c.from.(remoteTree)
	b, ok2 := c.to.(remoteTree)
	return ok && ok2 && n.isDir() && a.r.at.host == b.r.at.host && below(to.path, n.path)
}

// copy copies n, and all that is in it, to an entry of dir.
func (c *copying) copy(n, dir *node, name string) error {
	switch n.attr.Type {
	case nfs3.NF3REG:
		return c.file(n, dir, name)
	case nfs3.NF3DIR:
		return c.dir(n, dir, name)
	case nfs3.NF3LNK:
		return c.link(n, dir, name)
	}
	c.say("%s: left out: it is a %s", c.from.nameOf(n), typeName(n.attr.Type))
	c.skipped++
	return nil
}

// mode is the mode of a copy as it is made.
func (c *copying) mode(n *node) uint32 {
	if c.Preserve {
		return n.attr.Mode & 0o777
	}
	return n.attr.Mode & 0o755
}

func (c *copying) file(n, dir *node, name string) error {
	// Emptying the file that is to be read would be the end of it.
	old, err := c.to.look(c.ctx, dir, name)
	switch {
	case err != nil:
		return err
	case old != nil && c.same(old, n):
		return hintf(nil, "%s: this is the file that is to be copied", c.to.nameOf(old))
	case old != nil && old.isLink():
		return hintf(nil, "%s: is a symbolic link: remove it, or copy to where it leads", c.to.nameOf(old))
	case old != nil && old.isDir():
		return hintf(nil, "%s: is a directory, and %s is a file", c.to.nameOf(old), c.from.nameOf(n))
	}
	from, err := c.from.open(c.ctx, n)
	if err != nil {
		return err
	}
	defer closeFile(from)
	made, to, err := c.to.create(c.ctx, dir, name, c.mode(n), old)
	if err != nil {
		return err
	}
	c.progress.begin(n.name, n.attr.Size)
	err = transfer(c.ctx, from, to, c.progress.wrote)
	c.progress.end()
	if closeErr := closeFile(to); err == nil {
		err = closeErr
	}
	if err != nil {
		return explainLocal(err)
	}
	return c.keep(made, n)
}

func closeFile(f any) error {
	if f, ok := f.(io.Closer); ok {
		return f.Close()
	}
	return nil
}

// same reports whether two nodes are one file of one server.
func (c *copying) same(a, b *node) bool {
	from, ok := c.from.(remoteTree)
	to, ok2 := c.to.(remoteTree)
	return ok && ok2 && from.r.at.host == to.r.at.host && bytes.Equal(a.fh, b.fh)
}

func (c *copying) dir(n, dir *node, name string) error {
	made, err := c.to.look(c.ctx, dir, name)
	switch {
	case err != nil:
		return err
	case made == nil:
		// Writable until all is in it.
		made, err = c.to.mkdir(c.ctx, dir, name, c.mode(n)|0o700)
	case !made.isDir():
		return hintf(nil, "%s: not a directory, and %s is one", c.to.nameOf(made), c.from.nameOf(n))
	}
	if err != nil {
		return err
	}
	err = c.from.list(c.ctx, n, func(child *node) error { return c.copy(child, made, child.name) })
	if err != nil {
		return err
	}
	return c.keep(made, n)
}

func (c *copying) link(n, dir *node, name string) error {
	text, err := c.from.readlink(c.ctx, n)
	if err != nil {
		return err
	}
	return c.to.symlink(c.ctx, dir, name, text)
}

func (c *copying) keep(made, n *node) error {
	if !c.Preserve {
		return nil
	}
	return c.to.keep(c.ctx, made, n)
}
