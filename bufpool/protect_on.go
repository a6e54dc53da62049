//go:build unix && invariants && !race

package bufpool

import "golang.org/x/sys/unix"

// protect makes an access to memory that was given back a fault.
func protect(b []byte) { unix.Mprotect(b, unix.PROT_NONE) }

func unprotect(b []byte) { unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE) }
