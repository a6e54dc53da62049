package main

import (
	"net"
	"os"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	nfs "github.com/willscott/go-nfs"
	"github.com/willscott/go-nfs/helpers"
)

// goNFSHandles is the size of go-nfs's cache of handles, as in its examples.
const goNFSHandles = 1024

// goNFS serves the directory as go-nfs's own example does.
func (s *serveCmd) goNFS(l net.Listener, ended chan<- error) error {
	nfs.Log.SetLevel(nfs.ErrorLevel)
	handler := helpers.NewNullAuthHandler(changeable{osfs.New(s.Dir)})
	go func() { ended <- nfs.Serve(l, helpers.NewCachingHandler(handler, goNFSHandles)) }()
	return nil
}

// changeable adds what go-nfs wants of a file system that takes CREATE.
type changeable struct{ billy.Filesystem }

func (c changeable) path(name string) string { return c.Join(c.Root(), name) }

func (c changeable) Chmod(name string, mode os.FileMode) error { return os.Chmod(c.path(name), mode) }

func (c changeable) Lchown(name string, uid, gid int) error { return os.Lchown(c.path(name), uid, gid) }

func (c changeable) Chown(name string, uid, gid int) error { return os.Chown(c.path(name), uid, gid) }

func (c changeable) Chtimes(name string, atime, mtime time.Time) error {
	return os.Chtimes(c.path(name), atime, mtime)
}
