package xdr

import (
	"encoding/binary"
	"errors"
	"slices"
)

// The errors of decoding. They are returned as they are.
var (
	ErrShort = errors.New("xdr: input ends before the value does")
	ErrBound = errors.New("xdr: length exceeds the declared bound")
	ErrEnum  = errors.New("xdr: not a value of the enum")
	ErrUnion = errors.New("xdr: union has no arm for the discriminant")
)

// Unbounded is the bound of variable-length data declared without one.
const Unbounded = 1<<32 - 1

// Pad returns the number of zero bytes, 0 to 3, that follow n bytes of opaque
// data (RFC 4506 §4.9).
func Pad[T int | uint32](n T) int { return int(-n & 3) }

// SizeOpaque returns the encoded size of variable-length opaque data of n bytes:
// length word, data and padding.
func SizeOpaque(n int) int { return 4 + n + Pad(n) }

// AppendUint32 appends v.
func AppendUint32(b []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(b, v) }

// AppendUint64 appends v.
func AppendUint64(b []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(b, v) }

// AppendBool appends v as 0 or 1.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 0, 0, 0, 1)
	}
	return append(b, 0, 0, 0, 0)
}

// AppendOpaque appends p as variable-length opaque data or a string: length,
// bytes, padding (RFC 4506 §4.10, §4.11).
func AppendOpaque(b, p []byte) []byte {
	return AppendFixed(AppendUint32(b, uint32(len(p))), p)
}

// AppendFixed appends p as fixed-length opaque data: bytes and padding
// (RFC 4506 §4.9).
func AppendFixed(b, p []byte) []byte {
	b = append(b, p...)
	return append(b, "\x00\x00\x00"[:Pad(len(p))]...)
}

// Grow returns b with n more bytes at its end, and those bytes, which hold
// anything.
func Grow(b []byte, n int) (grown, added []byte) {
	had := len(b)
	b = slices.Grow(b, n)[:had+n]
	return b, b[had:]
}

// PutBool encodes v in the first four bytes of b.
func PutBool(b []byte, v bool) {
	var u uint32
	if v {
		u = 1
	}
	binary.BigEndian.PutUint32(b, u)
}

// ConsumeUint32 decodes an unsigned integer and returns the rest of b.
func ConsumeUint32(b []byte) (v uint32, rest []byte, err error) {
	if len(b) < 4 {
		return 0, nil, ErrShort
	}
	return binary.BigEndian.Uint32(b), b[4:], nil
}

// ConsumeUint64 decodes an unsigned hyper integer and returns the rest of b.
func ConsumeUint64(b []byte) (v uint64, rest []byte, err error) {
	if len(b) < 8 {
		return 0, nil, ErrShort
	}
	return binary.BigEndian.Uint64(b), b[8:], nil
}

// ConsumeBool decodes a boolean and returns the rest of b.
func ConsumeBool(b []byte) (v bool, rest []byte, err error) {
	if len(b) < 4 {
		return false, nil, ErrShort
	}
	if v, err = Bool(binary.BigEndian.Uint32(b)); err != nil {
		return false, nil, err
	}
	return v, b[4:], nil
}

// Bool returns the boolean that is encoded as u.
func Bool(u uint32) (bool, error) {
	if u > 1 {
		return false, ErrEnum
	}
	return u == 1, nil
}

// ConsumeOpaque decodes variable-length opaque data or a string of at most max
// bytes. p aliases b.
func ConsumeOpaque(b []byte, max uint32) (p, rest []byte, err error) {
	n, b, err := ConsumeLen(b, max)
	if err != nil {
		return nil, nil, err
	}
	return ConsumeFixed(b, n)
}

// ConsumeFixed decodes opaque data of exactly n bytes. p aliases b.
func ConsumeFixed(b []byte, n uint32) (p, rest []byte, err error) {
	padded := uint64(n) + uint64(Pad(n))
	if padded > uint64(len(b)) {
		return nil, nil, ErrShort
	}
	return b[:n:n], b[padded:], nil
}

// ConsumeLen decodes a length word of at most max. It says nothing about how
// much of what it counts has arrived.
func ConsumeLen(b []byte, max uint32) (n uint32, rest []byte, err error) {
	if len(b) < 4 {
		return 0, nil, ErrShort
	}
	if n = binary.BigEndian.Uint32(b); n > max {
		return 0, nil, ErrBound
	}
	return n, b[4:], nil
}

// ConsumeSlice decodes the length word of an array of at most max elements, none
// of which is encoded in fewer than size bytes, and returns a slice for so many,
// once b has been seen to be long enough for them: s itself, with whatever its
// elements hold, where its capacity suffices, or a new one. size is at least 1.
func ConsumeSlice[T any](b []byte, s []T, max uint32, size int) (elems []T, rest []byte, err error) {
	n, b, err := ConsumeLen(b, max)
	if err != nil {
		return s[:0], nil, err
	}
	if uint64(n)*uint64(size) > uint64(len(b)) {
		return s[:0], nil, ErrShort
	}
	if uint64(n) <= uint64(cap(s)) {
		return s[:n], b, nil
	}
	return make([]T, n), b, nil
}

// Extend returns s with one more element, which holds whatever was left there
// when s had been longer before.
func Extend[T any](s []T) []T {
	if len(s) < cap(s) {
		return s[:len(s)+1]
	}
	var zero T
	return append(s, zero)
}

// Optional is optional data that is not a link of a list (RFC 4506 §4.19).
type Optional[T any] struct {
	Set   bool
	Value T // if Set
}
