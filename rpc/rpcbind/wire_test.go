package rpcbind

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"testing"

	"eddy.example/rpc/xdrgen/xdrtest"
)

type message struct {
	name string
	v    xdrtest.Value
	wire string
}

const (
	mappingBytes = "000186a3 00000003 00000006 00000801 ; program, version, TCP, port\n"
	rpcbBytes    = `
		000186a3 00000004 ; program, version
		00000004 74637036 ; tcp6
		00000006 3a3a2e382e31 0000 ; ::.8.1
		00000004 31303030 ; owner 1000
	`
	entryBytes = `
		0000000d 3139322e302e322e312e382e31 000000 ; 192.0.2.1.8.1
		00000003 756470 00 ; udp
		00000001 ; datagrams
		00000004 696e6574 ; inet
		00000003 756470 00 ; udp
	`
)

func messages() []message {
	e4 := Entry{100003, 3, "tcp", addr("0.0.0.0:2049"), ""}
	e6 := Entry{100003, 4, "tcp6", addr("[::]:2049"), "1000"}
	udp := Entry{Network: "udp"}
	m, _ := e4.mapping()
	r := e6.rpcb()
	d := udp.detail(addr("192.0.2.1:2049"))
	return []message{
		{"GETPORT call", &m, mappingBytes},
		{"DUMP of version 2", &PmaplistPtr{{m}, {m}}, "00000001" + mappingBytes + "00000001" + mappingBytes + "00000000"},
		{"DUMP of version 2, empty", &PmaplistPtr{}, "00000000"},
		{"GETADDR call", &r, rpcbBytes},
		{"GETADDR result", ptr(Uaddr("::.8.1")), "00000006 3a3a2e382e31 0000"},
		{"GETADDR result, none", &Uaddr{}, "00000000"},
		{"DUMP result", &RpcblistPtr{{r}}, "00000001" + rpcbBytes + "00000000"},
		{"UADDR2TADDR result", &Netbuf{Maxlen: 16, Buf: []byte{1, 2, 3}}, "00000010 00000003 010203 00"},
		{"GETADDRLIST result", &RpcbEntryListPtr{{d}}, "00000001" + entryBytes + "00000000"},
	}
}

func ptr[T any](v T) *T { return &v }

func TestGolden(t *testing.T) {
	for _, m := range messages() {
		t.Run(m.name, func(t *testing.T) { xdrtest.Golden(t, m.v, m.wire) })
	}
}

// wireTypes are the types that the golden messages consist of, by name.
func wireTypes() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		types[t.Name()] = t
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				walk(t.Field(i).Type)
			}
		}
	}
	for _, m := range messages() {
		walk(reflect.TypeOf(m.v))
	}
	return types
}

func TestGoldenIsComplete(t *testing.T) {
	types := wireTypes()
	f, err := parser.ParseFile(token.NewFileSet(), "zz_rpcbind.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.TypeSpec); ok && types[s.Name.Name] == nil {
			t.Errorf("%s is in no golden message", s.Name.Name)
		}
		return true
	})
}

func TestRoundTrip(t *testing.T) {
	for name, typ := range wireTypes() {
		if v, ok := reflect.New(typ).Interface().(xdrtest.Value); ok && name != "" {
			t.Run(name, func(t *testing.T) { xdrtest.RoundTrip(t, v, nil) })
		}
	}
}
