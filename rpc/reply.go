package rpc

import "eddy.example/rpc/xdr"

// replyHead is the length of an accepted reply up to its results: XID, REPLY,
// MSG_ACCEPTED, a verifier of AUTH_NONE, accept_stat.
const replyHead = 24

// appendAccepted appends an accepted reply up to its results. For all but
// SUCCESS and PROG_MISMATCH that is the whole reply.
func appendAccepted(b []byte, xid uint32, stat AcceptStat) []byte {
	b = xdr.AppendUint32(b, xid)
	b = append(b,
		0, 0, 0, msgReply,
		0, 0, 0, msgAccepted,
		0, 0, 0, AUTH_NONE, 0, 0, 0, 0)
	return stat.AppendXDR(b)
}

func appendProgMismatch(b []byte, xid, low, high uint32) []byte {
	b = appendAccepted(b, xid, PROG_MISMATCH)
	b = xdr.AppendUint32(b, low)
	return xdr.AppendUint32(b, high)
}

func appendDenied(b []byte, xid uint32, stat RejectStat) []byte {
	b = xdr.AppendUint32(b, xid)
	b = append(b,
		0, 0, 0, msgReply,
		0, 0, 0, msgDenied)
	return stat.AppendXDR(b)
}

func appendRPCMismatch(b []byte, xid uint32) []byte {
	b = appendDenied(b, xid, RPC_MISMATCH)
	return append(b,
		0, 0, 0, Version,
		0, 0, 0, Version)
}

func appendAuthError(b []byte, xid uint32, stat AuthStat) []byte {
	return stat.AppendXDR(appendDenied(b, xid, AUTH_ERROR))
}

// Status is how a call ended, for an [Observer].
type Status uint8

// The ways a call ends: with the accept_stat of its reply, denied, or
// otherwise.
const (
	StatusSuccess Status = iota
	StatusProgUnavail
	StatusProgMismatch
	StatusProcUnavail
	StatusGarbageArgs
	StatusSystemErr
	StatusRPCMismatch
	StatusAuthError
	StatusReplayed // with a reply from the cache, or with that of a duplicate
	StatusDropped  // without a reply
)
