//go:build !unix

package rpc

import "net"

type directWriter struct{}

func newDirectWriter(net.Conn) *directWriter { return nil }

func (*directWriter) write([]byte) (int, error) { return 0, nil }
