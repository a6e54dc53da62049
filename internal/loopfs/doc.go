// Package loopfs gives a test file systems of its own, of the kinds that servers
// have: XFS, ext4 and btrfs in loop devices, and tmpfs.
//
//	dir := loopfs.New(t, "xfs", 300, "-o", "usrquota")
//
// The device's blocks are memory, so that nothing waits for this machine's disk and
// nothing is left when the test was killed but a mount without a user. For images of
// one's own there are [Attach] and [Mount]:
//
//	dev, err := loopfs.Attach(file, loopfs.Direct)  // file: any *os.File
//	err = loopfs.Mount(dev.Path(), "ext4", dir)
//	…
//	err = errors.Join(loopfs.Unmount(dir), dev.Detach())
//
// The package drives mkfs.xfs, mkfs.ext4, mkfs.btrfs and mount, and needs root:
// without it a test fails. It works on Linux only.
package loopfs
