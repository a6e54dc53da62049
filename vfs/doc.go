// Package vfs says what a backend is: the thing that stands behind an export
// and answers what a file system answers.
//
// A backend implements [FS], six methods about objects that it knows by opaque
// handles, and as many of the one-method interfaces in this package as it can
// honour: [Writer] to take data, [Creator] and friends to change the
// namespace, [Waiter] to say that it can tell beforehand when it would block.
// Which ones an FS implements is looked at once, by [CapabilitiesOf], when an export is
// added; a missing one is answered with the protocol's own NOTSUPP or ROFS.
//
// # Objects and handles
//
// An [Object] is whatever value the backend finds convenient, usually a
// pointer to its inode. A client holds handles: [FS.AppendHandle] names an object in at
// most [MaxHandle] bytes, and [FS.Resolve] finds it again, after a rename of
// it or of any directory above it, and (where the backend keeps its data)
// after a restart. An object that is gone is [ErrStale], and nothing else is:
// clients throw away unwritten data when they see it. Both must cost the same
// however many objects there are.
//
// # Calls
//
// Every method gets a [Call]: who asks, whether the method may wait, and a context that
// ends with the connection. A backend that would have to wait while
// Call.MayWait is false changes nothing and returns [ErrWouldBlock]; the
// same call comes again, with MayWait, on a goroutine of its own; or, after
// [ErrBrief], on the event loop's, which goes on elsewhere if that takes long.
// A backend
// that does not declare [Waiter] is only ever called with MayWait.
//
// # Memory
//
// The caller of [FS.Read] owns the buffer; the backend fills it and keeps
// nothing of it. The data given to [Writer.Write] is valid until Write
// returns. Names are strings and may be kept.
//
// # Attributes
//
// A method that returns attributes fills the caller's [Attr] and sets in
// Attr.Mask what it knows. A backend never sets a bit for a value it made up:
// the protocol layers have their own defaults and they are honest ones.
package vfs
