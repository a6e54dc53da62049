// Package memfs is a file system in memory: a complete one, with everything
// that NFSv3 has a procedure for.
//
//	fs := memfs.New(memfs.Config{Bytes: 256 << 20, RootMode: 0o1777})
//	err := fs.WriteFile("/hello.txt", []byte("hello\n"), 0o644)
//
// Then fs is an export's FS. Programs that look for a backend to start their
// own from find it here: which method answers what, and how little a handle
// needs.
//
// # Durability
//
// The file system lives as long as its FS, and so does everything written to
// it: there is no later moment at which data could be safer than when Write
// returned. So each WRITE is answered with the stability it asked for.
// FILE_SYNC here means "as durable as the process", which is what somebody
// who serves memory wants to hear. UNSTABLE stays UNSTABLE, so that clients
// keep their copies until COMMIT answers with the same verifier. A new FS has
// another verifier and other handles: after a restart clients see stale
// handles, not other people's files.
//
// # Limits
//
// Config.Bytes bounds what the file system holds: data in pages of 4 KiB,
// holes for nothing, and an estimate for each object, name and link target.
// Beyond it everything that would grow answers vfs.ErrNoSpace. Memory of what
// is removed or cut off goes back to the Go heap at once.
//
// # Times
//
// A change sets ctime, and mtime if it is one of data or entries, to the
// clock's time, but always later than before by at least a nanosecond:
// NFSv3 clients know by these times alone that something has changed. Reading
// does not set atime.
//
// # Locks
//
// An inode has a lock of its own, held only while memory is copied or a field
// changed, so no call waits for long and all of them may run on an event loop
// (vfs.Waiter). What changes names takes turns under one further lock. Only
// its holder may hold the locks of several inodes, in whatever order;
// everybody else holds one at most, and never takes the further lock under
// it. So nobody waits in a circle.
package memfs
