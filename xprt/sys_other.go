//go:build !linux

package xprt

// syscalls is nothing where connections are not the worker's own.
type syscalls struct{}
