// Package blockdev gives a test a block device that remembers everything it was
// told, and can show what would be on it had the power failed at any moment.
//
//	d := blockdev.New(t, 300)               // MiB
//	err := loopfs.Make("xfs", d.Path())
//	err = loopfs.Mount(d.Path(), "xfs", dir)
//	d.Forget()                              // what led here is not the test's matter
//
//	begun := d.Now()
//	…                                       // change something below dir
//	acked := d.Now()                        // whoever asked for it was told: done
//
//	err = loopfs.Unmount(dir)
//	for cut := begun; cut <= d.Now(); cut++ {
//		image := d.Image(t, cut, seed)  // attach, mount, look
//	}
//
// Time is the number of events: writes and flushes, in the order in which they
// came. A change that was begun at b and acknowledged at a is whole in every image
// cut at a or later, and no trace of it is in one cut at b or before.
//
// # What a power cut leaves
//
// As disks have it, a write is only safe once a flush came after it. So an image has all
// writes before the last flush, and of those behind it any subset: each unit of
// [Unit] bytes, the sector's size, is there or not, independently of the others. Of
// the subsets a seed picks one, now and then all or nothing.
//
// # How
//
// The device is a loop device with direct I/O over a FUSE file that this process
// serves. Writes stay in memory, zeros take none. Nothing here needs a kernel module,
// a disk or device-mapper; it needs root, /dev/fuse and Linux.
package blockdev
