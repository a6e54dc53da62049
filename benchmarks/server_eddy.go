package main

import (
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"

	eddy "eddy.example"
	"eddy.example/vfs/export"
	"eddy.example/vfs/local"
	"eddy.example/xprt"
	"eddy.example/xprt/mux"
)

// The modes of eddy: where READs are answered from, then what else is not the
// default. All but durable answer changes of names before they are on stable
// storage, as the peers do.
const (
	modePages   = "pages"
	modeMmap    = "mmap"
	modeSplice  = "splice"
	modeDurable = "durable"
	modeAlways  = "always" // MSG_ZEROCOPY for every large reply
)

// eddy serves the directory to whoever reaches this host.
func (s *serveCmd) eddy(l net.Listener, pc net.PacketConn, a *account, ended chan<- error) error {
	config := local.Config{Root: s.Dir, State: filepath.Join(s.Scratch, "state"), AsyncMetadata: true}
	srv := new(eddy.Server)
	for _, word := range strings.Split(s.Mode, ",") {
		switch word {
		case modePages:
		case modeMmap:
			config.ReadSource = local.ReadMapped
		case modeSplice:
			config.ReadSource = local.ReadSpliced
		case modeDurable:
			config.AsyncMetadata = false
		case modeAlways:
			srv.ZeroCopy = xprt.ZeroCopyAlways
		default:
			return fmt.Errorf("eddy has no mode %q", word)
		}
	}
	fs, err := local.Open(config)
	if err != nil {
		return err
	}
	srv.Exports = []eddy.Export{{
		Path: exportPath, FS: fs, Squash: export.SquashNone, InsecurePorts: true,
		Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")},
	}}
	a.poolPages = func() (n int64) {
		for _, p := range srv.Stats().Transport.Pools {
			n += int64(p.New)
		}
		return n
	}
	if pc != nil {
		go func() { ended <- srv.ServePacket(pc) }()
		return nil
	}
	if s.Network == "smux" {
		l = mux.NewListener(l, mux.Config{})
	}
	go func() { ended <- srv.Serve(l) }()
	return nil
}
