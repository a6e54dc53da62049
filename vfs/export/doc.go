// Package export is the table of what a server offers: which file system
// stands behind which path, who may use it and as whom, and how its objects
// are named to clients.
//
//	key := export.NewKey() // or 16 bytes that were kept, so that handles survive a restart
//	table, err := export.NewTable(key,
//		export.Export{Path: "/", FS: memfs.New(memfs.Config{})},
//		export.Export{Path: "/site", FS: iofs.New(site), ReadOnly: true,
//			Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}},
//	)
//
// A client starts with a path, by MOUNT ([Table.Mount]), and goes on with
// handles. Each call brings a handle; [Table.Resolve] checks that this server
// made it, that the caller may use the export, turns the identity it claims
// into the one it gets, and asks the backend for the object:
//
//	entry, obj, err := table.Resolve(call, handle, &caller)
//
// # Handles
//
// A handle is 24 to 64 bytes long, a multiple of 4, so that it fits every
// version of NFS (RFC 1813 §2.3.3):
//
//	byte 0      version, 1
//	byte 1      length n of the backend's part, 0 to 40
//	bytes 2-3   zero
//	bytes 4-7   export id, big endian
//	8 to 8+n    the backend's part, then zeros up to a multiple of 4
//	last 16     SipHash-2-4-128 of everything before, under the table's key
//
// A handle with anything changed is vfs.ErrBadHandle; a good one of an export
// that is no longer there is vfs.ErrStale. Neither the time of the start nor
// the order of exports is in it: with the same key, path (or FSID) and
// backend a handle outlives the process.
//
// # Safe defaults
//
// An [Export] with nothing but Path and FS answers only clients on the
// loopback addresses that use a port below 1024, and treats root as nobody.
//
// # Concurrency
//
// Everything may be called concurrently. Readers see one immutable snapshot
// and take no lock; [Table.Add], [Table.Remove] and [Table.Reload] put a new
// snapshot in its place. A call that has its [Entry] keeps it.
package export
