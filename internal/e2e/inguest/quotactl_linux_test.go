package inguest

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// quotactl_fd(2), which golang.org/x/sys has no function for: its argument is a
// structure of the kernel's uapi/linux/quota.h.

// dqblk is struct if_dqblk.
type dqblk struct {
	BHardLimit, BSoftLimit uint64 // KiB
	CurSpace               uint64 // bytes
	IHardLimit, ISoftLimit uint64
	CurInodes              uint64
	BTime, ITime           uint64
	Valid                  uint32
}

const (
	getQuota  = 0x800007 // Q_GETQUOTA
	setQuota  = 0x800008 // Q_SETQUOTA
	userQuota = 0        // USRQUOTA
	qifLimits = 1<<0 | 1<<2
)

// quotactl gets or sets what a user has on the file system of dir.
func quotactl(cmd uintptr, dir string, uid uint32, d *dqblk) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	_, _, e := unix.Syscall6(unix.SYS_QUOTACTL_FD, f.Fd(), cmd<<8|userQuota, uintptr(uid), uintptr(unsafe.Pointer(d)), 0, 0)
	if e != 0 {
		return os.NewSyscallError("quotactl_fd", e)
	}
	return nil
}
