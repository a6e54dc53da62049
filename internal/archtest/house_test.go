package archtest

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// The house: each folder with what its packages may import of the module,
// besides packages below the folder itself and the internal packages of
// linkedInternals. "rpc/..." is rpc and all below it. A package belongs to the
// longest folder that fits; tests may import anything.
var house = map[string][]string{
	"bufpool":    {},
	"xprt":       {"bufpool"},
	"rpc":        {"bufpool", "xprt"},
	"vfs":        {"bufpool"},
	"vfs/export": {"vfs"},
	"vfs/share":  {"vfs"},
	"nfs3":       {"bufpool", "xprt", "rpc/...", "vfs", "vfs/export", "vfs/share"},
	"nfs4":       {"bufpool", "xprt", "rpc/...", "vfs", "vfs/export", "vfs/share"},
	"nlm":        {"bufpool", "xprt", "rpc/...", "vfs", "vfs/export", "vfs/share"},
	".":          {"bufpool", "xprt", "rpc/...", "vfs", "vfs/export", "vfs/share", "nfs3", "nfs4", "nlm", "metrics"},
	"metrics":    {".", "bufpool", "rpc"},
	"load":       {"bufpool", "xprt", "rpc/...", "nfs3", "nfs4"},
}

// Programs may import everything, and nothing but tests imports them.
var programs = []string{"cmd", "benchmarks", "packaging", "examples"}

// linkedInternals are the internal packages that an embedder links. All others
// are harnesses: only tests, programs and other harnesses import them.
var linkedInternals = []string{"internal/siphash", "internal/sockowner"}

// kits are packages for a test's use only.
var kits = []string{"vfs/vfstest", "rpc/xdrgen/xdrtest"}

// What an embedder of the root package gets must not depend on choices that
// are the embedder's: a backend, a multiplexer, a security mechanism, a store.
var notInRoot = []string{
	"vfs/memfs", "vfs/iofs", "vfs/local", "vfs/pathfs",
	"xprt/mux", "rpc/gss/krb5", "nfs4/boltstate",
}

// embedded are the folders of which an appliance links some.
var embedded = []string{".", "bufpool", "xprt", "rpc", "vfs", "nfs3", "nfs4", "nlm"}

// modules are all that embedded packages may reach outside the standard
// library, and for which folder ("" is any).
var modules = map[string]string{
	"golang.org/x/sys":                  "",
	"go.uber.org/zap":                   "",
	"go.uber.org/multierr":              "", // comes with zap
	"github.com/valyala/bytebufferpool": "",
	"github.com/xtaci/smux":             "xprt/mux",
}

// room returns the row of the house that a package stands in.
func room(pkg string) (string, bool) {
	for dir := pkg; ; dir = path.Dir(dir) {
		if _, ok := house[dir]; ok && (dir != "." || pkg == ".") {
			return dir, true
		}
		if dir == "." {
			return "", false
		}
	}
}

func below(pkg, tree string) bool { return pkg == tree || strings.HasPrefix(pkg, tree+"/") }

func belowAny(pkg string, trees []string) bool {
	return slices.ContainsFunc(trees, func(t string) bool { return below(pkg, t) })
}

// harness tells what only tests, programs and other harnesses may import.
func harness(pkg string) bool {
	return belowAny(pkg, kits) || below(pkg, "internal") && !belowAny(pkg, linkedInternals)
}

func mayImport(from, to string) bool {
	switch r, ok := room(from); {
	case belowAny(to, linkedInternals):
		return true
	case belowAny(from, linkedInternals):
		return false
	case belowAny(from, programs), harness(from) && !belowAny(from, kits):
		return true
	case harness(to), belowAny(to, programs):
		return false
	case !ok:
		return false
	default:
		if below(to, r) && r != "." {
			toRoom, _ := room(to)
			return toRoom == r || slices.Contains(house[r], to)
		}
		return slices.ContainsFunc(house[r], func(allowed string) bool {
			tree, isTree := strings.CutSuffix(allowed, "/...")
			return to == tree || isTree && below(to, tree)
		})
	}
}

