package main

import (
	"fmt"
	"regexp"
	"strings"
)

// methods writes AppendXDR, ConsumeXDR and SizeXDR, and for a struct that ends
// in a payload the forms that leave it out.
//
// The code of a method is put together from statements. Those of AppendXDR
// extend b, those of ConsumeXDR shorten it.
func (g *generator) methods(t *typ) {
	receiver, pointer := "v *"+t.name, "v *"+t.name
	target := "v"
	if t.kind != kindStruct && t.kind != kindUnion {
		receiver, target = "v "+t.name, "(*v)"
	}
	if last := t.payload(); last != nil {
		g.heads(t, last)
		g.fn(pointer, "AppendXDR(b []byte) []byte",
			"b = v.AppendXDRHead(b, uint32(len(v."+last.name+")))\nreturn xdr.AppendFixed(b, v."+last.name+")\n")
		g.fn(pointer, "ConsumeXDR(b []byte) ([]byte, error)",
			"n, b, err := v.ConsumeXDRHead(b)\nif err != nil {\nreturn nil, err\n}\nv."+last.name+", b, err = xdr.ConsumeFixed(b, n)\nreturn b, err\n")
	} else {
		g.fn(receiver, "AppendXDR(b []byte) []byte", g.appendBody(t, "v"))
		body := simplify(g.consumeBody(t, target))
		results := "([]byte, error)"
		if strings.Contains(body, "err = ") {
			results = "(_ []byte, err error)"
		}
		g.fn(pointer, "ConsumeXDR(b []byte) "+results, body)
	}
	g.fn(receiver, "SizeXDR() int", g.sizeBody(t, "v"))
}

// fn writes a method, a short one on one line.
func (g *generator) fn(receiver, signature, body string) {
	if strings.Count(body, "\n") == 1 && len(body) < 60 {
		g.p("func (%s) %s { %s }\n\n", receiver, signature, strings.TrimSpace(body))
		return
	}
	g.p("func (%s) %s {\n%s}\n\n", receiver, signature, body)
}

var (
	derefAlone = regexp.MustCompile(`\(\*v\)([^\[.])`)
	derefCalls = strings.NewReplacer("(*v).", "v.", "copy((*v)[:]", "copy(v[:]")
)

// simplify writes the receiver (*v) as Go programmers would.
func simplify(body string) string {
	return derefCalls.Replace(derefAlone.ReplaceAllString(body, "*v$1"))
}

// heads writes the methods for all of t but the payload's bytes.
func (g *generator) heads(t *typ, last *field) {
	body := g.appendFields(t.fields[:len(t.fields)-1], "v")
	g.p("// AppendXDRHead appends v up to the bytes of %s, of which there are n: they\n", last.name)
	g.p("// follow from elsewhere, with their padding.\n")
	g.p("func (v *%s) AppendXDRHead(b []byte, n uint32) []byte {\n", t.name)
	g.p("%sreturn xdr.AppendUint32(b, n)\n}\n\n", strings.Join(body, ""))

	body = g.consumeFields(t.fields[:len(t.fields)-1], "v")
	g.p("// ConsumeXDRHead decodes v up to the bytes of %s, of which there are n.\n", last.name)
	g.p("func (v *%s) ConsumeXDRHead(b []byte) (n uint32, rest []byte, err error) {\n", t.name)
	g.p("%sreturn xdr.ConsumeLen(b, %s)\n}\n\n",
		strings.ReplaceAll(strings.Join(body, ""), "return nil, ", "return 0, nil, "), bound(last.typ))
}

func bound(t *typ) string {
	if t.bound == "" {
		return "xdr.Unbounded"
	}
	return t.bound
}

func member(v string, f *field) string { return v + "." + f.name }

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

