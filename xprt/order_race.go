//go:build race && unix

// Package syscall tells the race detector that what came before a write came before
// the read that gets it. The worker's own system calls go past that package, and a
// program's tests would see races between a client and the server in it.

package xprt

import "syscall"

// orderSend marks what has come before as done before a send. The call fails,
// after it has told the detector.
func orderSend() { syscall.Write(-1, nil) }

// orderReceive marks what follows as done after a receive from fd. The call
// reads nothing.
func orderReceive(fd int) { syscall.Read(fd, nil) }
