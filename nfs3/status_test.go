package nfs3

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"eddy.example/vfs"
)

// rfcErrors are the lists headed ERRORS in RFC 1813 §3.3.1 to §3.3.21.
var rfcErrors = [...]string{
	NFSPROC3_GETATTR:     "IO STALE BADHANDLE SERVERFAULT",
	NFSPROC3_SETATTR:     "PERM IO ACCES INVAL NOSPC ROFS DQUOT NOT_SYNC STALE BADHANDLE SERVERFAULT",
	NFSPROC3_LOOKUP:      "IO NOENT ACCES NOTDIR NAMETOOLONG STALE BADHANDLE SERVERFAULT",
	NFSPROC3_ACCESS:      "IO STALE BADHANDLE SERVERFAULT",
	NFSPROC3_READLINK:    "IO INVAL ACCES STALE BADHANDLE NOTSUPP SERVERFAULT",
	NFSPROC3_READ:        "IO NXIO ACCES INVAL STALE BADHANDLE SERVERFAULT",
	NFSPROC3_WRITE:       "IO ACCES FBIG DQUOT NOSPC ROFS INVAL STALE BADHANDLE SERVERFAULT",
	NFSPROC3_CREATE:      "IO ACCES EXIST NOTDIR NOSPC ROFS NAMETOOLONG DQUOT STALE BADHANDLE NOTSUPP SERVERFAULT",
	NFSPROC3_MKDIR:       "IO ACCES EXIST NOTDIR NOSPC ROFS NAMETOOLONG DQUOT STALE BADHANDLE NOTSUPP SERVERFAULT",
	NFSPROC3_SYMLINK:     "IO ACCES EXIST NOTDIR NOSPC ROFS NAMETOOLONG DQUOT STALE BADHANDLE NOTSUPP SERVERFAULT",
	NFSPROC3_MKNOD:       "IO ACCES EXIST NOTDIR NOSPC ROFS NAMETOOLONG DQUOT STALE BADHANDLE NOTSUPP SERVERFAULT BADTYPE",
	NFSPROC3_REMOVE:      "NOENT IO ACCES NOTDIR NAMETOOLONG ROFS STALE BADHANDLE SERVERFAULT",
	NFSPROC3_RMDIR:       "NOENT IO ACCES INVAL EXIST NOTDIR NAMETOOLONG ROFS NOTEMPTY STALE BADHANDLE NOTSUPP SERVERFAULT",
	NFSPROC3_RENAME:      "NOENT IO ACCES EXIST XDEV NOTDIR ISDIR INVAL NOSPC ROFS MLINK NAMETOOLONG NOTEMPTY DQUOT STALE BADHANDLE NOTSUPP SERVERFAULT",
	NFSPROC3_LINK:        "IO ACCES EXIST XDEV NOTDIR INVAL NOSPC ROFS MLINK NAMETOOLONG DQUOT STALE BADHANDLE NOTSUPP SERVERFAULT",
	NFSPROC3_READDIR:     "IO ACCES NOTDIR BAD_COOKIE TOOSMALL STALE BADHANDLE SERVERFAULT",
	NFSPROC3_READDIRPLUS: "IO ACCES NOTDIR BAD_COOKIE TOOSMALL STALE BADHANDLE NOTSUPP SERVERFAULT",
	NFSPROC3_FSSTAT:      "IO STALE BADHANDLE SERVERFAULT",
	NFSPROC3_FSINFO:      "STALE BADHANDLE SERVERFAULT",
	NFSPROC3_PATHCONF:    "STALE BADHANDLE SERVERFAULT",
	NFSPROC3_COMMIT:      "IO STALE BADHANDLE SERVERFAULT",
}

// added are the statuses that errorsOf and always say more.
var added = map[uint32]string{
	NFSPROC3_REMOVE: "ISDIR",
	NFSPROC3_COMMIT: "INVAL NOSPC DQUOT",
}

// mayAnswer reports whether the procedure may answer with s, by the RFC and
// what the package adds to it.
func mayAnswer(proc uint32, s NFSStat3) bool {
	list := strings.Fields(rfcErrors[proc] + " " + added[proc] + " ACCES JUKEBOX")
	return s == NFS3_OK || slices.Contains(list, strings.TrimPrefix(s.String(), "NFS3ERR_"))
}

var allStatuses = []NFSStat3{
	NFS3ERR_PERM, NFS3ERR_NOENT, NFS3ERR_IO, NFS3ERR_NXIO, NFS3ERR_ACCES, NFS3ERR_EXIST, NFS3ERR_XDEV, NFS3ERR_NODEV,
	NFS3ERR_NOTDIR, NFS3ERR_ISDIR, NFS3ERR_INVAL, NFS3ERR_FBIG, NFS3ERR_NOSPC, NFS3ERR_ROFS, NFS3ERR_MLINK,
	NFS3ERR_NAMETOOLONG, NFS3ERR_NOTEMPTY, NFS3ERR_DQUOT, NFS3ERR_STALE, NFS3ERR_REMOTE, NFS3ERR_BADHANDLE,
	NFS3ERR_NOT_SYNC, NFS3ERR_BAD_COOKIE, NFS3ERR_NOTSUPP, NFS3ERR_TOOSMALL, NFS3ERR_SERVERFAULT, NFS3ERR_BADTYPE,
	NFS3ERR_JUKEBOX,
}

