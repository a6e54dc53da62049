package xdr

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func TestPad(t *testing.T) {
	for n, want := range []int{0, 3, 2, 1, 0, 3} {
		if got := Pad(n); got != want {
			t.Errorf("Pad(%d) = %d, want %d", n, got, want)
		}
		if got := Pad(uint32(n)); got != want {
			t.Errorf("Pad(uint32(%d)) = %d, want %d", n, got, want)
		}
		if got := SizeOpaque(n); got != len(AppendOpaque(nil, make([]byte, n))) {
			t.Errorf("SizeOpaque(%d) = %d", n, got)
		}
	}
	if got := Pad(uint32(1<<32 - 1)); got != 1 {
		t.Errorf("Pad(1<<32-1) = %d", got)
	}
}

func TestAppend(t *testing.T) {
	for _, tc := range []struct {
		name string
		got  []byte
		want string
	}{
		{"uint32", AppendUint32(nil, 0x01020304), "01020304"},
		{"uint64", AppendUint64(nil, 0x0102030405060708), "0102030405060708"},
		{"false", AppendBool(nil, false), "00000000"},
		{"true", AppendBool(nil, true), "00000001"},
		{"opaque", AppendOpaque(nil, []byte{0xaa, 0xbb, 0xcc, 0xdd, 0xee}), "00000005aabbccddee000000"},
		{"no opaque", AppendOpaque(nil, nil), "00000000"},
		{"fixed", AppendFixed(nil, []byte{0xaa, 0xbb, 0xcc}), "aabbcc00"},
		{"fixed without padding", AppendFixed(nil, []byte{0xaa, 0xbb, 0xcc, 0xdd}), "aabbccdd"},
	} {
		if got := fmt.Sprintf("%x", tc.got); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}

// Padding is zero wherever it lies: memory used before must not show.
func TestPaddingIsZero(t *testing.T) {
	used := bytes.Repeat([]byte{0xff}, 16)
	if got, want := AppendOpaque(used[:0], []byte{1}), []byte{0, 0, 0, 1, 1, 0, 0, 0}; !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestGrow(t *testing.T) {
	b := make([]byte, 2, 8)
	grown, added := Grow(b, 6)
	if len(grown) != 8 || len(added) != 6 || &grown[0] != &b[0] || &added[0] != &grown[2] {
		t.Errorf("within the capacity: %d and %d bytes", len(grown), len(added))
	}
	grown, added = Grow(grown, 1)
	if len(grown) != 9 || len(added) != 1 || &added[0] != &grown[8] {
		t.Errorf("beyond the capacity: %d and %d bytes", len(grown), len(added))
	}
}

func TestConsumeErrors(t *testing.T) {
	opaque := func(b []byte, max uint32) error { _, _, err := ConsumeOpaque(b, max); return err }
	slice := func(b []byte, max uint32, size int) error {
		_, _, err := ConsumeSlice[uint64](b, nil, max, size)
		return err
	}
	for _, tc := range []struct {
		name string
		err  error
		want error
	}{
		{"bool 2", func() error { _, _, err := ConsumeBool([]byte{0, 0, 0, 2}); return err }(), ErrEnum},
		{"bool of another byte", func() error { _, _, err := ConsumeBool([]byte{1, 0, 0, 1}); return err }(), ErrEnum},
		{"opaque at its bound", opaque([]byte{0, 0, 0, 1, 9, 0, 0, 0}, 1), nil},
		{"opaque over its bound", opaque([]byte{0, 0, 0, 2, 9, 9, 0, 0}, 1), ErrBound},
		{"bound is looked at first", opaque([]byte{0, 0, 0, 2}, 1), ErrBound},
		{"opaque without its padding", opaque([]byte{0, 0, 0, 1, 9}, Unbounded), ErrShort},
		{"largest opaque", opaque([]byte{0xff, 0xff, 0xff, 0xff, 0}, Unbounded), ErrShort},
		{"slice at its bound", slice(make([]byte, 4), 0, 8), nil},
		{"slice over its bound", slice([]byte{0, 0, 0, 1}, 0, 8), ErrBound},
		{"slice longer than the input", slice([]byte{0, 0, 0, 1, 0, 0, 0}, Unbounded, 4), ErrShort},
		{"product of count and size over 32 bits", slice([]byte{0x40, 0, 0, 0}, Unbounded, 4), ErrShort},
	} {
		if !errors.Is(tc.err, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, tc.err, tc.want)
		}
	}
}

func TestShort(t *testing.T) {
	word := []byte{0, 0, 0, 1, 0, 0, 0, 0}
	for n := range 8 {
		errs := map[string]error{}
		b := word[:n]
		_, _, errs["uint64"] = ConsumeUint64(b)
		_, _, errs["opaque"] = ConsumeOpaque(b, 4)
		_, _, errs["slice"] = ConsumeSlice[uint32](b, nil, 4, 4)
		if n < 4 {
			_, _, errs["uint32"] = ConsumeUint32(b)
			_, _, errs["bool"] = ConsumeBool(b)
			_, _, errs["length"] = ConsumeLen(b, 4)
			_, _, errs["fixed"] = ConsumeFixed(b, 4)
		}
		for what, err := range errs {
			if !errors.Is(err, ErrShort) {
				t.Errorf("%s from %d bytes: %v", what, n, err)
			}
		}
	}
}

func TestSlicesAreReused(t *testing.T) {
	two := []byte{0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}
	s := make([]uint32, 0, 2)
	got, rest, err := ConsumeSlice(two, s, 2, 4)
	if err != nil || len(got) != 2 || len(rest) != 8 || &got[0] != &s[:1][0] {
		t.Errorf("capacity suffices: %d elements, %d bytes left, %v", len(got), len(rest), err)
	}
	got, _, err = ConsumeSlice(two, s[:0:1], 2, 4)
	if err != nil || len(got) != 2 || cap(got) != 2 || &got[0] == &s[:1][0] {
		t.Errorf("capacity does not suffice: %d elements, %v", len(got), err)
	}
	if got, _, _ = ConsumeSlice(two[:4], s, 2, 4); len(got) != 0 || cap(got) != 2 {
		t.Errorf("after an error: %d elements, capacity %d", len(got), cap(got))
	}

	e := Extend(Extend([]int(nil)))
	e[0], e[1] = 5, 6
	if again := Extend(Extend(e[:0])); again[0] != 5 || again[1] != 6 || &again[0] != &e[0] {
		t.Errorf("extended over old elements: %v", again)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u32, u64, flag := rapid.Uint32().Draw(t, "u32"), rapid.Uint64().Draw(t, "u64"), rapid.Bool().Draw(t, "flag")
		p := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "p")
		tail := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "tail")

		b := AppendOpaque(AppendBool(AppendUint64(AppendUint32(nil, u32), u64), flag), p)
		if len(b)%4 != 0 {
			t.Fatalf("%d bytes are no whole number of units", len(b))
		}
		b = append(b, tail...)
		gotU32, b, err1 := ConsumeUint32(b)
		gotU64, b, err2 := ConsumeUint64(b)
		gotFlag, b, err3 := ConsumeBool(b)
		gotP, b, err4 := ConsumeOpaque(b, uint32(len(p)))
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		if gotU32 != u32 || gotU64 != u64 || gotFlag != flag || !bytes.Equal(gotP, p) || !bytes.Equal(b, tail) {
			t.Fatalf("got %d %d %v %x, left %x", gotU32, gotU64, gotFlag, gotP, b)
		}
		if cap(gotP) != len(gotP) {
			t.Fatalf("opaque data of %d bytes could grow to %d", len(gotP), cap(gotP))
		}
	})
}

