//go:build unix && !race

package bufpool

import "golang.org/x/sys/unix"

// mapMemory returns n bytes of zeros from the system, n being a multiple of its page.
func mapMemory(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
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
