package config

import (
	"fmt"
	"reflect"
	"slices"
)

// Given is what a process has been started with.
type Given struct {
	// Flags has the command line's values, of those flags that Set names.
	Flags *Config
	Set   func(name string) bool

	// Dir is the command line's DIR: an export with the path "/".
	Dir string

	// Getenv looks up a variable; nil: there are none.
	Getenv func(string) (string, bool)
}

// Load puts together what flags, environment and file say. Directories are
// not looked at yet: see [Config.FindDirs].
func (g Given) Load() (*Config, error) {
	c := Default()
	c.from = make(map[string]string)
	if g.Flags == nil {
		g.Flags = new(Config)
	}
	flags := Fields(g.Flags)
	fields := Fields(c)

	// What names the file cannot come from it.
	if err := g.overlay(fields[:1], flags[:1], c.from); err != nil {
		return nil, err
	}
	if c.File != "" {
		f, err := readFile(c.File)
		if err != nil {
			return nil, err
		}
		for _, a := range f.top {
			if err := a.apply(fields); err != nil {
				return nil, err
			}
			c.from[a.name] = a.where
		}
		if c.Exports = f.exports; len(c.Exports) > 0 {
			c.from["export"] = c.File
		}
	}
	if err := g.overlay(fields, flags, c.from); err != nil {
		return nil, err
	}
	if g.Dir != "" {
		if c.from["export"] != "--export" { // DIR, too, goes before the environment and the file
			c.Exports = nil
		}
		dir := Export{where: "DIR", given: []assignment{{name: "path", value: "/"}, {name: "dir", value: g.Dir}}}
		c.Exports = append([]Export{dir}, c.Exports...)
		c.from["export"] = "DIR"
	}
	for i := range c.Exports {
		if err := c.Exports[i].finish(c.Terms); err != nil {
			return nil, err
		}
	}
	return c, c.validate()
}

// overlay puts what flags and variables say in the place of what fields have.
func (g Given) overlay(fields, flags []Field, from map[string]string) error {
	for i, f := range fields {
		switch value, inEnv := g.getenv(f.Env()); {
		case g.Set != nil && g.Set(f.Name):
			f.value.Set(flags[i].value)
			from[f.Name] = "--" + f.Name
		case inEnv && f.Name == "export":
			var x Export
			if err := x.UnmarshalText([]byte(value)); err != nil {
				return fmt.Errorf("%s %w", f.Env(), err)
			}
			f.value.Set(reflect.ValueOf([]Export{x}))
			from[f.Name] = f.Env()
		case inEnv:
			if err := f.setText(value); err != nil {
				return fmt.Errorf("%s %w", f.Env(), err)
			}
			from[f.Name] = f.Env()
		}
	}
	return nil
}

func (g Given) getenv(name string) (string, bool) {
	if g.Getenv == nil {
		return "", false
	}
	return g.Getenv(name)
}

// apply sets the one of fields that a is about. Errors say where.
func (a assignment) apply(fields []Field) error {
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == a.name })
	set := fields[i].setTOML
	if a.loose {
		set = func(v any) error { return fields[i].setText(v.(string)) }
	}
	if err := set(a.value); err != nil {
		return fmt.Errorf("%s: %s %w", a.where, a.name, err)
	}
	return nil
}

// ConfigFile is the configuration file that flags or environment name, or "".
func (g Given) ConfigFile() string {
	c := new(Config)
	if err := g.overlay(Fields(c)[:1], Fields(g.Flags)[:1], make(map[string]string)); err != nil {
		return ""
	}
	return c.File
}
