package client

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"time"

	"eddy.example/nfs3"
)

// localTree is a directory of this machine. Nothing outside of it is reached,
// whatever names and links a server makes us put into it.
type localTree struct {
	dir  string // its name
	root *os.Root
}

func openLocal(dir string) (*localTree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, explainLocal(err)
	}
	return &localTree{dir, root}, nil
}

func (t *localTree) close()                { t.root.Close() }
func (t *localTree) nameOf(n *node) string { return filepath.Join(t.dir, n.path) }

// explain is err with the whole name of what it is about.
func (t *localTree) explain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return hintf(err, "%s: %v", filepath.Join(t.dir, p.Path), p.Err)
	}
	return err
}

func (t *localTree) list(_ context.Context, dir *node, each func(*node) error) error {
	f, err := t.root.Open(dir.path)
	if err != nil {
		return t.explain(err)
	}
	names, err := f.Readdirnames(-1)
	f.Close()
	if err != nil {
		return t.explain(err)
	}
	for _, name := range names {
		n, err := t.stat(path.Join(dir.path, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		if err != nil {
			return t.explain(err)
		}
		if err := each(n); err != nil {
			return err
		}
	}
	return nil
}

func (t *localTree) stat(p string) (*node, error) {
	info, err := t.root.Lstat(p)
	if err != nil {
		return nil, err
	}
	return &node{name: path.Base(p), path: p, attr: localAttr(info)}, nil
}

func (t *localTree) look(_ context.Context, dir *node, name string) (*node, error) {
	n, err := t.stat(path.Join(dir.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return n, t.explain(err)
}

func (t *localTree) readlink(_ context.Context, n *node) (string, error) {
	text, err := t.root.Readlink(n.path)
	return text, t.explain(err)
}

func (t *localTree) open(_ context.Context, n *node) (source, error) {
	f, err := t.root.Open(n.path)
	if err != nil {
		return nil, t.explain(err)
	}
	return &localFile{f, n.attr.Size}, nil
}

func (t *localTree) create(_ context.Context, dir *node, name string, mode uint32, _ *node) (*node, sink, error) {
	p := path.Join(dir.path, name)
	f, err := t.root.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fs.FileMode(mode&0o777))
	if err != nil {
		return nil, nil, t.explain(err)
	}
	return &node{name: name, path: p}, &localFile{File: f}, nil
}

func (t *localTree) mkdir(_ context.Context, dir *node, name string, mode uint32) (*node, error) {
	p := path.Join(dir.path, name)
	if err := t.root.Mkdir(p, fs.FileMode(mode&0o777)); err != nil {
		return nil, t.explain(err)
	}
	return &node{name: name, path: p}, nil
}

func (t *localTree) symlink(_ context.Context, dir *node, name, text string) error {
	return t.explain(t.root.Symlink(text, path.Join(dir.path, name)))
}

func (t *localTree) keep(_ context.Context, n, like *node) error {
	// Whose set-id bit it was is not kept, so neither is the bit.
	if err := t.root.Chmod(n.path, fs.FileMode(like.attr.Mode&0o777)); err != nil {
		return t.explain(err)
	}
	return t.explain(t.root.Chtimes(n.path, timeOf(like.attr.Atime), timeOf(like.attr.Mtime)))
}

// localAttr is what cp needs to know of a local file.
func localAttr(info fs.FileInfo) (a nfs3.Fattr3) {
	a.Mode = uint32(info.Mode().Perm())
	a.Size = uint64(info.Size())
	a.Mtime = wireTime(info.ModTime())
	a.Atime = a.Mtime
	switch m := info.Mode(); {
	case m.IsRegular():
		a.Type = nfs3.NF3REG
	case m.IsDir():
		a.Type = nfs3.NF3DIR
	case m&fs.ModeSymlink != 0:
		a.Type = nfs3.NF3LNK
	case m&fs.ModeNamedPipe != 0:
		a.Type = nfs3.NF3FIFO
	case m&fs.ModeSocket != 0:
		a.Type = nfs3.NF3SOCK
	case m&fs.ModeCharDevice != 0:
		a.Type = nfs3.NF3CHR
	default:
		a.Type = nfs3.NF3BLK
	}
	return a
}

// wireTime is t, or what comes nearest to it from 1970 to 2106.
func wireTime(t time.Time) nfs3.NFSTime3 {
	switch s := t.Unix(); {
	case s < 0:
		return nfs3.NFSTime3{}
	case s > math.MaxUint32:
		return nfs3.NFSTime3{Seconds: math.MaxUint32}
	default:
		return nfs3.NFSTime3{Seconds: uint32(s), Nseconds: uint32(t.Nanosecond())}
	}
}
