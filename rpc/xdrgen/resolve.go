package main

import (
	"math"
	"strconv"
)

// A schema is the meaning of a set of .x files that make up one Go package.
type schema struct {
	consts map[string]constant
	types  map[string]*typ     // by name in the .x files
	scope  map[string]pos      // names of the .x files, which share one name space
	golang map[string]string   // Go names in use, and what they stand for
	inline map[*typeDef][]*typ // types defined within it, to be declared before it
	defs   map[string]*typeDef
	outer  *typeDef // definition being resolved
}

type constant struct {
	num  int64
	name string // in Go
	enum bool   // of an enum's type
}

// maxFixed is the largest size of a fixed-length array, in bytes on the wire.
const maxFixed = 1 << 24

// resolve gives the files' names their meaning and checks what the grammar
// does not say.
func resolve(files []*file) (s *schema, err error) {
	s = &schema{
		consts: map[string]constant{"TRUE": {num: 1, enum: true}, "FALSE": {enum: true}},
		types:  map[string]*typ{},
		scope:  map[string]pos{"TRUE": {}, "FALSE": {}},
		golang: map[string]string{},
		inline: map[*typeDef][]*typ{},
		defs:   map[string]*typeDef{},
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *srcError:
			s, err = nil, e
		default:
			panic(e)
		}
	}()
	for name, k := range predefined {
		s.types[name] = &typ{kind: k, resolved: true}
	}
	for _, f := range files {
		for _, d := range f.defs {
			s.declare(d)
		}
	}
	for _, f := range files {
		for _, d := range f.defs {
			switch d := d.(type) {
			case *typeDef:
				s.typeNamed(d.pos, d.name)
			case *programDef:
				s.program(d)
			}
		}
	}
	return s, nil
}

func fail(p pos, format string, args ...any) { panic(errorAt(p, format, args...)) }

// enter adds a name of the .x files to their name space and its Go form to the
// package's.
func (s *schema) enter(p pos, xname, gname string) {
	if first, ok := s.scope[xname]; ok {
		if first == (pos{}) {
			fail(p, "%s is predefined", xname)
		}
		fail(p, "%s is already defined at %v", xname, first)
	}
	s.scope[xname] = p
	if other, ok := s.golang[gname]; ok {
		fail(p, "%s and %s both become %s in Go", xname, other, gname)
	}
	s.golang[gname] = xname
}

// declare makes a definition's names known. Constants get their values here:
// they may only refer to what comes before them.
func (s *schema) declare(d def) {
	switch d := d.(type) {
	case *constDef:
		s.constant(d)
	case *typeDef:
		if k, ok := predefined[d.name]; ok {
			if b, ok := d.decl.spec.(*basicSpec); !ok || b.kind != k || d.decl.form != plain {
				fail(d.pos, "%s is predefined as something else", d.name)
			}
			return
		}
		s.enter(d.pos, d.name, goName(d.name))
		s.defs[d.name] = d
		s.declareEnums(d.decl)
	case *programDef:
		s.declareNumber(d.pos, d.name, d.number)
		versions := map[int64]bool{}
		for _, v := range d.versions {
			if n := s.declareNumber(v.pos, v.name, v.number); versions[n] {
				fail(v.pos, "version %d occurs twice in %s", n, d.name)
			} else {
				versions[n] = true
			}
			procs := map[int64]bool{}
			for _, pr := range v.procs {
				if n := s.declareNumber(pr.pos, pr.name, pr.number); procs[n] {
					fail(pr.pos, "procedure %d occurs twice in %s", n, v.name)
				} else {
					procs[n] = true
				}
			}
		}
	}
}

func (s *schema) constant(d *constDef) int64 {
	n := s.eval(d.value)
	s.enter(d.pos, d.name, goConst(d.name))
	s.consts[d.name] = constant{num: n, name: goConst(d.name)}
	return n
}

func (s *schema) declareNumber(p pos, name string, v value) int64 {
	n := s.constant(&constDef{pos: p, name: name, value: v})
	if n < 0 || n > math.MaxUint32 {
		fail(v.pos, "%s = %s is not an unsigned 32-bit number", name, v.text)
	}
	return n
}

// declareEnums declares the items of the enums in a declaration.
func (s *schema) declareEnums(d *decl) {
	switch sp := d.spec.(type) {
	case *enumSpec:
		for _, it := range sp.items {
			if n := s.constant(it); n < math.MinInt32 || n > math.MaxInt32 {
				fail(it.value.pos, "%s = %s is not a signed 32-bit number", it.name, it.value.text)
			}
			c := s.consts[it.name]
			c.enum = true
			s.consts[it.name] = c
		}
	case *structSpec:
		for _, f := range sp.fields {
			s.declareEnums(f)
		}
	case *unionSpec:
		s.declareEnums(sp.disc)
		for _, a := range sp.arms {
			s.declareEnums(a.decl)
		}
	}
}

