package vfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestCause(t *testing.T) {
	_, notExist := os.Open(filepath.Join(t.TempDir(), "nothing"))
	for _, tc := range []struct{ err, want error }{
		{nil, nil},
		{ErrStale, ErrStale},
		{ErrWouldBlock, ErrWouldBlock},
		{fmt.Errorf("reading: %w", ErrQuota), ErrQuota},
		{fmt.Errorf("reading: %w", fmt.Errorf("more: %w", ErrWouldBlock)), ErrWouldBlock},
		{errors.Join(errors.New("one"), ErrNotEmpty), ErrNotEmpty},
		{notExist, ErrNotExist},
		{fs.ErrNotExist, ErrNotExist},
		{fs.ErrExist, ErrExist},
		{fs.ErrPermission, ErrAccess},
		{fs.ErrInvalid, ErrInvalid},
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, ErrNotExist},
		{errors.ErrUnsupported, ErrNotSupported},
		{context.Canceled, ErrDelay},
		{context.DeadlineExceeded, ErrDelay},
		{os.ErrDeadlineExceeded, ErrDelay},
		{io.ErrUnexpectedEOF, ErrIO},
		{errors.New("anything"), ErrIO},

		{syscall.EPERM, ErrPerm},
		{syscall.ENOENT, ErrNotExist},
		{syscall.EIO, ErrIO},
		{syscall.ENXIO, ErrNXIO},
		{syscall.EACCES, ErrAccess},
		{syscall.EEXIST, ErrExist},
		{syscall.EXDEV, ErrCrossDevice},
		{syscall.ENOTDIR, ErrNotDir},
		{syscall.EISDIR, ErrIsDir},
		{syscall.EINVAL, ErrInvalid},
		{syscall.EFBIG, ErrFileTooBig},
		{syscall.ENOSPC, ErrNoSpace},
		{syscall.EROFS, ErrReadOnly},
		{syscall.EMLINK, ErrTooManyLinks},
		{syscall.ENAMETOOLONG, ErrNameTooLong},
		{syscall.ENOTEMPTY, ErrNotEmpty},
		{syscall.EDQUOT, ErrQuota},
		{syscall.ESTALE, ErrStale},
		{syscall.ENOSYS, ErrNotSupported},
		{syscall.ENOTSUP, ErrNotSupported},
		{syscall.EOPNOTSUPP, ErrNotSupported},
		{syscall.EAGAIN, ErrDelay},
		{syscall.ENOMEM, ErrDelay},
		{syscall.EMFILE, ErrDelay},
		{syscall.ENOTCONN, ErrIO},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, ErrNoSpace},
		{fmt.Errorf("wrapped: %w", &os.SyscallError{Syscall: "rename", Err: syscall.EXDEV}), ErrCrossDevice},
	} {
		if got := Cause(tc.err); got != tc.want {
			t.Errorf("%v: %v, want %v", tc.err, got, tc.want)
		}
	}
	for _, e := range causes {
		if got := Cause(e); got != e {
			t.Errorf("%v became %v", e, got)
		}
	}
}
