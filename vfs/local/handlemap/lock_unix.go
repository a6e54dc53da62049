//go:build unix

package handlemap

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile opens path and locks it for as long as it is open, or fails.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if err == unix.EWOULDBLOCK {
		err = errors.New("in use by another process: give each server a state directory of its own")
	}
	return nil, err
}
