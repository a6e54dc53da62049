package loopfs

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Device is a loop device. It detaches itself when its process is gone and nothing
// is mounted from it.
type Device struct {
	f *os.File
}

// Flags say how a device reads and writes its file.
type Flags uint32

// Direct makes a device go round the page cache: what is written to it is written
// to the file when the device says so, and a flush of it is an fsync of the file.
const Direct Flags = unix.LO_FLAGS_DIRECT_IO

// SectorSize is the devices' sector size in bytes.
const SectorSize = 4096

// attempts bounds how often another process may be first at a free device.
const attempts = 1000

// Attach makes a loop device of a file, which it keeps open.
func Attach(file *os.File, flags Flags) (*Device, error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("loopfs: %w", err)
	}
	defer control.Close()
	for range attempts {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("loopfs: finding a free loop device: %w", err)
		}
		d, err := open(n)
		if err != nil {
			return nil, err
		}
		err = unix.IoctlLoopConfigure(int(d.f.Fd()), &unix.LoopConfig{
			Fd:   uint32(file.Fd()),
			Size: SectorSize,
			Info: unix.LoopInfo64{Flags: uint32(flags) | unix.LO_FLAGS_AUTOCLEAR},
		})
		if err == nil {
			return d, nil
		}
		d.f.Close()
		if !errors.Is(err, unix.EBUSY) {
			return nil, fmt.Errorf("loopfs: configuring %s: %w", d.Path(), err)
		}
	}
	return nil, errors.New("loopfs: others took each free loop device")
}

// open opens the n-th device, whose node need not exist where /dev is no devtmpfs.
func open(n int) (*Device, error) {
	path := "/dev/loop" + strconv.Itoa(n)
	const major = 7
	err := unix.Mknod(path, unix.S_IFBLK|0o600, int(unix.Mkdev(major, uint32(n))))
	if err != nil && err != unix.EEXIST {
		return nil, fmt.Errorf("loopfs: mknod %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("loopfs: %w", err)
	}
	return &Device{f}, nil
}

// Path is the device's name, below /dev.
func (d *Device) Path() string { return d.f.Name() }

// Detach lets go of the file, or makes the last user of the device do so.
func (d *Device) Detach() error {
	err := unix.IoctlSetInt(int(d.f.Fd()), unix.LOOP_CLR_FD, 0)
	if err != nil {
		err = fmt.Errorf("loopfs: detaching %s: %w", d.Path(), err)
	}
	return errors.Join(err, d.f.Close())
}
