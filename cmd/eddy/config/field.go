package config

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Field is one setting of a struct.
type Field struct {
	Name        string
	Help        string
	Group       string
	Default     string
	Placeholder string
	Enum        []string
	value       reflect.Value
}

// Fields returns the settings of the struct that p points to, those of
// embedded structs among them.
func Fields(p any) []Field { return fieldsOf(reflect.ValueOf(p).Elem()) }

func fieldsOf(v reflect.Value) (fields []Field) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			fields = append(fields, fieldsOf(v.Field(i))...)
			continue
		}
		name := f.Tag.Get("toml")
		if name == "" {
			continue
		}
		field := Field{
			Name:        name,
			Help:        f.Tag.Get("help"),
			Group:       f.Tag.Get("group"),
			Default:     f.Tag.Get("default"),
			Placeholder: f.Tag.Get("placeholder"),
			value:       v.Field(i),
		}
		if e := f.Tag.Get("enum"); e != "" {
			field.Enum = strings.Split(e, ",")
		}
		fields = append(fields, field)
	}
	return fields
}

// Env is the name of the variable that sets the field.
func (f Field) Env() string {
	return "EDDY_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// Texts are the field's values as set takes them: one, or those of a list.
func (f Field) Texts() []string {
	if f.value.Kind() != reflect.Slice {
		return []string{text(f.value)}
	}
	list := []string{}
	for i := range f.value.Len() {
		list = append(list, text(f.value.Index(i)))
	}
	return list
}

func text(v reflect.Value) string {
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		b, err := m.MarshalText()
		if err != nil {
			panic(err) // not from the types of this package
		}
		return string(b)
	}
	return fmt.Sprint(v.Interface())
}

// setText sets the field as a flag or variable does. Lists are separated by
// commas.
func (f Field) setText(s string) error {
	if f.value.Kind() != reflect.Slice {
		return f.setOne(f.value, s, true)
	}
	return f.set(slices.DeleteFunc(strings.Split(s, ","), func(s string) bool { return s == "" }), true)
}

// setTOML sets the field to a value of the file.
func (f Field) setTOML(v any) error {
	if f.value.Kind() != reflect.Slice {
		return f.setOne(f.value, v, false)
	}
	var list []string
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			s, ok := x.(string)
			if !ok {
				return fmt.Errorf("wants a list of strings, such as [%q], not of %s", f.example(), kindOf(x))
			}
			list = append(list, s)
		}
	case string:
		list = []string{v}
	default:
		return fmt.Errorf("wants a list of strings, such as [%q], not %s", f.example(), kindOf(v))
	}
	return f.set(list, false)
}

func (f Field) example() string {
	switch {
	case f.value.Type() == reflect.TypeFor[[]Network]():
		return "192.0.2.0/24"
	default:
		return f.Default
	}
}

// set makes a list of its own: one that was copied from elsewhere stays there
// as it is.
func (f Field) set(list []string, loose bool) error {
	made := reflect.MakeSlice(f.value.Type(), len(list), len(list))
	for i, s := range list {
		if err := f.setOne(made.Index(i), s, loose); err != nil {
			return err
		}
	}
	f.value.Set(made)
	return nil
}

// setOne sets dst to v. Loose takes the text of a flag for any kind of value.
func (f Field) setOne(dst reflect.Value, v any, loose bool) error {
	if u, ok := dst.Addr().Interface().(encoding.TextUnmarshaler); ok {
		switch v.(type) {
		case string, int64:
			return u.UnmarshalText(fmt.Append(nil, v))
		}
		return fmt.Errorf("wants a string, not %s", kindOf(v))
	}
	s, isText := v.(string)
	switch dst.Kind() {
	case reflect.String:
		if !isText {
			return fmt.Errorf("wants a string, not %s", kindOf(v))
		}
		if f.Enum != nil && !slices.Contains(f.Enum, s) {
			return fmt.Errorf("is %s, not %q", or(f.Enum), s)
		}
		dst.SetString(s)
		return nil
	case reflect.Bool:
		b, ok := v.(bool)
		if isText && loose {
			var err error
			b, err = ParseBool(s)
			ok = err == nil
		}
		if !ok {
			return fmt.Errorf("wants true or false, not %s", kindOf(v))
		}
		dst.SetBool(b)
		return nil
	}
	limit := int64(math.MaxInt32)
	if dst.Kind() == reflect.Uint32 {
		limit = math.MaxUint32 - 1 // (uid_t)-1 is nobody's
	}
	n, ok := v.(int64)
	if isText && loose {
		var err error
		n, err = strconv.ParseInt(s, 10, 64)
		ok = err == nil
	}
	if !ok || n < 0 || n > limit {
		return fmt.Errorf("wants a number from 0 to %d, not %s", limit, kindOf(v))
	}
	if dst.CanUint() {
		dst.SetUint(uint64(n))
	} else {
		dst.SetInt(n)
	}
	return nil
}

// ParseBool takes what people write for a switch; nothing is "on".
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "", "true", "on", "yes", "1":
		return true, nil
	case "false", "off", "no", "0":
		return false, nil
	}
	return false, strconv.ErrSyntax
}

// kindOf says what somebody wrote.
func kindOf(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case bool, int64, float64:
		return fmt.Sprint(v)
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date"
}

// or is a list as a sentence has it: "a, b or c".
func or(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// CheckValue checks a value as a flag would have it.
func CheckValue(name, value string) error {
	for _, f := range Fields(new(Config)) {
		if f.Name == name {
			if err := f.setText(value); err != nil {
				return fmt.Errorf("%s %w", name, err)
			}
		}
	}
	return nil
}

// TOML is the field's value as the file has it.
func (f Field) TOML() string {
	texts := f.Texts()
	for i, s := range texts {
		if k := f.value.Kind(); k != reflect.Bool && k != reflect.Uint32 && f.value.Type() != reflect.TypeFor[int]() {
			texts[i] = quote(s)
		}
	}
	if f.value.Kind() == reflect.Slice {
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return texts[0]
}

// quote writes a basic string of TOML.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
