package main

import (
	"net"

	"github.com/go-git/go-billy/v5/memfs"
	nfs "github.com/willscott/go-nfs"
	"github.com/willscott/go-nfs/helpers"
)

// serveGoNFS serves go-billy's memfs as go-nfs's own examples do.
func serveGoNFS(l net.Listener) error {
	nfs.Log.SetLevel(nfs.ErrorLevel)
	handler := helpers.NewNullAuthHandler(memfs.New())
	return nfs.Serve(l, helpers.NewCachingHandler(handler, 1024))
}
