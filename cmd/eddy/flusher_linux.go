package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// startedAnew is a variable with the id of the process that has put itself in
// its own place.
const startedAnew = "EDDY_FLUSHER"

// beFlusher marks all threads as part of how this machine writes back memory,
// so that none waits for a mount of this very server to be written back. Threads
// to come inherit it, and so does a program that takes this one's place. It takes
// CAP_SYS_RESOURCE.
//
// A program with cgo cannot have all its threads make a system call: it starts
// anew from one that is marked. Its id, arguments, environment and whatever
// descriptors it was given stay, so nothing may have been taken yet that the
// process would have to give back.
func beFlusher() error {
	anew := os.Getenv(startedAnew) == strconv.Itoa(os.Getpid())
	os.Unsetenv(startedAnew)
	if is, err := unix.PrctlRetInt(unix.PR_GET_IO_FLUSHER, 0, 0, 0, 0); err == nil && is == 1 {
		return nil
	}
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_IO_FLUSHER, 1, 0)
	switch {
	case errno == 0:
		return nil
	case errno != syscall.ENOTSUP:
		return fmt.Errorf("PR_SET_IO_FLUSHER: %w", errno)
	case anew:
		return errors.New("PR_SET_IO_FLUSHER: execve has undone it")
	}
	return startAnew()
}

// startAnew returns only with an error.
func startAnew() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_IO_FLUSHER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_IO_FLUSHER: %w", err)
	}
	// By its own name rather than as /proc/self/exe, which ps would call it.
	self, err := os.Executable()
	if err != nil {
		return err
	}
	err = syscall.Exec(self, os.Args, append(os.Environ(), startedAnew+"="+strconv.Itoa(os.Getpid())))
	return &os.PathError{Op: "execve", Path: self, Err: err}
}
