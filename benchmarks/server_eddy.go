package main

import (
	"net"

	eddy "eddy.example"
	"eddy.example/vfs/memfs"
)

// serveEddy serves memfs with the defaults.
func serveEddy(l net.Listener) error {
	fs := memfs.New(memfs.Config{RootMode: 0o777})
	s := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: fs}}}
	return s.Serve(l)
}
