package main

import (
	"net"
	"path/filepath"

	eddy "eddy.example"
	"eddy.example/vfs/export"
	"eddy.example/vfs/local"
)

// The modes of eddy. All but durable answer changes of names before they
// are on stable storage, as the peers do.
const (
	modePages   = "pages"
	modeMmap    = "mmap"
	modeSplice  = "splice"
	modeDurable = "durable"
)

// eddy serves the directory with the defaults, to whoever is on this host.
func (s *serveCmd) eddy(l net.Listener, a *account, ended chan<- error) error {
	fs, err := local.Open(local.Config{
		Root:          s.Dir,
		State:         filepath.Join(s.Scratch, "state"),
		AsyncMetadata: s.Mode != modeDurable,
	})
	if err != nil {
		return err
	}
	srv := &eddy.Server{Exports: []eddy.Export{{
		Path: exportPath, FS: fs, Squash: export.SquashNone, InsecurePorts: true,
	}}}
	a.poolPages = func() (n int64) {
		for _, p := range srv.Stats().Transport.Pools {
			n += int64(p.New)
		}
		return n
	}
	go func() { ended <- srv.Serve(l) }()
	return nil
}