// eval returns the number v stands for. Those that only an unsigned hyper holds
// are good for nothing but a const and come back as the largest int64.
func (s *schema) eval(v value) int64 {
	if c, ok := s.consts[v.text]; ok {
		return c.num
	}
	if isLetter(v.text[0]) {
		fail(v.pos, "%s is not a constant defined before", v.text)
	}
	if len(v.text) > 1 && isLetter(v.text[1]) && v.text[1] != 'x' && v.text[1] != 'X' {
		fail(v.pos, "%s is not a number", v.text)
	}
	n, err := strconv.ParseInt(v.text, 0, 64)
	if err != nil {
		if _, err := strconv.ParseUint(v.text, 0, 64); err != nil {
			fail(v.pos, "%s is not a number of 64 bits", v.text)
		}
		return math.MaxInt64
	}
	return n
}

// expr returns v as Go has it: a number, or the name of an untyped constant.
func (s *schema) expr(v value) string {
	c, ok := s.consts[v.text]
	switch {
	case !ok:
		return v.text
	case c.enum:
		return strconv.FormatInt(c.num, 10)
	}
	return c.name
}

// size evaluates a length or bound.
func (s *schema) size(v value) (uint32, string) {
	n := s.eval(v)
	if n < 0 || n > math.MaxUint32 {
		fail(v.pos, "%s is not a length", v.text)
	}
	return uint32(n), s.expr(v)
}

// typeNamed returns the type a name stands for, resolving its definition first
// if that has not been done. A type met again while its definition is being
// resolved would contain itself.
func (s *schema) typeNamed(p pos, name string) *typ {
	if t, ok := s.types[name]; ok {
		if !t.resolved {
			fail(p, "%s contains itself; only a list can: a struct whose last member is an optional pointer to it", name)
		}
		return t
	}
	d, ok := s.defs[name]
	if !ok {
		fail(p, "%s is not a type", name)
	}
	outer := s.outer
	s.outer = d
	defer func() { s.outer = outer }()

	t := &typ{xname: name, name: goName(name), pos: d.pos, doc: d.doc}
	s.types[name] = t
	s.declared(t, d.decl, name+".elem", t.name+"Elem")
	t.resolved = true
	return t
}

// declared resolves a declaration into t. Where a body is only a part of t, it
// becomes a type of the given names.
func (s *schema) declared(t *typ, d *decl, xname, name string) {
	var of *typ
	switch sp := d.spec.(type) {
	case *basicSpec:
		of = &typ{kind: sp.kind}
	case *refSpec:
		of = s.typeNamed(sp.pos, sp.name)
		if d.form != optional && s.isListElem(sp.name) {
			fail(sp.pos, "%s is an element of a list and can only be declared as %s *%s", sp.name, sp.name, d.name)
		}
	default:
		if d.form == plain {
			s.fill(t, sp)
			return
		}
		of = s.inPlace(sp, d, xname, name)
	}
	switch d.form {
	case optional:
		t.kind, t.elem = kindOptional, of
		if ref, ok := d.spec.(*refSpec); ok && s.isListElem(ref.name) {
			t.kind = kindList
		}
	case fixed:
		t.kind, t.elem = kindArray, of
		t.n, t.bound = s.size(*d.size)
		if of.kind == kindOpaque {
			t.kind = kindOpaqueFixed
		}
		if n, _ := t.wireSize(); n > maxFixed {
			fail(d.size.pos, "%s would take more than %d bytes", d.name, maxFixed)
		}
	case variable:
		t.kind, t.elem = kindSlice, of
		t.n = math.MaxUint32
		if d.size != nil {
			t.n, t.bound = s.size(*d.size)
		}
		if b, ok := d.spec.(*basicSpec); ok && (b.kind == kindOpaque || b.kind == kindString) {
			t.kind = b.kind
		} else if of.minSize() == 0 {
			fail(d.pos, "%s would be an array of elements without size", d.name)
		}
	case plain:
		alias := *of
		alias.xname, alias.name, alias.pos, alias.doc, alias.alias = t.xname, t.name, t.pos, t.doc, of
		*t = alias
	}
}

// inPlace resolves the body of an enum, struct or union that is part of d into a
// type of its own, declared in Go before the type it is found in.
func (s *schema) inPlace(sp spec, d *decl, xname, name string) *typ {
	s.enter(d.pos, xname, name)
	t := &typ{xname: xname, name: name, pos: d.pos, doc: d.doc}
	s.fill(t, sp)
	s.inline[s.outer] = append(s.inline[s.outer], t)
	return t
}

// fill resolves the body of an enum, struct or union into t.
func (s *schema) fill(t *typ, sp spec) {
	switch sp := sp.(type) {
	case *enumSpec:
		t.kind = kindEnum
		for _, it := range sp.items {
			c := s.consts[it.name]
			text := it.value.text
			if ref, ok := s.consts[text]; ok && ref.enum {
				text = strconv.FormatInt(c.num, 10)
			}
			t.items = append(t.items, item{c.name, text, c.num, it.doc, it.tail})
		}
	case *structSpec:
		t.kind = kindStruct
		fields := sp.fields
		if link := fields[len(fields)-1]; s.isLink(link, t.xname) {
			if fields = fields[:len(fields)-1]; len(fields) == 0 {
				fail(link.pos, "%s is a list of nothing", t.xname)
			}
		}
		for _, d := range fields {
			if d.spec == nil {
				fail(d.pos, "void is no member of a struct")
			}
			t.fields = append(t.fields, s.field(t, d))
		}
		s.unique(t)
	case *unionSpec:
		s.union(t, sp)
	}
}

