// Package sockowner asks the kernel which user owns the other end of a
// loopback connection.
//
// A source port below 1024 is how NFS traditionally tells that a client's
// kernel speaks and not just any program. On loopback the kernel knows better:
// it can name the user whose socket it is, so a client on a high port can
// be let in if it belongs to root or to the server's own user.
package sockowner

import "errors"

// ErrUnknown means that the kernel knows no such socket, or could not be
// asked: the peer is on another machine, in another namespace, or gone.
var ErrUnknown = errors.New("sockowner: owner unknown")
