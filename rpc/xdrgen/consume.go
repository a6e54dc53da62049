package main

import (
	"fmt"
	"strings"
)

// consumeBody returns the statements of t's ConsumeXDR.
func (g *generator) consumeBody(t *typ, v string) string {
	switch t.kind {
	case kindStruct:
		return endConsume(g.consumeFields(t.fields, v))
	case kindUnion:
		return g.consumeUnion(t, v)
	case kindOpaque, kindString, kindArray, kindSlice, kindList, kindOptional:
		return endConsume(g.consumeInPlace(t, v, 0))
	}
	return endConsume(g.consumeRun([]field{{typ: t}}, func(*field) string { return v }))
}

// endConsume makes code return what is left of b.
func endConsume(code []string) string {
	last := &code[len(code)-1]
	if rest, ok := strings.CutPrefix(*last, "b = "); ok {
		*last = "return " + strings.TrimSuffix(rest, "\n") + ", nil\n"
	} else if call, ok := strings.CutPrefix(*last, "if b, err = "); ok && strings.Contains(call, ".ConsumeXDR(b); ") {
		call, _, _ = strings.Cut(call, ";")
		*last = "return " + call + "\n"
	} else if call, ok := strings.CutSuffix(*last, "; err != nil {\nreturn nil, err\n}\n"); ok && strings.Contains(call, "xdr.ConsumeOpaque") {
		*last = strings.TrimPrefix(call, "if ") + "\nreturn b, err\n"
	} else {
		code = append(code, "return b, nil\n")
	}
	return strings.Join(code, "")
}

// consumeFields decodes fields, those of fixed size that follow each other after
// one look at the length of b.
func (g *generator) consumeFields(fields []field, v string) (code []string) {
	for len(fields) > 0 {
		n := 0
		for n < len(fields) && fields[n].typ.isRun() {
			n++
		}
		if n == 0 {
			code = append(code, g.consumeValue(fields[0].typ, member(v, &fields[0]), 0)...)
			fields = fields[1:]
			continue
		}
		code = append(code, g.consumeRun(fields[:n], func(f *field) string { return member(v, f) })...)
		fields = fields[n:]
	}
	return code
}

// isRun reports whether t can be decoded as a part of a run of known size.
func (t *typ) isRun() bool {
	if t.kind == kindArray {
		return false
	}
	for i := range t.fields {
		if !t.fields[i].typ.isRun() {
			return false
		}
	}
	_, ok := t.wireSize()
	return ok
}

// isPadded reports whether t, a part of a run, has padding that Grow does not zero.
func (t *typ) isPadded() bool {
	for i := range t.fields {
		if t.fields[i].typ.isPadded() {
			return true
		}
	}
	return t.kind == kindOpaqueFixed && t.n%4 != 0
}

func (g *generator) consumeRun(fields []field, expr func(*field) string) []string {
	var code []string
	off := int64(0)
	for i := range fields {
		code = append(code, g.consumeAt(fields[i].typ, expr(&fields[i]), off)...)
		n, _ := fields[i].typ.wireSize()
		off += n
	}
	check := fmt.Sprintf("if len(b) < %d {\nreturn nil, xdr.ErrShort\n}\n", off)
	return append(append([]string{check}, code...), fmt.Sprintf("b = b[%d:]\n", off))
}

// consumeAt decodes the t that begins at b[off], which is known to be there.
func (g *generator) consumeAt(t *typ, v string, off int64) []string {
	from := slice("b", off)
	word, hyper := "binary.BigEndian.Uint32("+from+")", "binary.BigEndian.Uint64("+from+")"
	switch t.kind {
	case kindUint32:
		return []string{v + " = " + word + "\n"}
	case kindInt32:
		return []string{v + " = int32(" + word + ")\n"}
	case kindUint64:
		return []string{v + " = " + hyper + "\n"}
	case kindInt64:
		return []string{v + " = int64(" + hyper + ")\n"}
	case kindFloat32:
		return []string{v + " = math.Float32frombits(" + word + ")\n"}
	case kindFloat64:
		return []string{v + " = math.Float64frombits(" + hyper + ")\n"}
	case kindEnum:
		return []string{v + " = " + t.name + "(" + word + ")\n", "if !" + v + ".Known() {\nreturn nil, xdr.ErrEnum\n}\n"}
	case kindBool:
		return []string{"if " + v + ", err = xdr.Bool(" + word + "); err != nil {\nreturn nil, err\n}\n"}
	case kindOpaqueFixed:
		return []string{"copy(" + v + "[:], " + from + ")\n"}
	}
	var code []string
	for i := range t.fields {
		f := &t.fields[i]
		code = append(code, g.consumeAt(f.typ, member(v, f), off)...)
		n, _ := f.typ.wireSize()
		off += n
	}
	return code
}

