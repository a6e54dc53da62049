//go:build !linux

package main

import (
	"context"
	"errors"
	"net"
)

type slowNetwork struct{}

func newSlowNetwork() (*slowNetwork, error) { return nil, errors.ErrUnsupported }

func (*slowNetwork) dialer(string) func(context.Context) (net.Conn, error) { return nil }

func (*slowNetwork) close() {}
