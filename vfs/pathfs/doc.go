// Package pathfs serves stores that know their objects by paths and can be
// written to: a [Store] of some ten methods becomes a vfs.FS.
//
//	fs := pathfs.New(store, pathfs.Config{})
//	server := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: fs}}}
//
// The example shows an adapter for go-billy.
//
// # Objects and handles
//
// NFS clients hold on to objects while others rename them and the directories
// above them, so a path is no handle. An object's id is a hash of its parent's
// id, its name, and how many objects of that name were there before; it is
// computed when the object is first seen and kept in a row through all renames.
// A row has parent and name, so that renaming a directory touches one row.
//
// Rows are bounded by Config.MaxRows. A row that was not used for long goes,
// unless there are rows below it; those of objects that were renamed, and of
// those whose name another object had before, go last.
// The handle still finds its object, by a search of the directory it was in, or,
// if that has no row either, of the tree. One search runs at a time, and others
// are answered vfs.ErrDelay meanwhile; so is, for good, who asks for what a search
// of Config.MaxSearch entries does not find. vfs.ErrStale is the answer when the
// object was removed through the FS, when the store has nothing at its path any
// more, or when a search of all there is has found nothing.
//
// Two things go wrong once rows of the kind that goes last take all of MaxRows:
// the handle of an object that was renamed, or is below a directory that was,
// may become stale; and what is known of earlier objects of a name may be
// forgotten, so that the handle of one that was removed names the present one.
// Handles end with the process: after a restart all are stale.
//
// # The store
//
// Others may change the store too: attributes are asked for each time. What they
// rename is another object to clients. A path at which they put another object
// of the same type is, for clients, the old one with other contents. The time
// that a store has no word for, ctime, is kept with the row: it grows
// with each change that is made or seen, and clients rely on it.
//
// Calls run concurrently, also for one path, except that a write, truncation or
// removal of an object runs alone, that names of one directory change one at a
// time, and that a rename has the store for itself.
//
// A write is answered as stable when WriteAt has returned and, if the store is a
// [Syncer], Sync. A store that is none has to be durable by itself.
//
// There are no owners: whom the export lets in may do everything. Mode and times
// are set if the store is a [Chmoder] and a [Chtimer]; what it can't do is
// ignored for a new file and vfs.ErrNotSupported for one that is there. There are
// no hard links and no devices.
package pathfs
