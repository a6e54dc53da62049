package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A platform is what decides which files belong to a package.
type platform struct{ goos, tags string }

var platforms = []platform{
	{goos: "linux"},
	{goos: "linux", tags: "invariants,ungated,race"},
	{goos: "darwin"},
	{goos: "freebsd"},
}

func (p platform) String() string {
	if p.tags == "" {
		return p.goos
	}
	return p.goos + " with tags " + p.tags
}

// A listed package is what go list tells about it.
type listed struct {
	ImportPath string
	Standard   bool
	Module     *struct {
		Path string
		Main bool
	}
	Imports  []string
	CgoFiles []string
}

// A graph has the module's packages and all that they need, without tests.
type graph struct {
	module string
	all    map[string]listed   // by import path
	own    map[string][]string // the module's: what they import of the module, by their path below its root ("." is the root)
}

func load(t *testing.T, p platform) *graph {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps", "-tags="+p.tags,
		"-json=ImportPath,Standard,Module,Imports,CgoFiles", "eddy.example/...")
	// -e: code that does not build is for others to report. With cgo on, files that use it are listed where there are any.
	cmd.Env = append(os.Environ(), "GOOS="+p.goos, "GOARCH=amd64", "CGO_ENABLED=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", p, err, stderr.String())
	}
	g := &graph{all: make(map[string]listed), own: make(map[string][]string)}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		g.all[l.ImportPath] = l
		if l.Module != nil && l.Module.Main {
			g.module = l.Module.Path
		}
	}
	for _, l := range g.all {
		name, ok := g.name(l.ImportPath)
		if !ok {
			continue
		}
		g.own[name] = nil
		for _, i := range l.Imports {
			if to, ok := g.name(i); ok {
				g.own[name] = append(g.own[name], to)
			}
		}
	}
	return g
}

// name returns the path of one of the module's packages below its root.
func (g *graph) name(importPath string) (string, bool) {
	if importPath == g.module {
		return ".", true
	}
	return strings.CutPrefix(importPath, g.module+"/")
}

// reach returns the import paths of one of the module's packages and of all
// that it needs, directly or not.
func (g *graph) reach(name string) map[string]bool {
	seen := make(map[string]bool)
	var visit func(string)
	visit = func(importPath string) {
		if !seen[importPath] {
			seen[importPath] = true
			for _, i := range g.all[importPath].Imports {
				visit(i)
			}
		}
	}
	start := g.module
	if name != "." {
		start += "/" + name
	}
	visit(start)
	return seen
}