func TestEveryFolderHasARow(t *testing.T) {
	for pkg := range load(t, platforms[0]).own {
		_, ok := room(pkg)
		if !ok && !belowAny(pkg, programs) && !below(pkg, "internal") {
			t.Errorf("%s stands in no row of the house", pkg)
		}
	}
}

func TestImports(t *testing.T) {
	for _, p := range platforms {
		for from, imports := range load(t, p).own {
			for _, to := range imports {
				if !mayImport(from, to) {
					t.Errorf("%v: %s imports %s", p, from, to)
				}
			}
		}
	}
}

func TestMayImport(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"xprt", "bufpool", true},
		{"xprt/mux", "xprt", true},
		{"bufpool", "xprt", false},
		{"rpc", "xprt/mux", false},
		{"rpc", "rpc/xdr", true},
		{"rpc/gss/krb5", "rpc/gss", true},
		{"vfs", "vfs/export", false},
		{"vfs/memfs", "vfs", true},
		{"vfs/memfs", "vfs/export", false},
		{"vfs/memfs", "vfs/vfstest", false},
		{"vfs/vfstest", "vfs", true},
		{"vfs/vfstest", "internal/netns", false},
		{"vfs/export", "internal/siphash", true},
		{"vfs/export", "vfs/memfs", false},
		{"nfs3", "rpc/xdr", true},
		{"nfs3", "vfs/memfs", false},
		{"nfs3", "nfs4", false},
		{".", "nfs3", true},
		{".", "vfs/memfs", false},
		{".", "internal/netns", false},
		{"nfs3", ".", false},
		{"metrics", ".", true},
		{"load", ".", false},
		{"cmd/eddy", "vfs/memfs", true},
		{"internal/tunpeer", "internal/netns", true},
		{"internal/siphash", "internal/netns", false},
		{"unheard/of", "vfs", false},
	} {
		if got := mayImport(c.from, c.to); got != c.want {
			t.Errorf("%s imports %s: got %v, want %v", c.from, c.to, got, c.want)
		}
	}
}

func TestRootLeavesTheChoices(t *testing.T) {
	for _, p := range platforms {
		g := load(t, p)
		for pkg := range g.reach(".") {
			if name, ok := g.name(pkg); ok && belowAny(name, notInRoot) {
				t.Errorf("%v: the root package reaches %s", p, name)
			}
		}
	}
}

func TestModules(t *testing.T) {
	for _, p := range platforms {
		g := load(t, p)
		for pkg := range g.own {
			if !belowAny(pkg, slices.Concat(embedded, linkedInternals)) || belowAny(pkg, kits) {
				continue
			}
			reached := make(map[string]bool)
			for dep := range g.reach(pkg) {
				if m := g.all[dep].Module; m != nil && !m.Main {
					reached[m.Path] = true
				}
			}
			for _, m := range slices.Sorted(maps.Keys(reached)) {
				if tree, ok := modules[m]; !ok || !below(pkg, tree) && tree != "" {
					t.Errorf("%v: %s reaches %s", p, pkg, m)
				}
			}
		}
	}
}

// withoutC are packages that use cgo on a system if they may, and have the same
// without it for whoever has no C compiler.
var withoutC = map[string]string{"github.com/prometheus/client_golang/prometheus": "darwin"}

// Whoever cross-compiles for an appliance has no C compiler for it.
func TestNoCgo(t *testing.T) {
	for _, p := range platforms {
		g := load(t, p)
		for name := range g.own {
			if belowAny(name, []string{"internal", "benchmarks"}) && !belowAny(name, linkedInternals) {
				continue
			}
			for dep := range g.reach(name) {
				if d := g.all[dep]; !d.Standard && len(d.CgoFiles) > 0 && withoutC[dep] != p.goos {
					t.Errorf("%v: %s reaches %s, which uses cgo", p, name, dep)
				}
			}
		}
	}
}
