package main

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// beFlusher marks all threads as part of how this machine writes back memory,
// so that none waits for a mount of this very server to be written back. Threads
// to come inherit it. It takes CAP_SYS_RESOURCE.
func beFlusher() error {
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_IO_FLUSHER, 1, 0); errno != 0 {
		return fmt.Errorf("PR_SET_IO_FLUSHER: %w", errno)
	}
	return nil
}
