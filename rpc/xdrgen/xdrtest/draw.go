package xdrtest

import (
	"fmt"
	"reflect"

	"pgregory.net/rapid"
)

// Limits gives the bounds of variable-length data, which Go types do not show,
// by "Type.Field" or, for a type with a name of its own, "Type". What is not
// listed stays below 6 elements.
type Limits map[string]int

func (l Limits) limit(name string, t reflect.Type) int {
	if n, ok := l[t.Name()]; ok && t.Name() != "" {
		return n
	}
	if n, ok := l[name]; ok {
		return n
	}
	return 6
}

// A drawer draws random values.
type drawer struct {
	limits Limits
	enums  map[reflect.Type][]int64 // values of the enums met so far
}

// draw fills v, the field called name, with random contents. All arms of a union
// are filled; encoding takes the one that counts.
func (d *drawer) draw(t *rapid.T, v reflect.Value, name string) {
	if _, ok := v.Interface().(interface{ Known() bool }); ok {
		if d.enums[v.Type()] == nil {
			d.enums[v.Type()] = known(v.Type())
		}
		v.SetInt(rapid.SampledFrom(d.enums[v.Type()]).Draw(t, name))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case reflect.Int32, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, name) >> (64 - v.Type().Bits()))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, name) >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, name))
	case reflect.Slice:
		n := rapid.IntRange(0, d.limits.limit(name, v.Type())).Draw(t, name+" length")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			d.draw(t, v.Index(i), name)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			d.draw(t, v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name)
		}
	default:
		panic(fmt.Sprintf("no generated type has a %v", v.Type()))
	}
}

// known returns the values of an enum, those that are not far out.
func known(t reflect.Type) (values []int64) {
	v := reflect.New(t).Elem()
	for n := int64(-100); n < 11000; n++ {
		v.SetInt(n)
		if v.Interface().(interface{ Known() bool }).Known() {
			values = append(values, n)
		}
	}
	return values
}
