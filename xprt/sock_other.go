//go:build !linux

package xprt

import "net"

// adopt takes no connection: all are portable here.
func adopt(*Conn, net.Conn) (link, error) { return nil, nil }
