package rpc

import "encoding/binary"

// Version is the version of the message protocol, RFC 5531 §9.
const Version = 2

// Values of msg_type and reply_stat, RFC 5531 §9.
const (
	msgCall     = 0
	msgReply    = 1
	msgAccepted = 0
	msgDenied   = 1
)

// Header is the fixed part of a call, RFC 5531 §9.
type Header struct {
	XID     uint32
	RPCVers uint32
	Prog    uint32
	Vers    uint32
	Proc    uint32
}

// callMessage is a call as it lies in its record: everything but the Header
// aliases it.
type callMessage struct {
	Header
	cred, verf OpaqueAuth
	args       []byte
}

// verdict is what a message was found to be.
type verdict uint8

const (
	isCall     verdict = iota
	isNoise            // neither call nor reply: there is nothing to answer
	isReply            // a reply, which no server asked for
	isMismatch         // a call in another version of the protocol
	isGarbage          // a call that ends within its header
	isBadCred          // a call whose credential is too long or cut off
	isBadVerf          // a call whose verifier is too long or cut off
)

// parse reads the header of a call in place. From isMismatch on the XID is
// valid, so that the call can be answered.
func (m *callMessage) parse(b []byte) verdict {
	if len(b) < 8 {
		return isNoise
	}
	m.XID = binary.BigEndian.Uint32(b)
	switch binary.BigEndian.Uint32(b[4:]) {
	case msgCall:
	case msgReply:
		return isReply
	default:
		return isNoise
	}
	if len(b) < 12 {
		return isGarbage
	}
	if m.RPCVers = binary.BigEndian.Uint32(b[8:]); m.RPCVers != Version {
		return isMismatch
	}
	if len(b) < 24 {
		return isGarbage
	}
	m.Prog = binary.BigEndian.Uint32(b[12:])
	m.Vers = binary.BigEndian.Uint32(b[16:])
	m.Proc = binary.BigEndian.Uint32(b[20:])
	var err error
	if b, err = m.cred.ConsumeXDR(b[24:]); err != nil {
		return isBadCred
	}
	if m.args, err = m.verf.ConsumeXDR(b); err != nil {
		return isBadVerf
	}
	return isCall
}
