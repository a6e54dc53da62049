//go:build !linux && !darwin && !freebsd

package xprt

import "net"

func peerOf(*net.UnixConn) (Peer, bool) { return Peer{}, false }
