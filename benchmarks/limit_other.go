//go:build !linux

package main

import (
	"errors"
	"net"
)

func (s *serveCmd) limit(net.Listener, chan<- error) error { return errors.ErrUnsupported }
