package vfs

import (
	"errors"
	"fmt"
)

// ErrWouldBlock is returned, with nothing changed, by a method that would
// have to wait while Call.MayWait is false.
var ErrWouldBlock = errors.New("vfs: would block")

// ErrBrief is an ErrWouldBlock of a method that will as a rule be done at once
// when it may wait: it fills memory of the kernel's, or waits for a lock that
// nobody holds for long. It is not worth another goroutine.
var ErrBrief = fmt.Errorf("%w, if only for a moment", ErrWouldBlock)

// Errors a backend answers with, alone or wrapped; the protocol layers match them
// with errors.Is and send the status named. The fs.ErrX values of io/fs and
// the errno values of the system are understood too; see [Cause].
var (
	ErrPerm         = errors.New("vfs: not owner")                 // NFS3ERR_PERM
	ErrNotExist     = errors.New("vfs: no such file or directory") // NFS3ERR_NOENT
	ErrIO           = errors.New("vfs: input/output error")        // NFS3ERR_IO
	ErrNXIO         = errors.New("vfs: no such device")            // NFS3ERR_NXIO
	ErrAccess       = errors.New("vfs: permission denied")         // NFS3ERR_ACCES
	ErrExist        = errors.New("vfs: file exists")               // NFS3ERR_EXIST
	ErrCrossDevice  = errors.New("vfs: cross-device link")         // NFS3ERR_XDEV
	ErrNotDir       = errors.New("vfs: not a directory")           // NFS3ERR_NOTDIR
	ErrIsDir        = errors.New("vfs: is a directory")            // NFS3ERR_ISDIR
	ErrInvalid      = errors.New("vfs: invalid argument")          // NFS3ERR_INVAL
	ErrFileTooBig   = errors.New("vfs: file too large")            // NFS3ERR_FBIG
	ErrNoSpace      = errors.New("vfs: no space left")             // NFS3ERR_NOSPC
	ErrReadOnly     = errors.New("vfs: read-only file system")     // NFS3ERR_ROFS
	ErrTooManyLinks = errors.New("vfs: too many links")            // NFS3ERR_MLINK
	ErrNameTooLong  = errors.New("vfs: name too long")             // NFS3ERR_NAMETOOLONG
	ErrNotEmpty     = errors.New("vfs: directory not empty")       // NFS3ERR_NOTEMPTY
	ErrQuota        = errors.New("vfs: quota exceeded")            // NFS3ERR_DQUOT
	ErrStale        = errors.New("vfs: stale handle")              // NFS3ERR_STALE
	ErrBadHandle    = errors.New("vfs: bad handle")                // NFS3ERR_BADHANDLE
	ErrNotSync      = errors.New("vfs: guard does not match")      // NFS3ERR_NOT_SYNC
	ErrBadCookie    = errors.New("vfs: bad directory cookie")      // NFS3ERR_BAD_COOKIE
	ErrNotSupported = errors.New("vfs: operation not supported")   // NFS3ERR_NOTSUPP
	ErrBadType      = errors.New("vfs: type not supported")        // NFS3ERR_BADTYPE
	ErrDelay        = errors.New("vfs: try again later")           // NFS3ERR_JUKEBOX
)
