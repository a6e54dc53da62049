package rpc

import (
	"errors"
	"fmt"
)

// ErrWouldBlock is what Serve returns, with nothing changed, when it would have
// to wait while Call.MayWait is false, or when [Call.Pages] returned it.
var ErrWouldBlock = errors.New("rpc: would block")

// ErrBrief is an ErrWouldBlock of a call that will as a rule be done at once
// when it may block, although that is not certain: it runs on the event loop,
// which goes on elsewhere if it does block.
var ErrBrief = fmt.Errorf("%w, if only for a moment", ErrWouldBlock)

// ErrDrop is what Serve returns for a call that is not to be answered.
var ErrDrop = errors.New("rpc: call dropped")

// Failures of RFC 5531 §9. A client gets them, possibly wrapped, from its
// calls; on a server Serve may return them.
var (
	ErrProgUnavail = errors.New("rpc: program unavailable")
	ErrProcUnavail = errors.New("rpc: procedure unavailable")
	ErrGarbageArgs = errors.New("rpc: arguments cannot be decoded")
	ErrSystem      = errors.New("rpc: system error")
)

// ErrProgMismatch and ErrRPCMismatch are what a [MismatchError] wraps.
var (
	ErrProgMismatch = errors.New("rpc: program version not supported")
	ErrRPCMismatch  = errors.New("rpc: version of the message protocol not supported")
)

// MismatchError is a PROG_MISMATCH or RPC_MISMATCH with the versions that the
// server supports.
type MismatchError struct {
	Err       error // ErrProgMismatch or ErrRPCMismatch
	Low, High uint32
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%v: the server has %d to %d", e.Err, e.Low, e.High)
}

func (e *MismatchError) Unwrap() error { return e.Err }

// AuthError is an AUTH_ERROR: the server turned the caller away. errors.Is
// takes two with the same Stat for the same.
type AuthError struct{ Stat AuthStat }

// ErrTooWeak is what Serve returns when the flavour is not enough for what is
// asked.
var ErrTooWeak error = &AuthError{AUTH_TOOWEAK}

func (e *AuthError) Error() string { return "rpc: caller rejected: " + e.Stat.String() }

// Is reports whether target is an AuthError with the same Stat.
func (e *AuthError) Is(target error) bool {
	t, ok := target.(*AuthError)
	return ok && t.Stat == e.Stat
}
