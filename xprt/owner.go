package xprt

import (
	"sync/atomic"

	"eddy.example/internal/sockowner"
)

// owner remembers which user owns the peer's socket: whether that was asked,
// whether it is known, and the user.
type owner struct{ word atomic.Uint64 }

const (
	ownerAsked = 1 << 32
	ownerKnown = 1 << 33
)

// Owner is the user that owns the socket at the other end, as the kernel says;
// it is known for Unix sockets, and on Linux for loopback addresses. A stream's is asked for
// once. The network namespace is that of the process.
func (c *Conn) Owner() (uid uint32, ok bool) {
	if c.hasPeer {
		return c.peer.UID, true
	}
	if !c.remote.Addr().Unmap().IsLoopback() || !c.local.IsValid() {
		return 0, false
	}
	if c.packet != nil {
		uid, err := sockowner.Of("udp", c.remote, c.local)
		return uid, err == nil
	}
	w := c.owner.word.Load()
	if w == 0 {
		w = ownerAsked
		if uid, err := sockowner.Of("tcp", c.remote, c.local); err == nil {
			w |= ownerKnown | uint64(uid)
		}
		c.owner.word.Store(w)
	}
	return uint32(w), w&ownerKnown != 0
}
