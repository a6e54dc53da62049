// Package local serves a directory of a Linux host.
//
//	f, err := local.Open(local.Config{Root: "/srv/data", State: "/var/lib/eddy/data"})
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	srv := eddy.Server{Exports: []eddy.Export{{Path: "/data", FS: f}}}
//
// What is served is a directory, not a path: it stays the same when it is
// renamed, and whatever takes its path is something else.
//
// # Objects and their places
//
// An object is an inode: there is one in memory for each that somebody holds,
// found by its handle, and with a descriptor (O_PATH, or better) while it is in
// use. Descriptors are bounded (Config.MaxOpenFiles), and what is idle gives
// its own up; the inode opens it again when it is needed.
//
// A handle is the file system's own (name_to_handle_at(2)) where the server may
// open those, with CAP_DAC_READ_SEARCH; else inode number and generation. Both
// begin with a number for the file system. They stay good through renames and
// restarts.
//
// Each inode has a place, a name in a directory, where it was seen last. Places
// are kept in a map too, one row for each object (package handlemap): so a
// directory's rename touches one row, and a handle is found again after a
// restart by walking down from the root. A place is only a hint. Where it has
// become wrong, because of a rename behind the server's back, the kernel is
// asked for a better one, then the map; and last one search of the whole tree
// looks for all objects that are missed at that time, while who asks for them
// gets vfs.ErrDelay. vfs.ErrStale is only answered when the kernel says that the
// object is gone, or the search has not found it.
//
// The names that were looked up last are remembered the other way round, to the
// inode, in a table of fixed size. That is a hint too: a name leads to the inode
// if one statx finds its number there while a descriptor keeps that from being
// used again. Else it is opened. A listing opens nothing on file systems that have
// the number in their handles: two questions by name are enough then.
//
// # Nothing from outside
//
// No name is ever resolved but as one component below an open directory, with
// openat2(2) unless it is known: no symbolic link is followed, no mount point passed that is not to
// be, ".." is not taken. And before anything is done with an object it is made
// sure, in this very call, that it lies below the root:
//
//   - a directory does if the root is found so many levels above it, which is
//     one statx of "../../..";
//   - anything else does if a directory that does has it under its name, which
//     is the statx that its attributes are needed from anyway.
//
// So once a rename out of the tree is complete, of the object or of a directory
// above it, no call returns a byte or an attribute of it, or changes it; also
// not through a descriptor that is open. A file with one more name outside is
// served as long as it has a name inside. What is guaranteed for a rename that
// takes place during the call is that the object was inside when the call began.
//
// The price is one statx for each call, about as much as any system call.
//
// Devices, FIFOs and sockets are never opened but with O_PATH.
//
// # Identity
//
// With CAP_SETUID, CAP_SETGID and the right to any file (Describe says
// IdentityClients) each change is made by a thread that has the caller's
// fsuid, fsgid and groups, and no capabilities: the kernel checks it, the new
// object is the caller's, set-id bits fall and quotas hold. Only user 0, where
// the export lets it through, keeps the capabilities. Without those all is done as
// the server's user. The process's umask does not matter and is not touched.
//
// READ, WRITE and LOOKUP do not open anything as the caller; the kernel is
// asked what he may (faccessat2(2), so that access control lists count), and
// the answer is remembered for the inode, the caller and the ctime. As NFSv3 has
// no open, a file's owner may always read and write it, and execution is
// reading (RFC 1813 §4.4).
//
// # Durability
//
// A WRITE with DataSync or FileSync, and COMMIT, have their own fdatasync or
// fsync or share one with others of that file that came in time (group
// commit). CREATE and all others that change names or attributes answer after
// an fsync of the directories and of the new or changed inode, shared in the
// same way by all such calls on the file system; Config.AsyncMetadata leaves
// that out. A sync that fails is vfs.ErrIO for all who shared it, and changes
// the write verifier before any of them is answered. Data are written and synced
// through one descriptor; it is not given up before its data are safe.
//
// # Attributes
//
// Nothing is remembered of attributes: local changes are seen by the next call.
// "Before" and "after" of a change are taken with a lock held, so that no other
// call of this FS lies between; a local change in that moment can't be told
// from the call's own. The change attribute is the ctime in nanoseconds, and
// more where the clock of ctimes has not ticked between two changes.
//
// The verifier of an exclusive CREATE is kept in memory until the first
// SETATTR, and all 8 bytes also in the file's times, as most servers do: after
// a restart a CREATE that comes again finds its file unless that has been
// written to.
//
// # Waiting
//
// Without Call.MayWait a call uses what is in memory: names by RESOLVE_CACHED,
// data by RWF_NOWAIT. Listings, and all changes, are ErrWouldBlock then.
package local
