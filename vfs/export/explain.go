package export

import (
	"fmt"

	"eddy.example/vfs"
)

// A Verdict is what an export does with a caller, and which rule says so.
type Verdict struct {
	Admitted bool

	// Rule is the rule that decided about admission, in words: of the address
	// if that is refused, else of the port.
	Rule string

	// Cred is the identity that an admitted caller gets.
	Cred vfs.Cred

	// Identity says how Cred came from what the caller claims.
	Identity string
}

// Explain decides about who as Resolve and Mount do.
func (e *Entry) Explain(who *Caller) Verdict {
	var v Verdict
	v.Admitted, v.Rule = e.rule(who)
	if !v.Admitted {
		return v
	}
	e.squash(&v.Cred, who)
	switch {
	case who.Anonymous:
		v.Identity = "callers without an identity are anonymous"
	case e.Squash == SquashAll:
		v.Identity = "squash all: everybody is anonymous"
	case e.Squash == SquashRoot && v.Cred.UID != who.Cred.UID:
		v.Identity = "squash root: user 0 is anonymous"
	case e.Squash == SquashRoot && v.Cred.GID != who.Cred.GID:
		v.Identity = "squash root: group 0 is anonymous"
	case v.Cred.UID != who.Cred.UID || v.Cred.GID != who.Cred.GID:
		v.Identity = "there is no user or group 4294967295"
	case e.Squash == SquashNone:
		v.Identity = "squash none: as it says"
	default:
		v.Identity = "squash root: as it says, not being root"
	}
	return v
}

// rule names the rule by which admit decides.
func (e *Entry) rule(who *Caller) (ok bool, rule string) {
	a := who.Addr.Addr().Unmap().WithZone("")
	switch {
	case who.Local:
		return true, "it has no address: whoever can reach the socket may use every export"
	case !e.AdmitsAddr(a) && len(e.Networks) == 0:
		return false, fmt.Sprintf("%v is not this machine, and no network is set", a)
	case !e.AdmitsAddr(a):
		return false, fmt.Sprintf("%v is in no network of the export", a)
	case e.InsecurePorts:
		return true, "any port will do (insecure-ports)"
	case who.Addr.Port() < 1024:
		return true, fmt.Sprintf("port %d is below 1024", who.Addr.Port())
	case !a.IsLoopback():
		return false, fmt.Sprintf("port %d is above 1023, and insecure-ports is not set", who.Addr.Port())
	case e.admitsPort(who):
		return true, "its socket belongs to root or to the server's own user"
	}
	return false, fmt.Sprintf("port %d is above 1023, insecure-ports is not set, and its socket belongs neither to root nor to the server's own user", who.Addr.Port())
}