func (s *schema) field(parent *typ, d *decl) field {
	f := field{pos: d.pos, name: goName(d.name), doc: d.doc, tail: d.tail}
	xname, name := parent.xname+"."+d.name, parent.name+f.name
	ref, isRef := d.spec.(*refSpec)
	_, isBasic := d.spec.(*basicSpec)
	switch {
	case d.form != plain || isBasic:
		f.typ = &typ{pos: d.pos}
		s.declared(f.typ, d, xname, name)
	case isRef && !s.isListElem(ref.name):
		f.typ = s.typeNamed(ref.pos, ref.name)
	case isRef:
		s.declared(&typ{}, d, xname, name)
	default:
		f.typ = s.inPlace(d.spec, d, xname, name)
	}
	return f
}

// isLink reports whether d, the last member of the struct called name, is the
// link to the next element of a list.
func (s *schema) isLink(d *decl, name string) bool {
	ref, ok := d.spec.(*refSpec)
	if !ok || name == "" {
		return false
	}
	if d.form == plain {
		if def, ok := s.defs[ref.name]; ok && def.decl.form == optional {
			ref, ok = def.decl.spec.(*refSpec)
			return ok && ref.name == name
		}
	}
	return d.form == optional && ref.name == name
}

// isListElem reports whether name is a struct that ends in a link to the next.
func (s *schema) isListElem(name string) bool {
	def, ok := s.defs[name]
	if !ok {
		return false
	}
	body, ok := def.decl.spec.(*structSpec)
	return ok && def.decl.form == plain && s.isLink(body.fields[len(body.fields)-1], name)
}

func (s *schema) union(t *typ, sp *unionSpec) {
	t.kind = kindUnion
	if sp.disc.spec == nil || sp.disc.form != plain {
		fail(sp.disc.pos, "a union switches on an integer, a bool or an enum")
	}
	disc := s.field(t, sp.disc)
	switch disc.typ.kind {
	case kindInt32, kindUint32, kindBool, kindEnum:
	default:
		fail(sp.disc.pos, "a union switches on an integer, a bool or an enum")
	}
	t.fields = []field{disc}
	seen := map[int64]bool{}
	for _, a := range sp.arms {
		out := arm{isDefault: a.isDefault}
		for _, v := range a.cases {
			n := s.eval(v)
			if seen[n] {
				fail(v.pos, "case %s occurs twice", v.text)
			}
			seen[n] = true
			if !disc.typ.allows(n) {
				fail(v.pos, "case %s is no value of %s", v.text, sp.disc.name)
			}
			out.cases = append(out.cases, disc.typ.literal(n, s.expr(v)))
			out.nums = append(out.nums, n)
		}
		if a.decl.spec != nil {
			f := s.field(t, a.decl)
			out.field = &f
		}
		t.arms = append(t.arms, out)
	}
	s.unique(t)
}

// literal returns the Go constant for the value n of the integer type t, which
// the .x file calls expr.
func (t *typ) literal(n int64, expr string) string {
	switch t.kind {
	case kindBool:
		return strconv.FormatBool(n == 1)
	case kindEnum:
		for _, it := range t.items {
			if it.num == n {
				return it.name
			}
		}
	}
	return expr
}

// allows reports whether n is a value of the integer type t.
func (t *typ) allows(n int64) bool {
	switch t.kind {
	case kindInt32:
		return math.MinInt32 <= n && n <= math.MaxInt32
	case kindUint32:
		return 0 <= n && n <= math.MaxUint32
	case kindBool:
		return n == 0 || n == 1
	}
	for _, it := range t.items {
		if it.num == n {
			return true
		}
	}
	return false
}

// unique checks that the members of a struct or union have names of their own.
func (s *schema) unique(t *typ) {
	seen := map[string]bool{}
	check := func(f *field) {
		if seen[f.name] {
			fail(f.pos, "%s has two members that become %s in Go", t.xname, f.name)
		}
		seen[f.name] = true
	}
	for i := range t.fields {
		check(&t.fields[i])
	}
	for _, a := range t.arms {
		if a.field != nil {
			check(a.field)
		}
	}
}

// program checks the types of the procedures.
func (s *schema) program(d *programDef) {
	for _, v := range d.versions {
		for _, pr := range v.procs {
			for _, sp := range pr.types {
				switch sp := sp.(type) {
				case *basicSpec:
				case *refSpec:
					s.typeNamed(sp.pos, sp.name)
					if s.isListElem(sp.name) {
						fail(sp.pos, "%s is an element of a list, not a list", sp.name)
					}
				default:
					fail(sp.specPos(), "type of a procedure must have a name")
				}
			}
		}
	}
}
