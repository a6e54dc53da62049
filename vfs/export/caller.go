package export

import (
	"math"
	"net/netip"
	"os"

	"eddy.example/vfs"
)

// Caller is who sent a call, as far as the transport and the credential tell.
// The zero Caller is admitted nowhere.
type Caller struct {
	// Addr is the peer's address and port.
	Addr netip.AddrPort

	// Local is a peer without an address: a Unix socket, a pipe inside the
	// process. Who can reach those is decided elsewhere: every export
	// admits them.
	Local bool

	// Owner, if not nil, tells which user of this host owns the socket that a
	// caller on a loopback address speaks through. It is asked only if that
	// decides whether the caller is admitted, and then about every call.
	Owner interface {
		Owner() (uid uint32, ok bool)
	}

	// Anonymous is a caller who claims no identity: AUTH_NONE.
	Anonymous bool

	// Cred is the identity claimed. It is only read.
	Cred vfs.Cred
}

// invalidID is (uid_t)-1, which system calls take for "leave it as it is".
const invalidID = math.MaxUint32

// admit decides whether who may use the export and writes the identity it
// gets to c.Cred, whose Groups are overwritten in place and grow only when
// they are too short. The error is vfs.ErrAccess.
func (e *Entry) admit(c *vfs.Call, who *Caller) error {
	if !who.Local && !(e.AdmitsAddr(who.Addr.Addr()) && e.admitsPort(who)) {
		return vfs.ErrAccess
	}
	e.squash(&c.Cred, who)
	return nil
}

// AdmitsAddr reports whether clients at a may use the export, if all else about
// them is right.
func (e *Entry) AdmitsAddr(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if len(e.Networks) == 0 {
		return a.IsLoopback()
	}
	for _, n := range e.Networks {
		if n.Contains(a) {
			return true
		}
	}
	return false
}

// admitsPort asks for a port below 1024, which only a host's root can use.
// About its own sockets the kernel knows better: root's and those of the user
// who runs the server will do on any port.
func (e *Entry) admitsPort(who *Caller) bool {
	if e.InsecurePorts || who.Addr.Port() < 1024 {
		return true
	}
	if who.Owner == nil || !who.Addr.Addr().Unmap().IsLoopback() {
		return false
	}
	uid, ok := who.Owner.Owner()
	return ok && (uid == 0 || uid == uint32(os.Geteuid()))
}

// squash writes to dst who the caller is on this export.
func (e *Entry) squash(dst *vfs.Cred, who *Caller) {
	dst.Groups = dst.Groups[:0]
	if who.Anonymous || e.Squash == SquashAll {
		dst.UID, dst.GID = e.AnonUID, e.AnonGID
		return
	}
	dst.UID = e.squashID(who.Cred.UID, e.AnonUID)
	dst.GID = e.squashID(who.Cred.GID, e.AnonGID)
	for _, g := range who.Cred.Groups {
		dst.Groups = append(dst.Groups, e.squashID(g, e.AnonGID))
	}
}

func (e *Entry) squashID(id, anon uint32) uint32 {
	if id == invalidID || id == 0 && e.Squash == SquashRoot {
		return anon
	}
	return id
}
