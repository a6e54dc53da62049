//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes f for this process, until it is closed.
func tryLock(f *os.File) bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil }

// privately runs f so that what it makes is for this user alone.
func privately(f func() error) error {
	defer unix.Umask(unix.Umask(0o177))
	return f()
}
