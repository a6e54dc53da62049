package main

import (
	"fmt"
	"strings"
)

// appendBody returns the statements of t's AppendXDR.
func (g *generator) appendBody(t *typ, v string) string {
	switch t.kind {
	case kindStruct:
		return endAppend(g.appendFields(t.fields, v))
	case kindUnion:
		head := strings.Join(g.appendValue(t.fields[0].typ, member(v, &t.fields[0]), 0), "")
		return head + g.armSwitch(t, v, "return b\n", func(f *field) string {
			return endAppend(g.appendValue(f.typ, member(v, f), 0))
		})
	}
	return endAppend(g.appendInPlace(t, v, 0))
}

// appendFields encodes fields, long runs of known size by growing b once.
func (g *generator) appendFields(fields []field, v string) (code []string) {
	assign := ":="
	for len(fields) > 0 {
		n, size := 0, int64(0)
		for n < len(fields) && fields[n].typ.isRun() && !fields[n].typ.isPadded() {
			z, _ := fields[n].typ.wireSize()
			size += z
			n++
		}
		if size < longRun {
			code = append(code, g.appendValue(fields[0].typ, member(v, &fields[0]), 0)...)
			fields = fields[1:]
			continue
		}
		code = append(code, fmt.Sprintf("b, p %s xdr.Grow(b, %d)\n_ = p[%d] // one bounds check for all\n", assign, size, size-1))
		assign = "="
		off := int64(0)
		for i := range fields[:n] {
			code = append(code, g.putAt(fields[i].typ, member(v, &fields[i]), off)...)
			z, _ := fields[i].typ.wireSize()
			off += z
		}
		fields = fields[n:]
	}
	return code
}

// longRun is the size in bytes from which growing once and storing is faster
// than appending piece by piece.
const longRun = 24

// putAt encodes the t that begins at p[off].
func (g *generator) putAt(t *typ, v string, off int64) []string {
	to := slice("p", off)
	one := func(format string, args ...any) []string { return []string{fmt.Sprintf(format+"\n", args...)} }
	switch t.kind {
	case kindUint32:
		return one("binary.BigEndian.PutUint32(%s, %s)", to, v)
	case kindInt32, kindEnum:
		return one("binary.BigEndian.PutUint32(%s, uint32(%s))", to, v)
	case kindUint64:
		return one("binary.BigEndian.PutUint64(%s, %s)", to, v)
	case kindInt64:
		return one("binary.BigEndian.PutUint64(%s, uint64(%s))", to, v)
	case kindFloat32:
		return one("binary.BigEndian.PutUint32(%s, math.Float32bits(%s))", to, v)
	case kindFloat64:
		return one("binary.BigEndian.PutUint64(%s, math.Float64bits(%s))", to, v)
	case kindBool:
		return one("xdr.PutBool(%s, %s)", to, v)
	case kindOpaqueFixed:
		return one("copy(%s, %s[:])", to, v)
	}
	var code []string
	for i := range t.fields {
		f := &t.fields[i]
		code = append(code, g.putAt(f.typ, member(v, f), off)...)
		n, _ := f.typ.wireSize()
		off += n
	}
	return code
}

func slice(b string, off int64) string {
	if off == 0 {
		return b
	}
	return fmt.Sprintf("%s[%d:]", b, off)
}

// endAppend makes code return b.
func endAppend(code []string) string {
	last := &code[len(code)-1]
	if rest, ok := strings.CutPrefix(*last, "b = "); ok {
		*last = "return " + rest
	} else {
		code = append(code, "return b\n")
	}
	return strings.Join(code, "")
}

func (g *generator) appendValue(t *typ, v string, depth int) []string {
	if t.hasMethods() {
		return []string{"b = " + v + ".AppendXDR(b)\n"}
	}
	return g.appendInPlace(t, v, depth)
}

func (g *generator) appendInPlace(t *typ, v string, depth int) []string {
	one := func(format string, args ...any) []string { return []string{fmt.Sprintf(format+"\n", args...)} }
	switch t.kind {
	case kindUint32:
		return one("b = xdr.AppendUint32(b, %s)", v)
	case kindInt32, kindEnum:
		return one("b = xdr.AppendUint32(b, uint32(%s))", v)
	case kindUint64:
		return one("b = xdr.AppendUint64(b, %s)", v)
	case kindInt64:
		return one("b = xdr.AppendUint64(b, uint64(%s))", v)
	case kindFloat32:
		return one("b = xdr.AppendUint32(b, math.Float32bits(%s))", v)
	case kindFloat64:
		return one("b = xdr.AppendUint64(b, math.Float64bits(%s))", v)
	case kindBool:
		return one("b = xdr.AppendBool(b, %s)", v)
	case kindOpaqueFixed:
		return one("b = xdr.AppendFixed(b, %s[:])", v)
	case kindOpaque, kindString:
		return one("b = xdr.AppendOpaque(b, %s)", v)
	case kindOptional:
		elem := g.appendValue(t.elem, v+".Value", depth)
		return []string{"b = xdr.AppendBool(b, " + v + ".Set)\n", "if " + v + ".Set {\n" + strings.Join(elem, "") + "}\n"}
	}
	i := index(depth)
	elem := strings.Join(g.appendValue(t.elem, v+"["+i+"]", depth+1), "")
	loop := "for " + i + " := range " + v + " {\n"
	switch t.kind {
	case kindSlice:
		return []string{"b = xdr.AppendUint32(b, uint32(len(" + v + ")))\n", loop + elem + "}\n"}
	case kindList:
		return []string{loop + "b = xdr.AppendBool(b, true)\n" + elem + "}\n", "b = xdr.AppendBool(b, false)\n"}
	}
	return []string{loop + elem + "}\n"}
}

func index(depth int) string { return string(rune('i' + depth)) }
