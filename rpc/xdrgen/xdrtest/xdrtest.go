// Package xdrtest checks what xdrgen has generated: golden bytes, round trips of
// random values, and behaviour on input that is cut short or made up.
//
// A package with generated code uses it from its tests:
//
//	xdrtest.Golden(t, &GETATTR3args{Object: fh}, "00000004 f0f1f2f3 ; handle")
//	xdrtest.RoundTrip(t, &GETATTR3args{}, xdrtest.Limits{"NFSFh3.Data": 64})
//	xdrtest.Decode(t, &GETATTR3args{}, fuzzed)
package xdrtest

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"eddy.example/rpc/xdr"
)

// A Value is a pointer to a value of a generated type.
type Value interface {
	AppendXDR(b []byte) []byte
	ConsumeXDR(b []byte) ([]byte, error)
	SizeXDR() int
}

// like returns a zero value of v's type.
func like(v Value) Value { return reflect.New(reflect.TypeOf(v).Elem()).Interface().(Value) }

// Wire returns the bytes written down in s: in hexadecimal, with white space
// anywhere and a comment behind each semicolon.
func Wire(t testing.TB, s string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(s) {
		line, _, _ = strings.Cut(line, ";")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatalf("wire text: %v", err)
	}
	return b
}

// Golden checks that v is encoded as wire, decoded from it, and not decoded from
// any part of it. wire is as for Wire.
func Golden(t *testing.T, v Value, wire string) {
	t.Helper()
	want := Wire(t, wire)
	if got := v.AppendXDR(nil); !bytes.Equal(got, want) {
		t.Errorf("AppendXDR:\n got %x\nwant %x", got, want)
	}
	if got := v.SizeXDR(); got != len(want) {
		t.Errorf("SizeXDR: got %d, want %d", got, len(want))
	}
	more := append(bytes.Clone(want), 0xee, 0xee)
	got := like(v)
	rest, err := got.ConsumeXDR(more)
	if err != nil {
		t.Fatalf("ConsumeXDR: %v", err)
	}
	if len(rest) != 2 || &rest[0] != &more[len(want)] {
		t.Errorf("ConsumeXDR leaves %d bytes, want the 2 appended", len(rest))
	}
	if diff := cmp.Diff(v, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("ConsumeXDR (-want +got):\n%s", diff)
	}
	Truncated(t, v, want)
}

// Truncated checks that no part of wire shorter than the whole decodes as a
// value like v.
func Truncated(t testing.TB, v Value, wire []byte) {
	t.Helper()
	for n := range wire {
		if _, err := like(v).ConsumeXDR(wire[:n:n]); !errors.Is(err, xdr.ErrShort) {
			t.Errorf("ConsumeXDR of %d of %d bytes: got %v, want ErrShort", n, len(wire), err)
		}
	}
}

// Bound checks that make, which builds a value with a variable-length member of
// n bytes or elements, decodes with n = bound and with bound+1 is refused.
func Bound(t *testing.T, bound int, build func(n int) Value) {
	t.Helper()
	for n, want := range map[int]error{0: nil, bound: nil, bound + 1: xdr.ErrBound} {
		v := build(n)
		if _, err := like(v).ConsumeXDR(v.AppendXDR(nil)); !errors.Is(err, want) {
			t.Errorf("%T with length %d: got %v, want %v", v, n, err, want)
		}
	}
}

// RoundTrip checks with random values of v's type that decoding undoes encoding,
// also into a value that held another one, and that nothing less than the whole
// decodes.
func RoundTrip(t *testing.T, v Value, limits Limits) {
	t.Helper()
	d := drawer{limits, map[reflect.Type][]int64{}}
	rapid.Check(t, func(t *rapid.T) {
		want, used, fresh := like(v), like(v), like(v)
		d.draw(t, reflect.ValueOf(want).Elem(), "")
		d.draw(t, reflect.ValueOf(used).Elem(), "")
		wire := want.AppendXDR(nil)
		if want.SizeXDR() != len(wire) {
			t.Fatalf("SizeXDR is %d, encoded are %d bytes", want.SizeXDR(), len(wire))
		}
		for _, got := range []Value{fresh, used} {
			rest, err := got.ConsumeXDR(wire)
			if err != nil || len(rest) != 0 {
				t.Fatalf("ConsumeXDR: %v, %d bytes left", err, len(rest))
			}
			if again := got.AppendXDR(nil); !bytes.Equal(again, wire) {
				t.Fatalf("encoded again:\n got %x\nwant %x", again, wire)
			}
		}
		n := rapid.IntRange(0, max(0, len(wire)-1)).Draw(t, "cut")
		if _, err := used.ConsumeXDR(wire[:n:n]); len(wire) > 0 && !errors.Is(err, xdr.ErrShort) {
			t.Fatalf("ConsumeXDR of %d of %d bytes: %v", n, len(wire), err)
		}
	})
}

// Decode checks what must hold for any input: no panic, and what decodes is what
// it would be encoded as, but for padding.
func Decode(t *testing.T, v Value, data []byte) {
	t.Helper()
	v = like(v)
	rest, err := v.ConsumeXDR(data)
	if err != nil {
		for _, known := range []error{xdr.ErrShort, xdr.ErrBound, xdr.ErrEnum, xdr.ErrUnion} {
			if errors.Is(err, known) {
				return
			}
		}
		t.Fatalf("%T: unknown error %v", v, err)
	}
	wire := v.AppendXDR(nil)
	if used := len(data) - len(rest); used != len(wire) || used != v.SizeXDR() {
		t.Fatalf("%T: used %d bytes, SizeXDR is %d, encoded again are %d", v, used, v.SizeXDR(), len(wire))
	}
	again := like(v)
	if _, err := again.ConsumeXDR(wire); err != nil {
		t.Fatalf("%T: decoding again: %v", v, err)
	}
	if !bytes.Equal(again.AppendXDR(nil), wire) {
		t.Fatalf("%T: another value after decoding again", v)
	}
}
