//go:build !race

package bufpool

import "golang.org/x/sys/unix"

// drop gives memory back; the range reads as zeros from then on. Locked memory
// (mlockall) is only given back if asked by the second name.
func drop(b []byte) {
	if unix.Madvise(b, unix.MADV_DONTNEED) != nil {
		unix.Madvise(b, unix.MADV_DONTNEED_LOCKED)
	}
}

// keepSmall keeps huge pages away: one of them would hold memory of runs that
// were given back, and the account would be wrong.
func keepSmall(b []byte) { unix.Madvise(b, unix.MADV_NOHUGEPAGE) }
