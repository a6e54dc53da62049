package client

import (
	"context"
	"errors"
	"path"

	"eddy.example/nfs3"
)

func (t remoteTree) close()                { t.r.close() }
func (t remoteTree) nameOf(n *node) string { return t.r.at.at(n.path) }

// explain is what to say about a name in dir.
func (t remoteTree) explain(dir *node, name string, err error) error {
	return t.r.explain(t.r.at.at(path.Join(dir.path, name)), err)
}

func (t remoteTree) list(ctx context.Context, dir *node, each func(*node) error) error {
	return t.explain(dir, "", t.r.list(ctx, dir, each))
}

func (t remoteTree) readlink(ctx context.Context, n *node) (string, error) {
	text, err := t.r.readlink(ctx, n.fh)
	return text, t.explain(n, "", err)
}

func (t remoteTree) open(_ context.Context, n *node) (source, error) {
	return &remoteFile{r: t.r, node: n}, nil
}

func (t remoteTree) look(ctx context.Context, dir *node, name string) (*node, error) {
	n, err := t.r.lookup(ctx, dir, name)
	if errors.Is(err, nfs3.NFS3ERR_NOENT) {
		return nil, nil
	}
	return n, t.explain(dir, name, err)
}

// create makes a file or empties old. Not every server takes a size with CREATE.
func (t remoteTree) create(ctx context.Context, dir *node, name string, mode uint32, old *node) (*node, sink, error) {
	if old != nil {
		if old.attr.Size > 0 {
			_, err := t.r.Setattr(ctx, old.fh, &nfs3.Sattr3{Size: nfs3.SetSize3{SetIt: true}}, nil)
			if err != nil {
				return nil, nil, t.explain(dir, name, err)
			}
		}
		return old, &remoteFile{r: t.r, node: old}, nil
	}
	how := nfs3.Createhow3{Mode: nfs3.GUARDED, ObjAttributes: nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: mode}}}
	res, err := t.r.Create(ctx, dir.fh, name, &how)
	if err != nil {
		return nil, nil, t.explain(dir, name, err)
	}
	n, err := t.made(ctx, dir, name, &res.Resok.Obj)
	if err != nil {
		return nil, nil, err
	}
	return n, &remoteFile{r: t.r, node: n}, nil
}

// made is an object that was just made; not all servers tell its handle.
func (t remoteTree) made(ctx context.Context, dir *node, name string, fh *nfs3.PostOpFh3) (*node, error) {
	if fh.HandleFollows {
		return &node{name: name, path: path.Join(dir.path, name), fh: fh.Handle.Data}, nil
	}
	n, err := t.r.lookup(ctx, dir, name)
	return n, t.explain(dir, name, err)
}

func (t remoteTree) mkdir(ctx context.Context, dir *node, name string, mode uint32) (*node, error) {
	res, err := t.r.Mkdir(ctx, dir.fh, name, &nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: mode}})
	if err != nil {
		return nil, t.explain(dir, name, err)
	}
	return t.made(ctx, dir, name, &res.Resok.Obj)
}

func (t remoteTree) symlink(ctx context.Context, dir *node, name, text string) error {
	_, err := t.r.Symlink(ctx, dir.fh, name, text, &nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: 0o777}})
	return t.explain(dir, name, err)
}

func (t remoteTree) keep(ctx context.Context, n, like *node) error {
	_, err := t.r.Setattr(ctx, n.fh, &nfs3.Sattr3{
		Mode:  nfs3.SetMode3{SetIt: true, Mode: like.attr.Mode},
		Atime: nfs3.SetAtime{SetIt: nfs3.SET_TO_CLIENT_TIME, Atime: like.attr.Atime},
		Mtime: nfs3.SetMtime{SetIt: nfs3.SET_TO_CLIENT_TIME, Mtime: like.attr.Mtime},
	}, nil)
	return t.explain(n, "", err)
}
