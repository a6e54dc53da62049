package vfs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Cause returns the error of this package that err is or wraps, so that it can
// be compared with ==. The errors of io/fs, of contexts and of the system
// count as what they mean; ErrIO stands for all that means nothing here. Cause
// of nil is nil.
//
// An error of this package that is not wrapped costs a few comparisons.
func Cause(err error) error {
	for _, e := range &causes {
		if err == e {
			return err
		}
	}
	for _, e := range &causes {
		if errors.Is(err, e) {
			return e
		}
	}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return causeOfErrno(errno)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotExist
	case errors.Is(err, fs.ErrExist):
		return ErrExist
	case errors.Is(err, fs.ErrPermission):
		return ErrAccess
	case errors.Is(err, fs.ErrInvalid):
		return ErrInvalid
	case errors.Is(err, errors.ErrUnsupported):
		return ErrNotSupported
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, os.ErrDeadlineExceeded):
		return ErrDelay
	}
	return ErrIO
}

// causes are all errors that Cause can return, nil included; what is most
// frequent comes first.
var causes = [...]error{
	nil, ErrWouldBlock, ErrNotExist, ErrAccess, ErrStale, ErrExist,
	ErrPerm, ErrIO, ErrNXIO, ErrCrossDevice, ErrNotDir, ErrIsDir, ErrInvalid,
	ErrFileTooBig, ErrNoSpace, ErrReadOnly, ErrTooManyLinks, ErrNameTooLong,
	ErrNotEmpty, ErrQuota, ErrBadHandle, ErrNotSync, ErrBadCookie,
	ErrNotSupported, ErrBadType, ErrDelay,
}

// causeOfErrno is what an errno of a backend's system call means to a client.
func causeOfErrno(e syscall.Errno) error {
	switch e {
	case syscall.EPERM:
		return ErrPerm
	case syscall.ENOENT:
		return ErrNotExist
	case syscall.ENXIO, syscall.ENODEV:
		return ErrNXIO
	case syscall.EACCES, syscall.EBUSY, syscall.ETXTBSY:
		return ErrAccess
	case syscall.EEXIST:
		return ErrExist
	case syscall.EXDEV:
		return ErrCrossDevice
	case syscall.ENOTDIR:
		return ErrNotDir
	case syscall.EISDIR:
		return ErrIsDir
	case syscall.EINVAL, syscall.ELOOP:
		return ErrInvalid
	case syscall.EFBIG:
		return ErrFileTooBig
	case syscall.ENOSPC:
		return ErrNoSpace
	case syscall.EROFS:
		return ErrReadOnly
	case syscall.EMLINK:
		return ErrTooManyLinks
	case syscall.ENAMETOOLONG:
		return ErrNameTooLong
	case syscall.ENOTEMPTY:
		return ErrNotEmpty
	case syscall.EDQUOT:
		return ErrQuota
	case syscall.ESTALE:
		return ErrStale
	case syscall.EAGAIN, syscall.EINTR, syscall.ENOMEM, syscall.EMFILE,
		syscall.ENFILE, syscall.ETIMEDOUT:
		return ErrDelay
	}
	if e.Is(errors.ErrUnsupported) {
		return ErrNotSupported
	}
	return ErrIO
}
