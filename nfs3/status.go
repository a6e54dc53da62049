package nfs3

import (
	"errors"
	"slices"

	"eddy.example/vfs"
)

// errTooSmall is a READDIR whose count has no room for one entry.
var errTooSmall = errors.New("nfs3: count is too small for one directory entry")

// errFault is a backend that broke its contract: SERVERFAULT.
var errFault = errors.New("nfs3: the backend's answer makes no sense")

// statusOf is the status that says err.
func statusOf(err error) NFSStat3 {
	switch err {
	case errTooSmall:
		return NFS3ERR_TOOSMALL
	case errFault:
		return NFS3ERR_SERVERFAULT
	}
	err = vfs.Cause(err)
	for _, s := range &statuses {
		if s.err == err {
			return s.status
		}
	}
	return NFS3ERR_IO
}

// causeOf is the error that s says: nil for NFS3_OK, and for a status which
// says nothing that package vfs has a name for.
func causeOf(s NFSStat3) error {
	for _, known := range &statuses {
		if known.status == s {
			return known.err
		}
	}
	return nil
}

var statuses = [...]struct {
	err    error
	status NFSStat3
}{
	{nil, NFS3_OK},
	{vfs.ErrNotExist, NFS3ERR_NOENT},
	{vfs.ErrAccess, NFS3ERR_ACCES},
	{vfs.ErrStale, NFS3ERR_STALE},
	{vfs.ErrExist, NFS3ERR_EXIST},
	{vfs.ErrPerm, NFS3ERR_PERM},
	{vfs.ErrIO, NFS3ERR_IO},
	{vfs.ErrNXIO, NFS3ERR_NXIO},
	{vfs.ErrCrossDevice, NFS3ERR_XDEV},
	{vfs.ErrNotDir, NFS3ERR_NOTDIR},
	{vfs.ErrIsDir, NFS3ERR_ISDIR},
	{vfs.ErrInvalid, NFS3ERR_INVAL},
	{vfs.ErrFileTooBig, NFS3ERR_FBIG},
	{vfs.ErrNoSpace, NFS3ERR_NOSPC},
	{vfs.ErrReadOnly, NFS3ERR_ROFS},
	{vfs.ErrTooManyLinks, NFS3ERR_MLINK},
	{vfs.ErrNameTooLong, NFS3ERR_NAMETOOLONG},
	{vfs.ErrNotEmpty, NFS3ERR_NOTEMPTY},
	{vfs.ErrQuota, NFS3ERR_DQUOT},
	{vfs.ErrBadHandle, NFS3ERR_BADHANDLE},
	{vfs.ErrNotSync, NFS3ERR_NOT_SYNC},
	{vfs.ErrBadCookie, NFS3ERR_BAD_COOKIE},
	{vfs.ErrNotSupported, NFS3ERR_NOTSUPP},
	{vfs.ErrBadType, NFS3ERR_BADTYPE},
	{vfs.ErrDelay, NFS3ERR_JUKEBOX},
}

// always are the statuses every procedure may answer with. RFC 1813 lists all
// of them for each one but two: JUKEBOX, which §2.6 defines for any request,
// and ACCES, which is what an export says to a client that it does not admit.
var always = [...]NFSStat3{
	NFS3_OK, NFS3ERR_STALE, NFS3ERR_BADHANDLE, NFS3ERR_SERVERFAULT,
	NFS3ERR_ACCES, NFS3ERR_JUKEBOX,
}

