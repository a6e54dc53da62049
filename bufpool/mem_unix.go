//go:build unix && !race

package bufpool

import "golang.org/x/sys/unix"

// mapMemory returns n bytes of zeros, whole pages of the system.
func mapMemory(n int) ([]byte, error) {
	const prot = unix.PROT_READ | unix.PROT_WRITE
	b, err := unix.Mmap(-1, 0, n, prot, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err == nil {
		keepSmall(b)
	}
	return b, err
}

func unmapMemory(b []byte) { unix.Munmap(b) }

// giveBack returns memory that nobody refers to; the address range stays.
func giveBack(b []byte) {
	drop(b)
	protect(b)
}

// giveUp returns memory that may still be read.
func giveUp(b []byte) { drop(b) }
