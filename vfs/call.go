package vfs

import "context"

// Call is what a backend gets to know of the request it works for. It is
// valid until the method returns.
type Call struct {
	// Context ends when the connection does, for calls that change nothing;
	// for all others only when the server closes. It is never nil.
	Context context.Context

	// Cred is who asks, after squashing.
	Cred Cred

	// MayWait is true if the method may block.
	MayWait bool

	// KernelSends is true if a segment that answers this call is read by the
	// kernel only, and memory that may vanish meanwhile does no harm: the
	// connection ends instead.
	KernelSends bool

	// Attr, if not nil, has Mask 0, and Lookup, Read, ReadSegment, Readlink and
	// Access may leave the attributes there that the object had which they were
	// called for (Lookup: the directory), if they have come across them anyway.
	// They were true at some time during the call, whatever the error. A backend
	// around another one that shows other attributes passes a Call on without it.
	Attr *Attr
}

// Cred is an identity: numeric user, group and further groups. Groups is owned
// by the caller and valid as long as the Call.
type Cred struct {
	UID, GID uint32
	Groups   []uint32
}

// InGroup reports whether gid is one of the identity's groups.
func (c *Cred) InGroup(gid uint32) bool {
	if c.GID == gid {
		return true
	}
	for _, g := range c.Groups {
		if g == gid {
			return true
		}
	}
	return false
}
