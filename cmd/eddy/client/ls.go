package client

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eddy.example/nfs3"
)

// Ls is "eddy ls".
type Ls struct {
	URL       []string `arg:"" name:"url" help:"What to list: nfs://HOST[:PORT]/PATH."`
	Long      bool     `short:"l" help:"Type, mode, links, owner, group, size, time of change and link text."`
	All       bool     `short:"a" help:"Names that begin with a dot too."`
	Recursive bool     `short:"R" help:"Directories in directories too."`
}

// Run lists.
func (c *Ls) Run() error { return run(c.run) }

func (c *Ls) run(e *env) error {
	for i, u := range c.URL {
		if len(c.URL) > 1 {
			if i > 0 {
				fmt.Fprintln(e.out)
			}
			fmt.Fprintf(e.out, "%s:\n", u)
		}
		if err := c.url(e, u); err != nil {
			return err
		}
	}
	return nil
}

func (c *Ls) url(e *env, u string) error {
	r, err := open(e, u)
	if err != nil {
		return err
	}
	defer r.close()
	n, err := r.find(e.ctx, r.at.path, !c.Long)
	if err != nil {
		return err
	}
	if n.isDir() {
		return c.dir(e, r, n)
	}
	return c.line(e, r, n)
}

// dir lists one directory, and with Recursive those in it.
func (c *Ls) dir(e *env, r *remote, dir *node) error {
	var nodes []*node
	err := r.list(e.ctx, dir, func(n *node) error {
		if c.All || !strings.HasPrefix(n.name, ".") {
			nodes = append(nodes, n)
		}
		return nil
	})
	if err != nil {
		return r.explain(r.at.at(dir.path), err)
	}
	slices.SortFunc(nodes, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	for _, n := range nodes {
		if err := c.line(e, r, n); err != nil {
			return err
		}
	}
	if !c.Recursive {
		return nil
	}
	for _, n := range nodes {
		if n.isDir() {
			fmt.Fprintf(e.out, "\n%s:\n", printable(n.path))
			if err := c.dir(e, r, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Ls) line(e *env, r *remote, n *node) error {
	if !c.Long {
		_, err := fmt.Fprintln(e.out, printable(n.name))
		return err
	}
	a := &n.attr
	size := fmt.Sprint(a.Size)
	if a.Type == nfs3.NF3BLK || a.Type == nfs3.NF3CHR {
		size = fmt.Sprintf("%d,%d", a.Rdev.Specdata1, a.Rdev.Specdata2)
	}
	arrow := ""
	if n.isLink() {
		text, err := r.readlink(e.ctx, n.fh)
		if err != nil {
			return r.explain(r.at.at(n.path), err)
		}
		arrow = " -> " + printable(text)
	}
	_, err := fmt.Fprintf(e.out, "%s %3d %5d %5d %10s %s %s%s\n", fileMode(a), a.Nlink, a.UID, a.GID, size,
		timeOf(a.Mtime).Format("2006-01-02 15:04"), printable(n.name), arrow)
	return err
}

// fileMode is type and mode as ls shows them.
func fileMode(a *nfs3.Fattr3) string {
	const letters = "?-dbclsp" // by ftype3
	m := []byte("?rwxrwxrwx")
	if int(a.Type) < len(letters) && a.Type > 0 {
		m[0] = letters[a.Type]
	}
	for i := range 9 {
		if a.Mode>>(8-i)&1 == 0 {
			m[1+i] = '-'
		}
	}
	for i, special := range []byte("sst") { // set-user-ID, set-group-ID, sticky
		if x := &m[3+3*i]; a.Mode>>(11-i)&1 != 0 {
			if *x == '-' {
				special -= 'a' - 'A'
			}
			*x = special
		}
	}
	return string(m)
}

func timeOf(t nfs3.NFSTime3) time.Time { return time.Unix(int64(t.Seconds), int64(t.Nseconds)) }
