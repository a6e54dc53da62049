package main

import (
	"os"

	"golang.org/x/sys/unix"

	"eddy.example/internal/loopfs"
)

// newXFS mounts an empty XFS of that many bytes, in memory, on dir. It is there as long as
// the mount namespace.
func newXFS(dir string, size int64) error {
	image, err := loopfs.Memory(size)
	if err != nil {
		return err
	}
	defer image.Close()
	dev, err := loopfs.Attach(image, 0)
	if err != nil {
		return err
	}
	if err := loopfs.Make("xfs", dev.Path()); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := loopfs.Mount(dev.Path(), "xfs", dir); err != nil {
		return err
	}
	// The mount keeps the device, and it detaches itself with the mount.
	return dev.Detach()
}

// syncFS writes back what is dirty on the file system of a directory.
func syncFS(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}