func TestAnswerable(t *testing.T) {
	for proc := uint32(NFSPROC3_GETATTR); proc <= NFSPROC3_COMMIT; proc++ {
		for _, s := range allStatuses {
			got := answerable(proc, s)
			if mayAnswer(proc, s) && got != s {
				t.Errorf("%s: %v became %v", NFSV3ProcName(proc), s, got)
			}
			if !mayAnswer(proc, got) {
				t.Errorf("%s: %v became %v, which the procedure does not have", NFSV3ProcName(proc), s, got)
			}
		}
	}
	for _, tt := range []struct {
		proc     uint32
		is, want NFSStat3
	}{
		{NFSPROC3_GETATTR, NFS3ERR_NOENT, NFS3ERR_STALE},
		{NFSPROC3_READ, NFS3ERR_ISDIR, NFS3ERR_INVAL},
		{NFSPROC3_WRITE, NFS3ERR_ISDIR, NFS3ERR_INVAL},
		{NFSPROC3_WRITE, NFS3ERR_NOTSUPP, NFS3ERR_ROFS},
		{NFSPROC3_SETATTR, NFS3ERR_FBIG, NFS3ERR_INVAL},
		{NFSPROC3_CREATE, NFS3ERR_FBIG, NFS3ERR_NOSPC},
		{NFSPROC3_CREATE, NFS3ERR_ISDIR, NFS3ERR_EXIST},
		{NFSPROC3_REMOVE, NFS3ERR_PERM, NFS3ERR_ACCES},
		{NFSPROC3_MKDIR, NFS3ERR_MLINK, NFS3ERR_NOSPC},
		{NFSPROC3_LINK, NFS3ERR_ISDIR, NFS3ERR_INVAL},
		{NFSPROC3_FSINFO, NFS3ERR_IO, NFS3ERR_SERVERFAULT},
		{NFSPROC3_READDIR, NFS3ERR_NOTSUPP, NFS3ERR_SERVERFAULT},
	} {
		if got := answerable(tt.proc, tt.is); got != tt.want {
			t.Errorf("%s: %v became %v, want %v", NFSV3ProcName(tt.proc), tt.is, got, tt.want)
		}
	}
}

func TestStatusOfWrapped(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want NFSStat3
	}{
		{nil, NFS3_OK},
		{fmt.Errorf("disk: %w", vfs.ErrNoSpace), NFS3ERR_NOSPC},
		{fs.ErrNotExist, NFS3ERR_NOENT},
		{errors.New("whatever"), NFS3ERR_IO},
		{errTooSmall, NFS3ERR_TOOSMALL},
		{errFault, NFS3ERR_SERVERFAULT},
	} {
		if got := statusOf(tt.err); got != tt.want {
			t.Errorf("statusOf(%v) = %v, want %v", tt.err, got, tt.want)
		}
	}
}

func TestErrorIs(t *testing.T) {
	for _, tt := range []struct {
		status NFSStat3
		is     []error
		isNot  []error
	}{
		{NFS3ERR_NOENT, []error{NFS3ERR_NOENT, vfs.ErrNotExist, fs.ErrNotExist}, []error{NFS3ERR_STALE, vfs.ErrStale, nil}},
		{NFS3ERR_EXIST, []error{NFS3ERR_EXIST, vfs.ErrExist, fs.ErrExist}, []error{fs.ErrNotExist}},
		{NFS3ERR_ACCES, []error{NFS3ERR_ACCES, vfs.ErrAccess, fs.ErrPermission}, []error{NFS3ERR_PERM, vfs.ErrPerm}},
		{NFS3ERR_NOTSUPP, []error{vfs.ErrNotSupported, errors.ErrUnsupported}, nil},
		{NFS3ERR_REMOTE, []error{NFS3ERR_REMOTE}, []error{vfs.ErrIO}},
		{NFSStat3(4711), []error{NFSStat3(4711)}, []error{vfs.ErrIO}},
	} {
		err := fmt.Errorf("open: %w", &Error{"LOOKUP", tt.status})
		for _, target := range tt.is {
			if !errors.Is(err, target) {
				t.Errorf("%v is not %v", err, target)
			}
		}
		for _, target := range tt.isNot {
			if errors.Is(err, target) {
				t.Errorf("%v is %v", err, target)
			}
		}
	}
}
