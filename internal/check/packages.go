package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A selection picks packages by their path below the module's root.
type selection func(path string) bool

var (
	// integrationTrees need other programs, guests or the whole machine.
	integrationTrees = []string{"internal/e2e", "internal/kernelclient", "internal/blockdev", "internal/loopfs"}

	// onceTrees would show nothing new under the race detector.
	onceTrees = append([]string{"internal/archtest", "internal/check", "internal/netns"}, integrationTrees...)

	// libraryTrees are what an appliance links, on whatever processor it has,
	// but for the generator rpc/xdrgen.
	libraryTrees = []string{"bufpool", "xprt", "rpc", "vfs", "nfs3", "nfs4", "nlm"}

	// raceToo are integration packages that are worth their time twice.
	raceToo = []string{}
)

func unit(path string) bool        { return !below(path, integrationTrees) }
func integration(path string) bool { return below(path, integrationTrees) }
func library(path string) bool     { return below(path, libraryTrees) && path != "rpc/xdrgen" }
func repeated(path string) bool {
	return !below(path, onceTrees) || slices.Contains(raceToo, path)
}

func below(path string, trees []string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool {
		return path == tree || strings.HasPrefix(path, tree+"/")
	})
}

// list returns the selected packages of the module, whether they build or not,
// as arguments such as "./rpc/xdr".
func list(ctx context.Context, sel selection) ([]string, error) {
	out, err := run(ctx, goCmd("list", "-e", "-f", "{{.Module.Path}} {{.ImportPath}}", "./..."))
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, out)
	}
	var pkgs []string
	for line := range strings.Lines(out) {
		module, pkg, _ := strings.Cut(strings.TrimSpace(line), " ")
		if path := strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/"); sel(path) {
			pkgs = append(pkgs, "./"+path)
		}
	}
	return pkgs, nil
}
