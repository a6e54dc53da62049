package main

import (
	"fmt"
	"strings"
)

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
