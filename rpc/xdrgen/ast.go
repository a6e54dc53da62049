package main

// The syntax of a .x file, RFC 4506 §6.3 and RFC 5531 §12.2.

// A file is one .x file.
type file struct {
	name string
	defs []def
}

// A def is a *constDef, *typeDef, *programDef or *passDef.
type def interface{ defPos() pos }

// A value is a constant: a number or the name of one.
type value struct {
	pos  pos
	text string
}

type constDef struct {
	pos       pos
	name      string
	value     value
	doc, tail string
}

// A typeDef gives a type a name: typedef, enum, struct or union.
type typeDef struct {
	pos  pos
	name string
	decl *decl // of a typedef; otherwise its spec alone is set
	doc  string
}

type programDef struct {
	pos      pos
	name     string
	number   value
	doc      string
	versions []version
}

type version struct {
	pos    pos
	name   string
	number value
	doc    string
	procs  []proc
}

type proc struct {
	pos       pos
	name      string
	number    value
	doc, tail string
	types     []spec // of result and arguments, void left out
}

// A passDef holds consecutive % lines.
type passDef struct {
	pos  pos
	text string
}

func (d *constDef) defPos() pos   { return d.pos }
func (d *typeDef) defPos() pos    { return d.pos }
func (d *programDef) defPos() pos { return d.pos }
func (d *passDef) defPos() pos    { return d.pos }

// A form is how a declaration extends its type specifier.
type form int

const (
	plain    form = iota
	fixed         // T name[size]
	variable      // T name<size>
	optional      // T *name
)

// A decl declares a field, an arm or a typedef. The spec of void is nil.
type decl struct {
	pos       pos
	name      string
	spec      spec
	form      form
	size      *value // nil: variable without a bound
	doc, tail string
}

// A spec is a *basicSpec, *refSpec, *enumSpec, *structSpec or *unionSpec.
type spec interface{ specPos() pos }

type basicSpec struct {
	pos  pos
	kind kind
}

type refSpec struct {
	pos  pos
	name string
}

type enumSpec struct {
	pos   pos
	items []*constDef
}

type structSpec struct {
	pos    pos
	fields []*decl
}

type unionSpec struct {
	pos  pos
	disc *decl
	arms []*armSpec
}

type armSpec struct {
	pos       pos
	cases     []value
	isDefault bool
	decl      *decl
}

func (s *basicSpec) specPos() pos  { return s.pos }
func (s *refSpec) specPos() pos    { return s.pos }
func (s *enumSpec) specPos() pos   { return s.pos }
func (s *structSpec) specPos() pos { return s.pos }
func (s *unionSpec) specPos() pos  { return s.pos }