func (g *generator) consumeValue(t *typ, v string, depth int) []string {
	switch {
	case t.hasMethods():
		return []string{"if b, err = " + v + ".ConsumeXDR(b); err != nil {\nreturn nil, err\n}\n"}
	case t.isRun():
		return g.consumeRun([]field{{typ: t}}, func(*field) string { return v })
	}
	return g.consumeInPlace(t, v, depth)
}

func (g *generator) consumeInPlace(t *typ, v string, depth int) []string {
	const orReturn = "; err != nil {\nreturn nil, err\n}\n"
	switch t.kind {
	case kindOpaque, kindString:
		return []string{"if " + v + ", b, err = xdr.ConsumeOpaque(b, " + bound(t) + ")" + orReturn}
	case kindOptional:
		elem := strings.Join(g.consumeValue(t.elem, v+".Value", depth), "")
		return []string{"if " + v + ".Set, b, err = xdr.ConsumeBool(b)" + orReturn, "if " + v + ".Set {\n" + elem + "}\n"}
	case kindList:
		elem := strings.Join(g.consumeValue(t.elem, v+"[len("+v+")-1]", depth+1), "")
		return []string{
			v + " = " + v + "[:0]\n",
			"for {\nvar more bool\nif more, b, err = xdr.ConsumeBool(b)" + orReturn + "if !more {\nbreak\n}\n" +
				v + " = xdr.Extend(" + v + ")\n" + elem + "}\n",
		}
	}
	i := index(depth)
	elem := strings.Join(g.consumeValue(t.elem, v+"["+i+"]", depth+1), "")
	loop := "for " + i + " := range " + v + " {\n" + elem + "}\n"
	if t.kind == kindArray {
		return []string{loop}
	}
	return []string{
		fmt.Sprintf("if %s, b, err = xdr.ConsumeSlice(b, %s, %s, %d)%s", v, v, bound(t), t.elem.minSize(), orReturn),
		loop,
	}
}

func (g *generator) consumeUnion(t *typ, v string) string {
	disc := &t.fields[0]
	d := member(v, disc)
	var b strings.Builder
	b.WriteString("if len(b) < 4 {\nreturn nil, xdr.ErrShort\n}\n")
	if disc.typ.kind == kindEnum {
		fmt.Fprintf(&b, "%s = %s(binary.BigEndian.Uint32(b))\n", d, disc.typ.name)
	} else {
		b.WriteString(strings.Join(g.consumeAt(disc.typ, d, 0), ""))
	}
	b.WriteString("b = b[4:]\n")

	body := func(a *arm) string {
		if a.field == nil {
			return "return b, nil\n"
		}
		return endConsume(g.consumeValue(a.field.typ, member(v, a.field), 0))
	}
	if disc.typ.kind == kindBool && len(t.arms) == 2 {
		whenTrue, whenFalse := &t.arms[0], &t.arms[1]
		if whenFalse.isTrue() || whenTrue.isFalse() {
			whenTrue, whenFalse = whenFalse, whenTrue
		}
		fmt.Fprintf(&b, "if %s {\n%s}\n%s", d, body(whenTrue), body(whenFalse))
		return b.String()
	}
	fmt.Fprintf(&b, "switch %s {\n", d)
	last := "default:\nreturn nil, xdr.ErrUnion\n"
	for i := range t.arms {
		fmt.Fprintf(&b, "%s:\n%s", t.arms[i].label(), body(&t.arms[i]))
		if t.arms[i].isDefault {
			last = ""
		}
	}
	b.WriteString(last + "}\n")
	return b.String()
}

func (a *arm) isTrue() bool  { return len(a.nums) == 1 && a.nums[0] == 1 }
func (a *arm) isFalse() bool { return len(a.nums) == 1 && a.nums[0] == 0 }
