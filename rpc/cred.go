package rpc

import "eddy.example/rpc/xdr"

// Nobody is the user and group of a caller without an identity.
const Nobody = 65534

// The bounds of authsys_parms, RFC 5531 Appendix A.
const (
	maxMachine = 255
	maxGIDs    = 16
)

// Cred is who calls, or claims to: RFC 5531 Appendix A. The zero value is
// AUTH_NONE.
//
// On a server it is decoded in place and valid as long as the [Call]: Machine
// aliases the record. UID and GID of a caller with AUTH_NONE are [Nobody]
// there, so that no identity is never taken for root's.
type Cred struct {
	Flavor   uint32 // AUTH_NONE or AUTH_SYS
	UID, GID uint32
	GIDs     []uint32 // at most 16
	Machine  []byte   // at most 255 bytes
	Stamp    uint32
}

// check decodes the credential of a call and looks at its verifier. gids
// receives the groups. It returns AUTH_OK or why the caller is turned away.
//
// AUTH_SHORT is rejected as expired, which sends the client back to AUTH_SYS
// (Appendix A). A flavour nobody here knows is AUTH_REJECTEDCRED, as RFC 2203
// §5.2 reports for common practice; for AUTH_TLS RFC 9289 §4.1 wants
// AUTH_BADCRED. What lies in the body of an AUTH_NONE is undefined (§10.1) and
// not looked at, and bytes behind the structure in an AUTH_SYS are ignored.
func (c *Cred) check(m *callMessage, gids *[maxGIDs]uint32) AuthStat {
	switch m.cred.Flavor {
	case AUTH_NONE:
		*c = Cred{UID: Nobody, GID: Nobody}
	case AUTH_SYS:
		p := AuthsysParms{GIDs: gids[:0]}
		if _, err := p.ConsumeXDR(m.cred.Body); err != nil {
			return AUTH_BADCRED
		}
		*c = Cred{Flavor: AUTH_SYS, UID: p.UID, GID: p.GID, GIDs: p.GIDs, Machine: p.Machinename, Stamp: p.Stamp}
	case AUTH_TLS:
		return AUTH_BADCRED
	default:
		return AUTH_REJECTEDCRED
	}
	if m.verf.Flavor != AUTH_NONE {
		return AUTH_BADVERF
	}
	return AUTH_OK
}

// appendAuth appends credential and verifier of a call; nil is AUTH_NONE. What
// exceeds the bounds is cut off, as other clients do with the 17th group.
func (c *Cred) appendAuth(b []byte) []byte {
	if c == nil || c.Flavor == AUTH_NONE {
		return append(b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	p := AuthsysParms{
		Stamp:       c.Stamp,
		Machinename: c.Machine[:min(len(c.Machine), maxMachine)],
		UID:         c.UID,
		GID:         c.GID,
		GIDs:        c.GIDs[:min(len(c.GIDs), maxGIDs)],
	}
	b = xdr.AppendUint32(b, AUTH_SYS)
	b = xdr.AppendUint32(b, uint32(p.SizeXDR()))
	b = p.AppendXDR(b)
	return append(b, 0, 0, 0, 0, 0, 0, 0, 0)
}
