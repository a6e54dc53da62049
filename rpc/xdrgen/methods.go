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
	case len(full) == 1 && len(full[0].cases) == 1:
		return "if " + full[0].condition(t.fields[0].typ, d) + " {\n" + body(full[0].field) + "}\n" + void
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

// condition returns the expression that tells whether d, of type t, chooses a,
// which has one case.
func (a *arm) condition(t *typ, d string) string {
	switch {
	case t.kind != kindBool:
		return d + " == " + a.cases[0]
	case a.isTrue():
		return d
	}
	return "!" + d
}
