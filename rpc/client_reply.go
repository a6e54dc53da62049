package rpc

import (
	"encoding/binary"
	"fmt"
)

// maxReplyHead is the longest reply up to its results: one with a full
// verifier.
const maxReplyHead = replyHead + 400

// parseReply reads a reply, or its beginning if that has maxReplyHead bytes, up
// to its results. err is the failure that it tells, or ErrBadReply.
func parseReply(b []byte) (results []byte, err error) {
	if len(b) < 12 {
		return nil, ErrBadReply
	}
	stat := binary.BigEndian.Uint32(b[8:])
	b = b[12:]
	switch stat {
	case msgAccepted:
		return parseAccepted(b)
	case msgDenied:
		return nil, parseDenied(b)
	}
	return nil, ErrBadReply
}

func parseAccepted(b []byte) (results []byte, err error) {
	var verf OpaqueAuth
	if b, err = verf.ConsumeXDR(b); err != nil || len(b) < 4 {
		return nil, ErrBadReply
	}
	stat := AcceptStat(binary.BigEndian.Uint32(b))
	b = b[4:]
	switch stat {
	case SUCCESS:
		return b, nil
	case PROG_UNAVAIL:
		return nil, ErrProgUnavail
	case PROG_MISMATCH:
		return nil, parseMismatch(b, ErrProgMismatch)
	case PROC_UNAVAIL:
		return nil, ErrProcUnavail
	case GARBAGE_ARGS:
		return nil, ErrGarbageArgs
	case SYSTEM_ERR:
		return nil, ErrSystem
	}
	return nil, fmt.Errorf("%w: %v", ErrBadReply, stat)
}

func parseDenied(b []byte) error {
	if len(b) < 4 {
		return ErrBadReply
	}
	stat := RejectStat(binary.BigEndian.Uint32(b))
	b = b[4:]
	switch {
	case stat == RPC_MISMATCH:
		return parseMismatch(b, ErrRPCMismatch)
	case stat == AUTH_ERROR && len(b) >= 4:
		return &AuthError{AuthStat(binary.BigEndian.Uint32(b))}
	}
	return ErrBadReply
}

func parseMismatch(b []byte, err error) error {
	if len(b) < 8 {
		return ErrBadReply
	}
	return &MismatchError{Err: err, Low: binary.BigEndian.Uint32(b), High: binary.BigEndian.Uint32(b[4:])}
}

// replyXID returns the XID of a reply; ok is false if b isn't one.
func replyXID(b []byte) (xid uint32, ok bool) {
	if len(b) < 8 || binary.BigEndian.Uint32(b[4:]) != msgReply {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

// badResults is the error of results that a consumer refused.
func badResults(err error) error { return fmt.Errorf("%w: %w", ErrBadReply, err) }
