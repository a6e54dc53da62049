package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"eddy.example/nfs3"
)

// node is an object on a server.
type node struct {
	name string // its last name, or "/"
	path string // from the server's root
	fh   []byte
	attr nfs3.Fattr3
}

func (n *node) isDir() bool  { return n.attr.Type == nfs3.NF3DIR }
func (n *node) isLink() bool { return n.attr.Type == nfs3.NF3LNK }

// maxLinks is how many symbolic links one path may lead through.
const maxLinks = 40

var errLinks = errors.New("too many symbolic links")

// find walks to the path of the URL. Links on the way are followed, within the
// export, and one at its end if follow is set.
func (r *remote) find(ctx context.Context, p string, follow bool) (*node, error) {
	n, err := r.walk(ctx, p, follow)
	if err != nil {
		return nil, r.explain(r.at.at(p), err)
	}
	return n, nil
}

func (r *remote) walk(ctx context.Context, p string, follow bool) (*node, error) {
	links := 0
again:
	if !below(p, r.export) {
		return nil, hintf(nil, "%s: a symbolic link leads out of the export %s, to %s", r.at, printable(r.export), printable(p))
	}
	n := &node{name: path.Base(p), path: r.export, fh: r.root}
	names := strings.FieldsFunc(strings.TrimPrefix(p, r.export), func(c rune) bool { return c == '/' })
	if len(names) == 0 {
		return n, r.getattr(ctx, n)
	}
	for i, name := range names {
		child, err := r.lookup(ctx, n, name)
		if err != nil {
			return nil, err
		}
		if child.isLink() && (follow || i < len(names)-1) {
			if links++; links > maxLinks {
				return nil, errLinks
			}
			text, err := r.readlink(ctx, child.fh)
			if err != nil {
				return nil, err
			}
			if !path.IsAbs(text) {
				text = path.Join(n.path, text)
			}
			p = path.Join(append([]string{"/", text}, names[i+1:]...)...)
			goto again
		}
		n = child
	}
	return n, nil
}

func (r *remote) lookup(ctx context.Context, dir *node, name string) (*node, error) {
	res, err := r.Lookup(ctx, dir.fh, name)
	if err != nil {
		return nil, err
	}
	n := &node{name: name, path: path.Join(dir.path, name), fh: res.Resok.Object.Data}
	if a := &res.Resok.ObjAttributes; a.AttributesFollow {
		n.attr = a.Attributes
		return n, nil
	}
	return n, r.getattr(ctx, n)
}

func (r *remote) getattr(ctx context.Context, n *node) error {
	res, err := r.Getattr(ctx, n.fh)
	n.attr = res.Resok.ObjAttributes
	return err
}

func (r *remote) readlink(ctx context.Context, fh []byte) (string, error) {
	res, err := r.Readlink(ctx, fh)
	return string(res.Resok.Data), err
}

// listPage is how many bytes of entries are asked for at a time.
const listPage = 64 << 10

// list calls each for every entry of a directory but "." and "..", with
// attributes and handle.
func (r *remote) list(ctx context.Context, dir *node, each func(*node) error) error {
	err := r.listPlus(ctx, dir, each)
	if errors.Is(err, nfs3.NFS3ERR_NOTSUPP) {
		err = r.listPlain(ctx, dir, each)
	}
	return err
}

func (r *remote) listPlus(ctx context.Context, dir *node, each func(*node) error) error {
	var c cursor
	for {
		res, err := r.Readdirplus(ctx, dir.fh, c.cookie, c.verf, listPage, listPage)
		if err != nil {
			return err
		}
		page := res.Resok.Reply
		for i := range page.Entries {
			e := &page.Entries[i]
			var fh []byte
			if e.NameHandle.HandleFollows {
				fh = bytes.Clone(e.NameHandle.Handle.Data)
			}
			if err := r.entry(ctx, dir, string(e.Name), fh, &e.NameAttributes, each); err != nil {
				return err
			}
			c.at(e.Cookie)
		}
		if end, err := c.next(res.Resok.Cookieverf, len(page.Entries), page.Eof); end || err != nil {
			return err
		}
	}
}

func (r *remote) listPlain(ctx context.Context, dir *node, each func(*node) error) error {
	var c cursor
	for {
		res, err := r.Readdir(ctx, dir.fh, c.cookie, c.verf, listPage)
		if err != nil {
			return err
		}
		page := res.Resok.Reply
		for i := range page.Entries {
			e := &page.Entries[i]
			if err := r.entry(ctx, dir, string(e.Name), nil, &nfs3.PostOpAttr{}, each); err != nil {
				return err
			}
			c.at(e.Cookie)
		}
		if end, err := c.next(res.Resok.Cookieverf, len(page.Entries), page.Eof); end || err != nil {
			return err
		}
	}
}

// entry completes what a listing says about an entry. One that is gone by now
// is left out.
func (r *remote) entry(ctx context.Context, dir *node, name string, fh []byte, a *nfs3.PostOpAttr, each func(*node) error) error {
	if name == "." || name == ".." {
		return nil
	}
	if !validName(name) {
		return hintf(nil, "%s: the server lists a name that is none: %q", r.at.at(dir.path), name)
	}
	n := &node{name: name, path: path.Join(dir.path, name), fh: fh, attr: a.Attributes}
	if fh == nil || !a.AttributesFollow {
		found, err := r.lookup(ctx, dir, name)
		if errors.Is(err, nfs3.NFS3ERR_NOENT) || errors.Is(err, nfs3.NFS3ERR_STALE) {
			return nil
		}
		if err != nil {
			return r.explain(r.at.at(n.path), err)
		}
		n = found
	}
	return each(n)
}

// cursor is a position in a listing.
type cursor struct {
	cookie, last uint64
	verf         nfs3.Cookieverf3
}

func (c *cursor) at(cookie uint64) { c.last = cookie }

// next goes to the next page. A listing that stands still would never end.
func (c *cursor) next(verf nfs3.Cookieverf3, entries int, eof bool) (end bool, err error) {
	switch {
	case eof:
		return true, nil
	case entries == 0, c.last == c.cookie:
		return true, fmt.Errorf("the server's listing goes in circles at cookie %d", c.cookie)
	}
	c.cookie, c.verf = c.last, verf
	return false, nil
}

// findIn finds an object and its directory. dir is nil if it is the export's
// root, and n if there is no such object.
func (r *remote) findIn(ctx context.Context, p string) (dir, n *node, err error) {
	if p == r.export {
		n, err = r.find(ctx, p, false)
		return nil, n, err
	}
	if dir, err = r.find(ctx, path.Dir(p), true); err != nil {
		return nil, nil, err
	}
	n, err = r.lookup(ctx, dir, path.Base(p))
	if errors.Is(err, nfs3.NFS3ERR_NOENT) {
		return dir, nil, nil
	}
	return dir, n, r.explain(r.at.at(p), err)
}