// The first byte selects the decoder. What decodes is encoded as the bytes it
// was decoded from, but for padding.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1})
	f.Add([]byte{1, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Add([]byte{2, 0, 0, 0, 1})
	f.Add([]byte{3, 0, 0, 0, 1, 0xaa, 0, 0, 0})
	f.Add([]byte{4, 0, 0, 0, 1, 0xaa, 0, 0, 0})
	f.Add([]byte{5, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		decoder, b := data[0], data[1:]
		var rest, again []byte
		var err error
		switch decoder % 6 {
		case 0:
			var v uint32
			v, rest, err = ConsumeUint32(b)
			again = AppendUint32(nil, v)
		case 1:
			var v uint64
			v, rest, err = ConsumeUint64(b)
			again = AppendUint64(nil, v)
		case 2:
			var v bool
			v, rest, err = ConsumeBool(b)
			again = AppendBool(nil, v)
		case 3:
			var v []byte
			v, rest, err = ConsumeOpaque(b, 1<<16)
			again = AppendOpaque(nil, v)
		case 4:
			var v []byte
			v, rest, err = ConsumeFixed(b, 5)
			again = AppendFixed(nil, v)
		case 5:
			var v []uint64
			if v, rest, err = ConsumeSlice(b, v, Unbounded, 8); err == nil && 8*len(v) > len(rest) {
				t.Fatalf("%d elements announced, %d bytes left", len(v), len(rest))
			}
			again = AppendUint32(nil, uint32(len(v)))
		}
		if err != nil {
			return
		}
		used := b[:len(b)-len(rest)]
		if n := len(again); len(used) != n || !bytes.Equal(used[:max(n-3, 0)], again[:max(n-3, 0)]) {
			t.Fatalf("decoder %d: decoded from %x, encoded as %x", decoder%6, used, again)
		}
	})
}
