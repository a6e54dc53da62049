//go:build !linux

package xprt

import "net"

// adoptPacket takes no socket: all are portable here.
func adoptPacket(net.PacketConn) (packetLink, error) { return nil, nil }
