package export

import (
	"bytes"
	"encoding/hex"
	"testing"

	"pgregory.net/rapid"

	"eddy.example/internal/siphash"
	"eddy.example/vfs"
)

// stub is an FS whose objects are their own handles.
type stub struct{ vfs.FS }

func (stub) AppendHandle(b []byte, o vfs.Object) []byte { return append(b, o.(string)...) }

func (stub) Resolve(_ *vfs.Call, h []byte) (vfs.Object, error) { return string(h), nil }

var testKey = Key{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

func TestHandleGolden(t *testing.T) {
	for _, tc := range []struct {
		name, part, want string
	}{
		{"root", "", "01000000" + "0a0b0c0d" + "f122cfb48d3e3d2683c3237bdd46d9c9"},
		{"padded", "abcde", "01050000" + "0a0b0c0d" + "6162636465000000" + "cc5ba8eff82bf016470a2ec38a20ac09"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := appendHandle(nil, siphash.NewKey(testKey), 0x0a0b0c0d, stub{}, tc.part)
			if got := hex.EncodeToString(h); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestHandleRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mac := siphash.NewKey(Key(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "key")))
		id := rapid.Uint32().Draw(t, "id")
		part := rapid.SliceOfN(rapid.Byte(), 0, vfs.MaxHandle).Draw(t, "part")
		before := rapid.SliceOfN(rapid.Byte(), 0, 7).Draw(t, "before")

		b := appendHandle(bytes.Clone(before), mac, id, stub{}, string(part))
		if !bytes.HasPrefix(b, before) {
			t.Fatal("what was in the buffer changed")
		}
		h := b[len(before):]
		if len(h)%4 != 0 || len(h) < MinHandle || len(h) > MaxHandle {
			t.Fatalf("%d bytes", len(h))
		}
		gotID, gotPart, ok := parseHandle(h, mac)
		if !ok || gotID != id || !bytes.Equal(gotPart, part) {
			t.Fatalf("%x %x %v, want %x %x", gotID, gotPart, ok, id, part)
		}

		// Not one bit may change.
		h[rapid.IntRange(0, len(h)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if _, _, ok := parseHandle(h, mac); ok {
			t.Fatal("a handle with a bit flipped was accepted")
		}
	})
}

func TestHandleForged(t *testing.T) {
	mac := siphash.NewKey(testKey)
	good := appendHandle(nil, mac, 7, stub{}, "object")
	// sign makes a MAC that fits: what a later version of the table, or one
	// with a mistake in it, might have made.
	sign := func(h ...byte) []byte {
		sum := mac.Sum(h)
		return append(h, sum[:]...)
	}
	for name, h := range map[string][]byte{
		"empty":             nil,
		"short":             good[:len(good)-1],
		"MAC only":          good[len(good)-siphash.Size:],
		"long":              append(bytes.Clone(good), 0),
		"longest + 4":       append(bytes.Clone(good), make([]byte, MaxHandle+4-len(good))...),
		"another key":       appendHandle(nil, siphash.NewKey(Key{}), 7, stub{}, "object"),
		"unknown version":   sign(2, 0, 0, 0, 0, 0, 0, 7),
		"length too great":  sign(1, 5, 0, 0, 0, 0, 0, 7, 'a', 'b', 'c', 'd'),
		"length too small":  sign(1, 0, 0, 0, 0, 0, 0, 7, 'a', 'b', 'c', 'd'),
		"odd total length":  sign(1, 1, 0, 0, 0, 0, 0, 7, 'a'),
		"length way beyond": sign(1, 255, 0, 0, 0, 0, 0, 7),
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, ok := parseHandle(h, mac); ok {
				t.Errorf("%x was accepted", h)
			}
		})
	}
	if _, _, ok := parseHandle(good, mac); !ok {
		t.Error("the good one was not accepted")
	}
}

func TestBackendHandleTooLong(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	appendHandle(nil, siphash.NewKey(testKey), 1, stub{}, string(make([]byte, vfs.MaxHandle+1)))
}

// FuzzUntrusted feeds what comes from clients: the first byte selects between
// handles and MOUNT paths.
func FuzzUntrusted(f *testing.F) {
	mac := siphash.NewKey(testKey)
	f.Add(appendHandle([]byte{0}, mac, 1, stub{}, "x"))
	f.Add([]byte("\x01/a//b/./c/"))
	f.Add([]byte("\x01/../etc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		switch in := data[1:]; data[0] % 2 {
		case 0:
			if id, part, ok := parseHandle(in, mac); ok {
				if again := appendHandle(nil, mac, id, stub{}, string(part)); !bytes.Equal(in, again) {
					t.Errorf("%x was accepted, but %x is made", in, again)
				}
			}
		case 1:
			p, err := cleanPath(string(in))
			if err != nil {
				return
			}
			if again, err := cleanPath(p); err != nil || again != p {
				t.Errorf("%q became %q, then %q, %v", in, p, again, err)
			}
		}
	})
}
