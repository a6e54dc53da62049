package main

var keywords = map[string]bool{
	"bool": true, "case": true, "const": true, "default": true, "double": true,
	"enum": true, "float": true, "hyper": true, "int": true, "long": true,
	"opaque": true, "program": true, "quadruple": true, "string": true,
	"struct": true, "switch": true, "typedef": true, "union": true,
	"unsigned": true, "version": true, "void": true,
}

// A parser reads one file by recursive descent. The first mistake ends it: it
// is thrown as a *srcError and caught in parse.
type parser struct {
	toks []token
	i    int
}

// parse reads the text of a .x file.
func parse(name, src string) (f *file, err error) {
	toks, err := lex(name, src)
	if err != nil {
		return nil, err
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *srcError:
			f, err = nil, e
		default:
			panic(e)
		}
	}()
	p := &parser{toks: toks}
	f = &file{name: name}
	for p.toks[p.i].kind != tokEOF {
		f.defs = append(f.defs, p.definition())
	}
	return f, nil
}

// peek returns the token to come. Inside a definition % lines are skipped: there
// is no place in the output that would correspond to theirs.
func (p *parser) peek() token {
	for p.toks[p.i].kind == tokPass {
		p.i++
	}
	return p.toks[p.i]
}

func (p *parser) next() token {
	t := p.peek()
	if t.kind != tokEOF {
		p.i++
	}
	return t
}

// is reports whether text comes next.
func (p *parser) is(text string) bool {
	t := p.peek()
	return t.kind != tokEOF && t.text == text
}

// accept takes text if it comes next.
func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(text string) token {
	t := p.next()
	if t.kind == tokEOF || t.text != text {
		p.fail(t, "expected %q, found %v", text, t)
	}
	return t
}

func (p *parser) fail(t token, format string, args ...any) {
	panic(errorAt(t.pos, format, args...))
}

func (p *parser) ident() token {
	t := p.next()
	switch {
	case t.kind != tokIdent:
		p.fail(t, "expected a name, found %v", t)
	case keywords[t.text]:
		p.fail(t, "%q is a keyword and cannot be a name", t.text)
	}
	return t
}

func (p *parser) value() value {
	t := p.next()
	if t.kind != tokNumber && (t.kind != tokIdent || keywords[t.text]) {
		p.fail(t, "expected a constant, found %v", t)
	}
	return value{t.pos, t.text}
}

func (p *parser) definition() def {
	t := p.toks[p.i]
	if t.kind == tokPass {
		return p.pass()
	}
	p.next()
	switch t.text {
	case "const":
		name := p.ident()
		p.expect("=")
		d := &constDef{pos: name.pos, name: name.text, value: p.value(), doc: t.lead}
		d.tail = p.expect(";").tail
		return d
	case "typedef":
		d := p.decl()
		if d.spec == nil {
			p.fail(t, "typedef of void")
		}
		p.expect(";")
		return &typeDef{pos: d.pos, name: d.name, decl: d, doc: t.lead}
	case "enum", "struct", "union":
		name := p.ident()
		d := &typeDef{pos: name.pos, name: name.text, doc: t.lead}
		d.decl = &decl{pos: name.pos, name: name.text, spec: p.body(t)}
		p.expect(";")
		return d
	case "program":
		return p.program(t)
	}
	p.fail(t, "expected a definition, found %v", t)
	return nil
}

func (p *parser) pass() def {
	d := &passDef{pos: p.toks[p.i].pos}
	for line := d.pos.line; ; line++ {
		t := p.toks[p.i]
		if t.kind != tokPass || t.pos.line != line {
			return d
		}
		d.text += t.text[1:] + "\n"
		p.i++
	}
}

// decl reads a declaration up to its semicolon.
func (p *parser) decl() *decl {
	first := p.peek()
	d := &decl{pos: first.pos, doc: first.lead}
	if p.accept("void") {
		return d
	}
	d.spec = p.spec()
	if p.accept("*") {
		d.form = optional
	}
	name := p.ident()
	d.pos, d.name = name.pos, name.text
	switch {
	case d.form == optional:
	case p.accept("["):
		d.form = fixed
		v := p.value()
		d.size = &v
		p.expect("]")
	case p.accept("<"):
		d.form = variable
		if !p.is(">") {
			v := p.value()
			d.size = &v
		}
		p.expect(">")
	}
	if b, ok := d.spec.(*basicSpec); ok {
		switch {
		case b.kind == kindOpaque && d.form != fixed && d.form != variable:
			p.fail(name, "opaque %s needs a size, [n] or <n>", d.name)
		case b.kind == kindString && d.form != variable:
			p.fail(name, "string %s needs a bound, <n> or <>", d.name)
		}
	}
	return d
}

