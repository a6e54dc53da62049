package main

import "strings"

// A kind is what a type is on the wire.
type kind int

const (
	kindInt32 kind = iota
	kindUint32
	kindInt64
	kindUint64
	kindFloat32
	kindFloat64
	kindBool
	kindEnum
	kindOpaqueFixed // [n]byte
	kindOpaque      // []byte
	kindString      // []byte
	kindArray       // [n]T
	kindSlice       // []T, from T name<n>
	kindList        // []T, from a linked list of T
	kindOptional    // xdr.Optional[T]
	kindStruct
	kindUnion
)

// A typ is a resolved type.
type typ struct {
	kind  kind
	xname string // name in the .x file, "" if it has none
	name  string // name in Go, "" if it has none
	pos   pos
	doc   string

	alias  *typ   // of a typedef that stands for another type: that type
	elem   *typ   // of arrays, slices, lists and optionals
	n      uint32 // length or bound
	bound  string // the same as the .x file has it; "" if there is none
	items  []item // of an enum
	fields []field
	arms   []arm // of a union, whose only field is the discriminant

	resolved bool
}

type item struct {
	name string
	text string // value as it goes into Go
	num  int64
	doc  string
	tail string
}

type field struct {
	pos  pos
	name string
	typ  *typ
	doc  string
	tail string
}

type arm struct {
	cases     []string // Go expressions
	nums      []int64
	isDefault bool
	field     *field // nil: void
}

// wireSize returns the encoded size of t if every value has the same.
func (t *typ) wireSize() (int64, bool) {
	switch t.kind {
	case kindInt64, kindUint64, kindFloat64:
		return 8, true
	case kindOpaqueFixed:
		return pad(int64(t.n)), true
	case kindArray:
		n, ok := t.elem.wireSize()
		return n * int64(t.n), ok
	case kindStruct:
		var sum int64
		for _, f := range t.fields {
			n, ok := f.typ.wireSize()
			if !ok {
				return 0, false
			}
			sum += n
		}
		return sum, true
	case kindInt32, kindUint32, kindFloat32, kindBool, kindEnum:
		return 4, true
	}
	return 0, false
}

// minSize returns the size of the shortest encoding of a t.
func (t *typ) minSize() int64 {
	switch t.kind {
	case kindArray:
		return t.elem.minSize() * int64(t.n)
	case kindStruct:
		var sum int64
		for _, f := range t.fields {
			sum += f.typ.minSize()
		}
		return sum
	case kindUnion:
		least := int64(-1)
		for _, a := range t.arms {
			n := int64(0)
			if a.field != nil {
				n = a.field.typ.minSize()
			}
			if least < 0 || n < least {
				least = n
			}
		}
		return 4 + least
	}
	if n, ok := t.wireSize(); ok {
		return n
	}
	return 4
}

// payload returns the last field of a struct that ends in variable opaque data
// after something else.
func (t *typ) payload() *field {
	if t.kind != kindStruct || len(t.fields) < 2 {
		return nil
	}
	if f := &t.fields[len(t.fields)-1]; f.typ.kind == kindOpaque {
		return f
	}
	return nil
}

// hasMethods reports whether values of t are encoded by its own methods rather
// than in place.
func (t *typ) hasMethods() bool {
	return t.name != "" && t.kind >= kindArray
}

func pad(n int64) int64 { return (n + 3) &^ 3 }

// predefined are the types that .x files take from C's headers.
var predefined = map[string]kind{
	"int32_t": kindInt32, "uint32_t": kindUint32, "int64_t": kindInt64, "uint64_t": kindUint64,
}

// goName returns the exported Go form of a name of a .x file: the words between
// underscores joined, each with a capital, initialisms in capitals. Names of
// constants keep their underscores; goConst is for them.
func goName(x string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(x, "_") {
		// NFS runs its own name together with what follows.
		if rest, ok := strings.CutPrefix(word, "nfs"); ok {
			b.WriteString("NFS")
			word = rest
		}
		switch stem := strings.TrimRight(word, "0123456789"); stem {
		case "uid", "gid":
			word = strings.ToUpper(word)
		case "gids":
			word = "GIDs" + word[len(stem):]
		}
		b.WriteString(capital(word))
	}
	return b.String()
}

func goConst(x string) string { return capital(x) }

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