// errorsOf are the further statuses of each procedure, from the lists headed
// ERRORS in RFC 1813 §3.3. Where a list has no word for a thing that happens,
// ours has one more:
//   - REMOVE says ISDIR: §3.3.12 lets a server refuse directories, not say so;
//   - COMMIT says INVAL for what is no regular file, and NOSPC and DQUOT, which
//     file systems that allocate late find out at the sync.
var errorsOf = [...][]NFSStat3{
	NFSPROC3_GETATTR:  {NFS3ERR_IO},
	NFSPROC3_SETATTR:  {NFS3ERR_PERM, NFS3ERR_IO, NFS3ERR_INVAL, NFS3ERR_NOSPC, NFS3ERR_ROFS, NFS3ERR_DQUOT, NFS3ERR_NOT_SYNC},
	NFSPROC3_LOOKUP:   {NFS3ERR_IO, NFS3ERR_NOENT, NFS3ERR_NOTDIR, NFS3ERR_NAMETOOLONG},
	NFSPROC3_ACCESS:   {NFS3ERR_IO},
	NFSPROC3_READLINK: {NFS3ERR_IO, NFS3ERR_INVAL, NFS3ERR_NOTSUPP},
	NFSPROC3_READ:     {NFS3ERR_IO, NFS3ERR_NXIO, NFS3ERR_INVAL},
	NFSPROC3_WRITE:    {NFS3ERR_IO, NFS3ERR_FBIG, NFS3ERR_DQUOT, NFS3ERR_NOSPC, NFS3ERR_ROFS, NFS3ERR_INVAL},
	NFSPROC3_CREATE:   makes,
	NFSPROC3_MKDIR:    makes,
	NFSPROC3_SYMLINK:  makes,
	NFSPROC3_MKNOD:    append([]NFSStat3{NFS3ERR_BADTYPE}, makes...),
	NFSPROC3_REMOVE:   {NFS3ERR_NOENT, NFS3ERR_IO, NFS3ERR_NOTDIR, NFS3ERR_ISDIR, NFS3ERR_NAMETOOLONG, NFS3ERR_ROFS},
	NFSPROC3_RMDIR: {NFS3ERR_NOENT, NFS3ERR_IO, NFS3ERR_INVAL, NFS3ERR_EXIST, NFS3ERR_NOTDIR, NFS3ERR_NAMETOOLONG,
		NFS3ERR_ROFS, NFS3ERR_NOTEMPTY, NFS3ERR_NOTSUPP},
	NFSPROC3_RENAME: {NFS3ERR_NOENT, NFS3ERR_IO, NFS3ERR_EXIST, NFS3ERR_XDEV, NFS3ERR_NOTDIR, NFS3ERR_ISDIR, NFS3ERR_INVAL,
		NFS3ERR_NOSPC, NFS3ERR_ROFS, NFS3ERR_MLINK, NFS3ERR_NAMETOOLONG, NFS3ERR_NOTEMPTY, NFS3ERR_DQUOT, NFS3ERR_NOTSUPP},
	NFSPROC3_LINK: {NFS3ERR_IO, NFS3ERR_EXIST, NFS3ERR_XDEV, NFS3ERR_NOTDIR, NFS3ERR_INVAL, NFS3ERR_NOSPC, NFS3ERR_ROFS,
		NFS3ERR_MLINK, NFS3ERR_NAMETOOLONG, NFS3ERR_DQUOT, NFS3ERR_NOTSUPP},
	NFSPROC3_READDIR:     {NFS3ERR_IO, NFS3ERR_NOTDIR, NFS3ERR_BAD_COOKIE, NFS3ERR_TOOSMALL},
	NFSPROC3_READDIRPLUS: {NFS3ERR_IO, NFS3ERR_NOTDIR, NFS3ERR_BAD_COOKIE, NFS3ERR_TOOSMALL, NFS3ERR_NOTSUPP},
	NFSPROC3_FSSTAT:      {NFS3ERR_IO},
	NFSPROC3_FSINFO:      {},
	NFSPROC3_PATHCONF:    {},
	NFSPROC3_COMMIT:      {NFS3ERR_IO, NFS3ERR_INVAL, NFS3ERR_NOSPC, NFS3ERR_DQUOT},
}

// makes are the further statuses of the procedures that make an object.
var makes = []NFSStat3{
	NFS3ERR_IO, NFS3ERR_EXIST, NFS3ERR_NOTDIR, NFS3ERR_NOSPC, NFS3ERR_ROFS,
	NFS3ERR_NAMETOOLONG, NFS3ERR_DQUOT, NFS3ERR_NOTSUPP,
}

// answerable returns s if the procedure may answer with it, else what comes
// nearest to it among those it may.
func answerable(proc uint32, s NFSStat3) NFSStat3 {
	may := func(s NFSStat3) bool {
		return slices.Contains(always[:], s) || slices.Contains(errorsOf[proc], s)
	}
	if may(s) {
		return s
	}
	for _, s := range nearest(s) {
		if may(s) {
			return s
		}
	}
	return NFS3ERR_SERVERFAULT
}

// nearest are the statuses that say about the same as s, best first.
func nearest(s NFSStat3) []NFSStat3 {
	switch s {
	case NFS3ERR_PERM:
		return []NFSStat3{NFS3ERR_ACCES}
	case NFS3ERR_NOENT: // of a procedure that is given no name: the object itself
		return []NFSStat3{NFS3ERR_STALE}
	case NFS3ERR_NXIO, NFS3ERR_NODEV:
		return []NFSStat3{NFS3ERR_IO}
	case NFS3ERR_NOTDIR:
		return []NFSStat3{NFS3ERR_INVAL}
	case NFS3ERR_ISDIR: // §3.3.6, §3.3.7: INVAL for a file that is none; EXIST for CREATE
		return []NFSStat3{NFS3ERR_INVAL, NFS3ERR_EXIST}
	case NFS3ERR_FBIG: // §3.3.2: INVAL in SETATTR; NOSPC for CREATE
		return []NFSStat3{NFS3ERR_INVAL, NFS3ERR_NOSPC}
	case NFS3ERR_MLINK:
		return []NFSStat3{NFS3ERR_NOSPC}
	case NFS3ERR_NOTEMPTY:
		return []NFSStat3{NFS3ERR_EXIST}
	case NFS3ERR_NOSPC, NFS3ERR_DQUOT:
		return []NFSStat3{NFS3ERR_IO}
	case NFS3ERR_NOTSUPP:
		return []NFSStat3{NFS3ERR_ROFS}
	}
	return nil
}
