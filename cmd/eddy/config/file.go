package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// An assignment is a setting that somebody has written down.
type assignment struct {
	name  string
	value any    // a string if it is a flag's, else what TOML has
	where string // "eddy.toml:3", or the flag
	loose bool   // a flag's: text stands for every kind of value
}

// file is what a configuration file says.
type file struct {
	name    string
	lines   map[position]int
	top     []assignment
	exports []Export
}

// A position is a key in a file: of table number n of the exports, or of the
// top (-1).
type position struct {
	table int
	key   string
}

// readFile reads a file and checks that all its keys are known.
func readFile(name string) (*file, error) {
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("no such file: %s: give another with --config, or none", name)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("no rights to read %s: run as its owner or as root", name)
	case err != nil:
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return parseFile(name, string(text))
}

func parseFile(name, text string) (*file, error) {
	f := &file{name: name, lines: scanLines(text)}
	var all map[string]any
	if _, err := toml.Decode(text, &all); err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			return nil, fmt.Errorf("%s:%d: %s", name, at.Position.Line, oneLine(at.Message))
		}
		return nil, fmt.Errorf("%s: %s", name, oneLine(err.Error()))
	}
	own, terms := names(new(Config)), names(new(Export))
	for _, key := range f.inOrder(-1, all) {
		if key == "export" {
			if err := f.parseExports(all[key], own, terms); err != nil {
				return nil, err
			}
			continue
		}
		if !slices.Contains(own, key) {
			return nil, f.unknown(-1, key, own, terms)
		}
		if key == "config" {
			return nil, f.errorf(-1, key, "config cannot be in the file itself: remove it")
		}
		f.top = append(f.top, assignment{name: key, value: all[key], where: f.where(-1, key)})
	}
	return f, nil
}

func (f *file) parseExports(v any, own, terms []string) error {
	tables, ok := v.([]map[string]any)
	if list, isList := v.([]any); isList {
		ok = true
		for _, x := range list {
			t, isTable := x.(map[string]any)
			ok = ok && isTable
			tables = append(tables, t)
		}
	}
	if !ok {
		return f.errorf(-1, "export", "export wants tables: write [[export]] above the keys of each")
	}
	for i, t := range tables {
		x := Export{where: f.where(i, "")}
		for _, key := range f.inOrder(i, t) {
			if !slices.Contains(terms, key) {
				return f.unknown(i, key, terms, own)
			}
			x.given = append(x.given, assignment{name: key, value: t[key], where: f.where(i, key)})
		}
		f.exports = append(f.exports, x)
	}
	return nil
}

// unknown is the error for a key that is none of a table's names, and may be
// one of the other kind of table.
func (f *file) unknown(table int, key string, here, elsewhere []string) error {
	switch near := Nearest(key, here); {
	case slices.Contains(elsewhere, key) && table < 0:
		return f.errorf(table, key, "%s is a key of an export: write it below [[export]]", key)
	case slices.Contains(elsewhere, key):
		return f.errorf(table, key, "%s is a key of the server: write it above the first [[export]]", key)
	case near != "":
		return f.errorf(table, key, "unknown key %q: did you mean %s?", key, near)
	}
	return f.errorf(table, key, "unknown key %q: the keys are the flags that eddy serve --help lists", key)
}

func (f *file) errorf(table int, key, format string, args ...any) error {
	return fmt.Errorf("%s: %s", f.where(table, key), fmt.Sprintf(format, args...))
}

func (f *file) where(table int, key string) string {
	for _, p := range []position{{table, key}, {table, ""}, {-1, key}, {-1, "export"}} {
		if line := f.lines[p]; line > 0 {
			return fmt.Sprintf("%s:%d", f.name, line)
		}
	}
	return f.name
}

// inOrder returns the keys of a table as the file has them.
func (f *file) inOrder(table int, t map[string]any) []string {
	keys := slices.Sorted(maps.Keys(t))
	slices.SortStableFunc(keys, func(a, b string) int {
		return f.lines[position{table, a}] - f.lines[position{table, b}]
	})
	return keys
}

// scanLines finds the line of each key and of each [[export]] (key ""): the
// parser tells them only of what it does not understand.
func scanLines(text string) map[position]int {
	lines := make(map[position]int)
	table, exports := -1, 0
	for n, line := range slices.Collect(strings.Lines(text)) {
		line = strings.TrimSpace(line)
		header := strings.NewReplacer(" ", "", `"`, "", "'", "").Replace(line)
		switch {
		case strings.HasPrefix(header, "[[export]]"):
			table = exports
			exports++
			lines[position{table, ""}] = n + 1
		case strings.HasPrefix(line, "["):
			name, _, _ := strings.Cut(strings.Trim(header, "["), "]")
			if _, seen := lines[position{-1, name}]; !seen && !strings.ContainsAny(name, ",=") {
				lines[position{-1, name}] = n + 1
			}
		default:
			key, _, ok := strings.Cut(line, "=")
			key = strings.Trim(strings.TrimSpace(key), `"'`)
			key, _, _ = strings.Cut(key, ".")
			if _, seen := lines[position{table, key}]; ok && !seen && !strings.HasPrefix(key, "#") {
				lines[position{table, key}] = n + 1
			}
		}
	}
	return lines
}

// names are the keys of a struct's settings.
func names(p any) (list []string) {
	for _, f := range Fields(p) {
		list = append(list, f.Name)
	}
	return list
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
