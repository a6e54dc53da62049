package sample

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"eddy.example/rpc/xdr"
	"eddy.example/rpc/xdrgen/xdrtest"
)

var limits = xdrtest.Limits{
	"Line": MAX, "Lines": MAX, "Ways": 2, "ShortName": 2,
	"Arrays.Bounded": MAX, "Arrays.Text": 4, "Arrays.Points": MAX, "Arrays.Words": 2,
	"Arrays.Pairs": 1, "Arrays.Rows": 1, "ByNumber.Data": MAX, "Nested.List": MAX,
	"Message.Payload": 8,
}

func values() []xdrtest.Value {
	return []xdrtest.Value{
		new(Color), new(Line), new(LineAgain), new(Token), new(Blob), new(Pair), new(Lines), new(Palette),
		new(Maybe), new(Point), new(Ways), new(Scalars), new(Arrays), new(Leaf), new(Leaves), new(Twig), new(Tree),
		new(Optionals), new(ByColor), new(ByNumber), new(ByBool), new(Nested), new(Message),
	}
}

func TestRoundTrip(t *testing.T) {
	for _, v := range values() {
		t.Run(fmt.Sprintf("%T", v), func(t *testing.T) { xdrtest.RoundTrip(t, v, limits) })
	}
}

func TestGolden(t *testing.T) {
	for _, tc := range []struct {
		name string
		v    xdrtest.Value
		wire string
	}{
		{"enum", ptr(LEAST), "80000000"},
		{"fixed opaque", &Token{1, 2, 3, 4, 5}, "01020304 05 000000 ; padding"},
		{"array of arrays", &Pair{1, math.MaxUint64}, "0000000000000001 ffffffffffffffff"},
		{"array of strings", &Lines{Line("a"), Line("")}, "00000002 00000001 61 000000 00000000"},
		{"absent", &Maybe{}, "00000000"},
		{"present", &Maybe{Set: true}, "00000001 00000000"},
		{"scalars", &Scalars{
			I: -1, U: 2, Plain: 3, L: -4, Ul: 5, H: -6, Uh: 7, F: 1, D: -2, B: true, C: GREEN,
			P: Point{8}, T: Token{9, 9, 9, 9, 9}, Raw: [4]byte{10, 11, 12, 13}, CInt: -14,
		}, `
			ffffffff ; int
			00000002 ; unsigned int
			00000003 ; unsigned
			fffffffc ; long
			00000005 ; unsigned long
			fffffffffffffffa ; hyper
			0000000000000007 ; unsigned hyper
			3f800000 ; float
			c000000000000000 ; double
			00000001 ; bool
			00000002 ; enum
			00000008 ; struct
			09090909 09 000000 ; opaque[5]
			0a0b0c0d ; opaque[4]
			fffffff2 ; int32_t
		`},
		{"arrays", &Arrays{
			Fixed: [6]byte{1, 2, 3, 4, 5, 6}, Bounded: []byte{7}, Text: []byte("four"), Tokens: [2]Token{{8}, {9}},
			Points: []Point{{10}}, Texts: []Line{Line("b")}, Paragraph: Lines{Line("c")}, Words: []uint32{11, 12},
			Pairs: []Pair{{13, 14}}, Grid: [2]int64{15, 16}, Colors: Palette{BLUE}, Heading: Ways{DOWN},
		}, `
			010203040506 0000 ; fixed
			00000001 07 000000 ; bounded
			00000000 ; unbounded
			00000004 666f7572 ; text
			0800000000000000 0900000000000000 ; tokens
			00000001 0000000a ; points
			00000001 00000001 62 000000 ; texts
			00000001 00000001 63 000000 ; paragraph
			00000002 0000000b 0000000c ; words
			00000001 000000000000000d 000000000000000e ; pairs
			000000000000000f 0000000000000010 ; grid
			00000001 00000003 ; colors
			00000001 00000002 ; heading
			00000000 ; rows
		`},
		{"lists", &Tree{Twigs: []Twig{{On: Leaves{{Line("x")}, {Line("y")}}, N: 1}, {N: 2}}, Evergreen: true}, `
			00000001 ; a twig
			  00000001 00000001 78 000000 ; a leaf
			  00000001 00000001 79 000000 ; a leaf
			  00000000 ; no more leaves
			  00000001 ; n
			00000001 ; a twig
			  00000000 00000002
			00000000 ; no more twigs
			00000001 ; evergreen
		`},
		{"optionals", &Optionals{Where: xdr.Optional[Point]{Set: true, Value: Point{1}}, Last: 2}, `
			00000001 00000001 ; where
			00000000 ; what
			00000000 ; perhaps
			00000002 ; last
		`},
		{"union, first arm", &ByColor{Which: RED, Depth: 5}, "00000000 00000005"},
		{"union, one of several cases", &ByColor{Which: AZURE, Word: Line("w")}, "00000003 00000001 77 000000"},
		{"union, default of a value unknown", &ByColor{Which: 77}, "0000004d"},
		{"union, negative case", &ByNumber{N: -1}, "ffffffff"},
		{"union, false", &ByBool{No: 1}, "00000000 0000000000000001"},
		{"union, true and void", &ByBool{B: true}, "00000001"},
		{"nested", &Nested{
			Inner: NestedInner{A: 1, B: Q}, Choice: NestedChoice{More: true, Box: NestedChoiceBox{2}},
			List: []NestedList{{ShortName("z")}},
		}, `
			00000001 00000001 ; inner
			00000001 00000002 ; choice
			00000001 00000001 7a 000000 ; list
		`},
	} {
		t.Run(tc.name, func(t *testing.T) { xdrtest.Golden(t, tc.v, tc.wire) })
	}
}

