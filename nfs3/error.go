package nfs3

import (
	"errors"
	"io/fs"
)

// Error is a status other than NFS3_OK that a server answered with.
//
// errors.Is matches it with its Status, with the error of package vfs that the
// status stands for, and with what io/fs has for it:
//
//	errors.Is(err, nfs3.NFS3ERR_NOENT)
//	errors.Is(err, vfs.ErrNotExist)
//	errors.Is(err, fs.ErrNotExist)
type Error struct {
	Proc   string // "LOOKUP"
	Status NFSStat3
}

func (e *Error) Error() string { return "nfs3: " + e.Proc + ": " + e.Status.String() }

// Is reports whether target is another word for e.Status.
func (e *Error) Is(target error) bool {
	if target == e.Status {
		return true
	}
	if err := causeOf(e.Status); err != nil && err == target {
		return true
	}
	switch e.Status {
	case NFS3ERR_NOENT:
		return target == fs.ErrNotExist
	case NFS3ERR_EXIST, NFS3ERR_NOTEMPTY:
		return target == fs.ErrExist
	case NFS3ERR_PERM, NFS3ERR_ACCES:
		return target == fs.ErrPermission
	case NFS3ERR_NOTSUPP:
		return target == errors.ErrUnsupported
	}
	return false
}

// Error makes a status something to compare an [Error] with by errors.Is.
func (v NFSStat3) Error() string { return v.String() }
