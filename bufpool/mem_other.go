//go:build unix && !linux && !race

package bufpool

import "golang.org/x/sys/unix"

// drop allows the system to take the memory when it wants it: here
// MADV_DONTNEED only moves it towards swap.
func drop(b []byte) { unix.Madvise(b, unix.MADV_FREE) }

func keepSmall([]byte) {}
