package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// fuzz is a step that fuzzes each package's target for a while.
func fuzz(fuzztime string) func(context.Context) result {
	return func(ctx context.Context) result {
		targets, err := fuzzTargets(ctx)
		if err != nil {
			return failed("%v\n", err)
		}
		var r result
		for _, t := range targets {
			if ctx.Err() != nil {
				break
			}
			out, err := run(ctx, goCmd("test", "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+fuzztime, "-timeout=10m", t.pkg))
			if err != nil && !ranOutOfTime(out) {
				r.failed++
				r.details += fmt.Sprintf("--- %s %s: %v\n%s", t.pkg, t.name, err, out)
				continue
			}
			r.passed++
		}
		return r
	}
}

// ranOutOfTime recognises a run whose only fault is that its time was over:
// Go before 1.27 now and then reports the deadline of -fuzztime itself as a
// failure (go.dev/issue/75804). A real one names an input or a reason.
func ranOutOfTime(out string) bool {
	_, after, ok := strings.Cut(out, "--- FAIL: ")
	if !ok || strings.Contains(after, "--- FAIL: ") {
		return false
	}
	_, after, _ = strings.Cut(after, "\n")
	return strings.HasPrefix(after, "    context deadline exceeded\nFAIL\n")
}

type fuzzTarget struct{ pkg, name string }

// fuzzTargets returns the module's fuzz targets. A package has at most one,
// whose input's first byte selects what is fuzzed: so the time goes where the
// coverage grows, whatever the number of decoders.
func fuzzTargets(ctx context.Context) ([]fuzzTarget, error) {
	out, err := run(ctx, goCmd("list", "-e", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "./..."))
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, out)
	}
	var targets []fuzzTarget
	for dec := json.NewDecoder(strings.NewReader(out)); ; {
		var p struct {
			Dir, ImportPath           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return targets, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		var names []string
		for _, f := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			n, err := fuzzFuncs(filepath.Join(p.Dir, f))
			if err != nil {
				return nil, err
			}
			names = append(names, n...)
		}
		if len(names) > 1 {
			return nil, fmt.Errorf("%s has %s; a package has one fuzz target, whose first byte selects what is fuzzed", p.ImportPath, strings.Join(names, ", "))
		}
		for _, n := range names {
			targets = append(targets, fuzzTarget{p.ImportPath, n})
		}
	}
}

// fuzzFuncs returns the names of the fuzz targets in a file.
func fuzzFuncs(path string) ([]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Fuzz") {
			names = append(names, fn.Name.Name)
		}
	}
	return names, nil
}
