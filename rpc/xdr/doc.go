// Package xdr is what the code made by rpc/xdrgen runs on: the External Data
// Representation of RFC 4506, appended to and consumed from byte slices.
//
// A generated type T has three methods:
//
//	func (v *T) AppendXDR(b []byte) []byte              // b with v's encoding appended
//	func (v *T) ConsumeXDR(b []byte) ([]byte, error)    // decodes v, returns the rest of b
//	func (v *T) SizeXDR() int                           // len(v.AppendXDR(nil))
//
// The functions here follow the same pattern for the primitive types, so a
// hand-written codec mixes freely with generated ones:
//
//	b = xdr.AppendUint32(b, uint32(nfs3.NFS3_OK))
//	b = attr.AppendXDR(b)
//
//	xid, b, err := xdr.ConsumeUint32(b)
//
// # Memory
//
// Variable-length opaque data and strings are decoded by reference: the
// resulting slices alias the input (their capacity ends where they end) and are
// valid for as long as it is. Fixed-length opaque data is copied into arrays.
// Arrays are decoded into the slice the value already has where its capacity
// suffices, so a value that is decoded into again and again stops allocating.
// A new slice is made only after the input has been seen to be long enough for
// the smallest encoding of that many elements.
//
// # Strictness
//
// Every bound of the .x file holds on decoding ([ErrBound]). Booleans other
// than 0 and 1 and values an enum does not name are refused ([ErrEnum]), as is
// a discriminant for which a union has no arm ([ErrUnion]); a discriminant that
// falls into a default arm is accepted whatever its value, so that a status
// code unknown here is still a status code. Padding is written as zeros
// (RFC 4506 §3) and not looked at on decoding: it carries nothing, and other
// implementations do not check it either. Encoding trusts its caller and checks
// no bounds.
//
// A failed ConsumeXDR leaves its receiver in no particular state. Errors are
// the package's variables themselves: failing allocates nothing.
package xdr