func (g *generator) appendFields(fields []field, v string) (code []string) {
	for i := range fields {
		code = append(code, g.appendValue(fields[i].typ, member(v, &fields[i]), 0)...)
	}
	return code
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
	from := "b"
	if off > 0 {
		from = fmt.Sprintf("b[%d:]", off)
	}
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

// armSwitch returns statements that do for the arm chosen what body says, and
// otherwise for an arm that is void.
func (g *generator) armSwitch(t *typ, v, void string, body func(*field) string) string {
	d := member(v, &t.fields[0])
	var full []*arm
	voidDefault := true
	for i := range t.arms {
		if a := &t.arms[i]; a.field != nil {
			full = append(full, a)
			voidDefault = voidDefault && !a.isDefault
		}
	}
	switch {
	case len(full) == 0:
		return void
	case len(full) == 1 && full[0].isTrue() && t.fields[0].typ.kind == kindBool:
		return "if " + d + " {\n" + body(full[0].field) + "}\n" + void
	case len(full) == 1 && len(full[0].cases) == 1 && t.fields[0].typ.kind != kindBool:
		return "if " + d + " == " + full[0].cases[0] + " {\n" + body(full[0].field) + "}\n" + void
	}
	var b strings.Builder
	fmt.Fprintf(&b, "switch %s {\n", d)
	for i := range t.arms {
		if a := &t.arms[i]; a.field != nil {
			b.WriteString(a.label() + ":\n" + body(a.field))
		} else if !voidDefault {
			b.WriteString(a.label() + ":\n" + void)
		}
	}
	b.WriteString("}\n")
	if voidDefault {
		b.WriteString(void)
	}
	return b.String()
}

// sizeBody returns the statements of t's SizeXDR.
func (g *generator) sizeBody(t *typ, v string) string {
	switch t.kind {
	case kindStruct:
		var z size
		for i := range t.fields {
			g.addSize(&z, t.fields[i].typ, member(v, &t.fields[i]), 0)
		}
		return z.body()
	case kindUnion:
		return g.armSwitch(t, v, "return 4\n", func(f *field) string {
			z := size{fixed: 4}
			g.addSize(&z, f.typ, member(v, f), 0)
			return z.body()
		})
	}
	var z size
	g.addSizeInPlace(&z, t, v, 0)
	return z.body()
}

// A size is a sum being put together.
type size struct {
	fixed int64
	terms []string
	loops []string // statements that add to n
}

func (z *size) sum() string {
	terms := z.terms
	if z.fixed > 0 || len(terms) == 0 {
		terms = append([]string{fmt.Sprint(z.fixed)}, terms...)
	}
	return strings.Join(terms, " + ")
}

func (z *size) body() string {
	if len(z.loops) == 0 {
		return "return " + z.sum() + "\n"
	}
	return "n := " + z.sum() + "\n" + strings.Join(z.loops, "") + "return n\n"
}

func (g *generator) addSize(z *size, t *typ, v string, depth int) {
	if n, ok := t.wireSize(); ok {
		z.fixed += n
		return
	}
	if t.hasMethods() {
		z.terms = append(z.terms, v+".SizeXDR()")
		return
	}
	g.addSizeInPlace(z, t, v, depth)
}

func (g *generator) addSizeInPlace(z *size, t *typ, v string, depth int) {
	if n, ok := t.wireSize(); ok {
		z.fixed += n
		return
	}
	switch t.kind {
	case kindOpaque, kindString:
		z.terms = append(z.terms, "xdr.SizeOpaque(len("+v+"))")
		return
	case kindOptional:
		z.fixed += 4
		var elem size
		g.addSize(&elem, t.elem, v+".Value", depth)
		z.loops = append(z.loops, "if "+v+".Set {\n"+elem.add()+"}\n")
		return
	}
	var elem size
	i := index(depth)
	switch t.kind {
	case kindSlice:
		z.fixed += 4
	case kindList:
		z.fixed += 4
		elem.fixed = 4
	}
	g.addSize(&elem, t.elem, v+"["+i+"]", depth+1)
	if len(elem.terms)+len(elem.loops) == 0 {
		z.terms = append(z.terms, fmt.Sprintf("%d*len(%s)", elem.fixed, v))
		return
	}
	z.loops = append(z.loops, "for "+i+" := range "+v+" {\n"+elem.add()+"}\n")
}

// add returns statements that add z to n.
func (z *size) add() string { return "n += " + z.sum() + "\n" + strings.Join(z.loops, "") }