// field reads a declaration and its semicolon.
func (p *parser) field() *decl {
	d := p.decl()
	d.tail = p.expect(";").tail
	return d
}

// spec reads a type specifier, in place or by name.
func (p *parser) spec() spec {
	t := p.next()
	basic := func(k kind) spec { return &basicSpec{t.pos, k} }
	switch t.text {
	case "int", "long":
		return basic(kindInt32)
	case "hyper":
		return basic(kindInt64)
	case "unsigned":
		switch {
		case p.accept("hyper"):
			return basic(kindUint64)
		case p.accept("int") || p.accept("long"):
		}
		return basic(kindUint32)
	case "float":
		return basic(kindFloat32)
	case "double":
		return basic(kindFloat64)
	case "bool":
		return basic(kindBool)
	case "opaque":
		return basic(kindOpaque)
	case "string":
		return basic(kindString)
	case "quadruple":
		p.fail(t, "quadruple is not supported")
	case "enum", "struct", "union":
		if n := p.peek(); n.kind == tokIdent && !keywords[n.text] {
			p.next()
			return &refSpec{n.pos, n.text}
		}
		return p.body(t)
	}
	if t.kind != tokIdent || keywords[t.text] {
		p.fail(t, "expected a type, found %v", t)
	}
	return &refSpec{t.pos, t.text}
}

// body reads what follows enum, struct or union.
func (p *parser) body(t token) spec {
	switch t.text {
	case "enum":
		return p.enum(t)
	case "struct":
		return p.structure(t)
	}
	return p.union(t)
}

func (p *parser) enum(t token) spec {
	s := &enumSpec{pos: t.pos}
	p.expect("{")
	for {
		name := p.ident()
		p.expect("=")
		item := &constDef{pos: name.pos, name: name.text, value: p.value(), doc: name.lead}
		item.tail = p.toks[p.i-1].tail
		s.items = append(s.items, item)
		if !p.is(",") {
			break
		}
		if c := p.next(); c.tail != "" {
			item.tail = c.tail
		}
	}
	p.expect("}")
	return s
}

func (p *parser) structure(t token) spec {
	s := &structSpec{pos: t.pos}
	p.expect("{")
	for {
		s.fields = append(s.fields, p.field())
		if p.accept("}") {
			return s
		}
	}
}

func (p *parser) union(t token) spec {
	s := &unionSpec{pos: t.pos}
	p.expect("switch")
	p.expect("(")
	s.disc = p.decl()
	p.expect(")")
	p.expect("{")
	for {
		a := &armSpec{pos: p.peek().pos}
		lead := p.peek().lead
		if p.accept("default") {
			a.isDefault = true
			p.expect(":")
		} else {
			for ok := true; ok; ok = p.is("case") {
				p.expect("case")
				a.cases = append(a.cases, p.value())
				p.expect(":")
			}
		}
		a.decl = p.field()
		if a.decl.doc == "" {
			a.decl.doc = lead
		}
		s.arms = append(s.arms, a)
		if p.accept("}") {
			return s
		}
		if a.isDefault {
			p.fail(p.peek(), "default must be the last arm, found %v", p.peek())
		}
	}
}

func (p *parser) program(t token) def {
	name := p.ident()
	d := &programDef{pos: name.pos, name: name.text, doc: t.lead}
	p.expect("{")
	for ok := true; ok; ok = !p.is("}") {
		d.versions = append(d.versions, p.version())
	}
	p.expect("}")
	p.expect("=")
	d.number = p.value()
	p.expect(";")
	return d
}

func (p *parser) version() version {
	t := p.expect("version")
	name := p.ident()
	v := version{pos: name.pos, name: name.text, doc: t.lead}
	p.expect("{")
	for ok := true; ok; ok = !p.is("}") {
		v.procs = append(v.procs, p.proc())
	}
	p.expect("}")
	p.expect("=")
	v.number = p.value()
	p.expect(";")
	return v
}

func (p *parser) proc() proc {
	lead := p.peek().lead
	var types []spec
	result := p.procType()
	name := p.ident()
	p.expect("(")
	args := p.procType()
	types = append(types, result...)
	types = append(types, args...)
	for args != nil && p.accept(",") {
		types = append(types, p.spec())
	}
	p.expect(")")
	p.expect("=")
	pr := proc{pos: name.pos, name: name.text, number: p.value(), doc: lead, types: types}
	pr.tail = p.expect(";").tail
	return pr
}

// procType reads the type of a result or an argument, none for void.
func (p *parser) procType() []spec {
	if p.accept("void") {
		return nil
	}
	return []spec{p.spec()}
}
