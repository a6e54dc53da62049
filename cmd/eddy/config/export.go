package config

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// UnmarshalText implements encoding.TextUnmarshaler: it takes
// PATH=DIR[,KEY=VALUE...], as --export does. A KEY that may be repeated
// collects its values; a KEY alone is a switch that is on.
func (x *Export) UnmarshalText(text []byte) error {
	terms := strings.Split(string(text), ",")
	p, dir, ok := strings.Cut(terms[0], "=")
	if !ok || dir == "" {
		return fmt.Errorf("wants PATH=DIR, such as /data=/srv/data, not %q", text)
	}
	*x = Export{where: "--export " + p}
	x.add("path", p)
	x.add("dir", dir)
	known := names(x)
	for _, term := range terms[1:] {
		key, value, _ := strings.Cut(term, "=")
		if !slices.Contains(known, key) {
			if near := Nearest(key, known); near != "" {
				return fmt.Errorf("%s: unknown key %q: did you mean %s?", p, key, near)
			}
			return fmt.Errorf("%s: unknown key %q: the keys are %s", p, key, or(known[2:]))
		}
		x.add(key, value)
	}
	return nil
}

func (x *Export) add(key, value string) {
	if i := slices.IndexFunc(x.given, func(a assignment) bool { return a.name == key }); i >= 0 {
		if key == "network" {
			value = x.given[i].value.(string) + "," + value
		}
		x.given = slices.Delete(x.given, i, i+1)
	}
	x.given = append(x.given, assignment{name: key, value: value, where: x.where, loose: true})
}

// MarshalText implements encoding.TextMarshaler: it returns what UnmarshalText
// takes, with every term.
func (x Export) MarshalText() ([]byte, error) {
	b := []byte(x.Path + "=" + x.Dir)
	for _, f := range Fields(&x)[2:] {
		for _, t := range f.Texts() {
			b = append(b, ","+f.Name+"="+t...)
		}
	}
	return b, nil
}

// finish fills in the terms of all exports, and then the export's own.
func (x *Export) finish(all Terms) error {
	x.Terms = all
	fields := Fields(x)
	for _, a := range x.given {
		if err := a.apply(fields); err != nil {
			return err
		}
	}
	if x.Path == "" {
		return fmt.Errorf("%s: an export needs a path, which clients mount: path = \"/data\"", x.where)
	}
	if x.Dir == "" {
		return fmt.Errorf("%s: export %s needs a directory: dir = \"/srv/data\"", x.where, x.Path)
	}
	if !strings.HasPrefix(x.Path, "/") || slices.Contains(strings.Split(x.Path, "/"), "..") {
		return fmt.Errorf("%s: the path of an export begins with / and has no \"..\": not %q", x.where, x.Path)
	}
	x.Path = path.Clean(x.Path)
	return nil
}

// FindDirs makes the directories of all exports absolute and without symbolic
// links, below Root if there is one, and checks that they can be served.
func (c *Config) FindDirs() error {
	root := ""
	if c.Root != "" {
		var err error
		if root, err = findDir(c.Root); err != nil {
			return fmt.Errorf("--root: %w", err)
		}
	}
	for i := range c.Exports {
		x := &c.Exports[i]
		dir := x.Dir
		switch {
		case c.Root != "":
			if slices.Contains(strings.Split(dir, "/"), "..") {
				return fmt.Errorf("export %s: %s leads out of --root %s: name a directory below it", x.Path, dir, c.Root)
			}
			dir = filepath.Join(root, dir)
		case !filepath.IsAbs(dir) && !x.fromFlag():
			return fmt.Errorf("%s: the directory of export %s is relative: begin it with / or set root", x.where, x.Path)
		}
		found, err := findDir(dir)
		if err != nil {
			if rest, ok := strings.CutPrefix(x.Dir, c.Root+"/"); ok && c.Root != "" && errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("export %s: directories are below --root %s: write %s instead of %s", x.Path, c.Root, rest, x.Dir)
			}
			return fmt.Errorf("export %s: %w", x.Path, err)
		}
		if root != "" && found != root && !strings.HasPrefix(found, strings.TrimSuffix(root, "/")+"/") {
			return fmt.Errorf("export %s: %s is a link that leads out of --root %s, to %s", x.Path, x.Dir, c.Root, found)
		}
		x.Dir = found
	}
	return nil
}

func (x *Export) fromFlag() bool { return x.where == "DIR" || x.given[0].loose }

// A dirError is one line about a directory, and matches the error behind it.
type dirError struct {
	text string
	err  error
}

func (e *dirError) Error() string { return e.text }
func (e *dirError) Unwrap() error { return e.err }

// findDir returns where dir is, if it is a directory that we may list.
func findDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err == nil {
		err = listable(abs)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", &dirError{fmt.Sprintf("no such directory: %s: make it (mkdir -p %[1]s) or name another", dir), err}
	case errors.Is(err, os.ErrPermission):
		return "", &dirError{fmt.Sprintf("no rights to read %s: run as its owner or as root, or change its mode", dir), err}
	case errors.Is(err, syscall.ENOTDIR):
		return "", &dirError{fmt.Sprintf("not a directory: %s: name the directory that the file is in", dir), err}
	case err != nil:
		return "", &dirError{fmt.Sprintf("cannot serve %s: %v", dir, err), err}
	}
	return abs, nil
}

func listable(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return syscall.ENOTDIR
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return d.Close()
}
