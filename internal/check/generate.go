package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// regenerate is a step that runs the generators and passes if each generated
// file below dir is what it was before. Only those files are looked at, so the
// rest of the tree may have uncommitted changes. What differs is left in its
// new state.
func regenerate(dir string, generate command) func(context.Context) result {
	return func(ctx context.Context) result {
		before, err := generatedFiles(dir)
		if err != nil {
			return failed("%v\n", err)
		}
		if out, err := run(ctx, generate); err != nil {
			return failed("%v: %v\n%s", generate, err, out)
		}
		after, err := generatedFiles(dir)
		if err != nil {
			return failed("%v\n", err)
		}
		var complaints strings.Builder
		all := maps.Clone(before)
		maps.Copy(all, after)
		for _, path := range slices.Sorted(maps.Keys(all)) {
			if before[path] != after[path] {
				fmt.Fprintf(&complaints, "%s was not what %v makes of its source\n", path, generate)
			}
		}
		return judge(complaints.String())
	}
}

// generatedFiles returns a digest of each generated file below dir: those with
// Go's header, and those that are named so.
func generatedFiles(dir string) (map[string][sha256.Size]byte, error) {
	files := make(map[string][sha256.Size]byte)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		named := strings.HasPrefix(d.Name(), "zz_")
		if !d.Type().IsRegular() || !named && filepath.Ext(path) != ".go" && filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".md" {
			named = bytes.HasPrefix(text, []byte("<!-- Code generated "))
			if !named {
				return nil
			}
		}
		if !named {
			f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil || !ast.IsGenerated(f) {
				return nil
			}
		}
		files[path] = sha256.Sum256(text)
		return nil
	})
	return files, err
}
