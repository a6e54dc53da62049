package vfs

// Invalidator is implemented by an FS that remembers something of its objects
// (sizes, open files, listings) which others may change behind its back.
type Invalidator interface {
	// Invalidate forgets what is remembered of o. It does not block.
	Invalidate(o Object)
}
