package vfs_test

import (
	"fmt"
	"io/fs"
	"syscall"

	"eddy.example/vfs"
)

func ExampleCause() {
	for _, err := range []error{
		fmt.Errorf("writing block 7: %w", vfs.ErrNoSpace),
		&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist},
		syscall.EXDEV,
		fmt.Errorf("something else"),
	} {
		fmt.Println(vfs.Cause(err))
	}
	// Output:
	// vfs: no space left
	// vfs: no such file or directory
	// vfs: cross-device link
	// vfs: input/output error
}

// A backend that keeps Unix modes checks permissions with them.
func ExampleCred_Check() {
	dir := &vfs.Attr{Type: vfs.TypeDirectory, Mode: 0o750, UID: 10, GID: 20}
	member := vfs.Cred{UID: 11, GID: 1, Groups: []uint32{20}}
	fmt.Println(member.Check(dir, vfs.PermRead|vfs.PermExec))
	fmt.Println(member.Check(dir, vfs.PermWrite))
	// Output:
	// <nil>
	// vfs: permission denied
}