func ptr[T any](v T) *T { return &v }

func TestBounds(t *testing.T) {
	xdrtest.Bound(t, MAX, func(n int) xdrtest.Value { return ptr(Line(make([]byte, n))) })
	xdrtest.Bound(t, MAX, func(n int) xdrtest.Value { return ptr(make(Lines, n)) })
	xdrtest.Bound(t, 4, func(n int) xdrtest.Value { return &Arrays{Heading: Ways{}, Text: make([]byte, n)} })
	xdrtest.Bound(t, 2, func(n int) xdrtest.Value { return &Arrays{Words: make([]uint32, n)} })
	xdrtest.Bound(t, MAX, func(n int) xdrtest.Value { return &ByNumber{N: BLUE_NUMBER, Data: make([]byte, n)} })
	xdrtest.Bound(t, 8, func(n int) xdrtest.Value { return &Message{Payload: make([]byte, n)} })
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		v    xdrtest.Value
		wire string
		want error
	}{
		{"enum", new(Color), "00000001", xdr.ErrEnum},
		{"enum in an array", new(Palette), "00000001 00000001", xdr.ErrEnum},
		{"bool", new(Maybe), "00000002", xdr.ErrEnum},
		{"bool as discriminant", new(ByBool), "00000002 00000000 00000000", xdr.ErrEnum},
		{"bool that goes on with a list", new(Leaves), "ffffffff", xdr.ErrEnum},
		{"union without default", new(Strict), "00000003", xdr.ErrUnion},
		{"union without default, value unknown", new(Strict), "00000063", xdr.ErrUnion},
		{"bool union without the other arm", new(Half), "00000000", xdr.ErrUnion},
		{"union of nothing", new(Nothing), "00000008", xdr.ErrUnion},
		{"more elements than could have arrived", new(Palette), "40000000 00000000", xdr.ErrShort},
		{"4 GiB of opaque data", new(Blob), "ffffffff 00000000", xdr.ErrShort},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := tc.v.ConsumeXDR(xdrtest.Wire(t, tc.wire)); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

// A payload is left out of the head, and its bound holds there already.
func TestHead(t *testing.T) {
	m := Message{Kind: ByColor{Which: RED, Depth: 1}, Id: 2, Payload: []byte("abc")}
	head := m.AppendXDRHead(nil, 3)
	if whole := xdr.AppendFixed(head, m.Payload); string(whole) != string(m.AppendXDR(nil)) {
		t.Errorf("head and payload are %x, the whole is %x", whole, m.AppendXDR(nil))
	}
	var got Message
	n, rest, err := got.ConsumeXDRHead(head)
	if n != 3 || len(rest) != 0 || err != nil || got.Id != 2 || got.Payload != nil {
		t.Errorf("ConsumeXDRHead: %d, %x, %v; %+v", n, rest, err, got)
	}
	if _, _, err := got.ConsumeXDRHead(m.AppendXDRHead(nil, 9)); !errors.Is(err, xdr.ErrBound) {
		t.Errorf("payload over its bound: %v", err)
	}
	for i := range head {
		if _, _, err := got.ConsumeXDRHead(head[:i]); !errors.Is(err, xdr.ErrShort) {
			t.Errorf("%d bytes of the head: %v", i, err)
		}
	}
}

// Variable-length opaque data aliases the input; nothing can be appended to it
// that would run over into what follows.
func TestByReference(t *testing.T) {
	wire := (&Message{Kind: ByColor{Which: GREEN, Word: Line("abc")}}).AppendXDR(nil)
	var m Message
	if _, err := m.ConsumeXDR(wire); err != nil {
		t.Fatal(err)
	}
	wire[8] = 'X'
	if string(m.Kind.Word) != "Xbc" {
		t.Errorf("word is %q after a change of the input", m.Kind.Word)
	}
	if cap(m.Kind.Word) != 3 {
		t.Errorf("word has capacity %d", cap(m.Kind.Word))
	}
}

// Padding that is not zero is let pass: nothing depends on it.
func TestPaddingIgnored(t *testing.T) {
	var l Line
	if rest, err := l.ConsumeXDR(xdrtest.Wire(t, "00000001 61 ffffff")); err != nil || len(rest) != 0 || string(l) != "a" {
		t.Errorf("got %q, %x left, %v", l, rest, err)
	}
	var tok Token
	if _, err := tok.ConsumeXDR(xdrtest.Wire(t, "01020304 05 ffffff")); err != nil || tok != (Token{1, 2, 3, 4, 5}) {
		t.Errorf("got %v, %v", tok, err)
	}
}

func TestNames(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{GREEN.String(), "GREEN"},
		{AZURE.String(), "BLUE"},
		{Color(-7).String(), "Color(-7)"},
		{SAMPLEV2ProcName(SAMPLEPROC2_SEND), "SEND"},
		{SAMPLEV2ProcName(1), ""},
		{SAMPLEV1ProcName(SAMPLEPROC1_NULL), "NULL"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
	if !Passed || SAMPLE_PROGRAM != 0x20000001 || SAMPLE_V2 != 2 {
		t.Error("constants")
	}
}
