//go:build amd64 || arm64 || riscv64

package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/local"
)

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func sorted(set map[int]bool) []int { return slices.Sorted(maps.Keys(set)) }

// long is what check --long sets.
var long = os.Getenv("EDDY_LONG") == "1"

// TestPowerCut is what this package is for. With handles that a map finds, which
// lies on the device that is cut too, a server starts after each cut.
func TestPowerCut(t *testing.T) {
	for _, c := range []struct {
		kind        string
		handles     local.Handles
		steps, cuts int
	}{
		{"xfs", local.HandlesKernel, 120, 60},
		{"xfs", local.HandlesMap, 120, 60},
		{"ext4", local.HandlesKernel, 80, 20},
		{"ext4", local.HandlesMap, 80, 20},
		{"btrfs", local.HandlesKernel, 60, 20},
		{"btrfs", local.HandlesMap, 60, 20},
	} {
		t.Run(fmt.Sprintf("%s/%v", c.kind, c.handles), func(t *testing.T) {
			cfg := config{kind: c.kind, seed: 1, steps: c.steps, local: local.Config{Handles: c.handles}}
			r := record(t, cfg)
			if t.Failed() {
				return
			}
			if long {
				c.cuts = 0
			}
			cuts := r.cuts(c.cuts, rand.New(rand.NewPCG(cfg.seed, 0)))
			bad := 0
			var total counts
			for _, cut := range cuts {
				failed := false
				r.mounted(t, cut, func(dir string) {
					tree := filepath.Join(dir, treeName)
					found := r.compare(tree, cut)
					for _, w := range found {
						if failed = failed || len(w.wrong) > 0; len(w.wrong) > 0 {
							t.Errorf("cut at %d of %d: %s; %s had done:\n%v", cut, r.last(),
								strings.Join(w.wrong, "\n"), w.client, r.client(w.client).history.until(cut))
						}
					}
					if c.handles == local.HandlesMap && !failed {
						x := r.restart(t, tree, filepath.Join(dir, stateName), cfg, found)
						failed = x.report(t, cut)
						total.add(x.counts)
					}
				})
				if failed {
					if bad++; bad == 5 {
						t.Fatal("and so on")
					}
				}
			}
			ops := 0
			for _, c := range r.clients {
				ops += len(c.history)
			}
			t.Logf("%d operations, %d writes and flushes, %d flushes, %d cuts; %v", ops, r.last(), len(r.dev.Flushes()), len(cuts), total)
		})
	}
}

// liar is a server's file system that does not sync what it says it has.
type liar struct {
	*local.FS
	write, commit, resolve bool
}

func (l liar) Resolve(c *vfs.Call, h []byte) (vfs.Object, error) {
	o, err := l.FS.Resolve(c, h)
	if l.resolve && err == vfs.ErrDelay {
		return l.FS.Resolve(c, nil) // the root, which is something
	}
	return o, err
}

func (l liar) Write(c *vfs.Call, o vfs.Object, p []byte, off uint64, how vfs.Stability, chg *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	if !l.write {
		return l.FS.Write(c, o, p, off, how, chg)
	}
	n, _, v, err := l.FS.Write(c, o, p, off, vfs.Unstable, chg)
	return n, how, v, err
}

func (l liar) Commit(c *vfs.Call, o vfs.Object, off, n uint64, chg *vfs.Change) (vfs.Verifier, error) {
	if !l.commit {
		return l.FS.Commit(c, o, off, n, chg)
	}
	_, _, v, err := l.FS.Write(c, o, nil, 0, vfs.Unstable, nil)
	return v, err
}

// Whoever promises what has not been done is caught.
func TestLossIsSeen(t *testing.T) {
	for name, c := range map[string]config{
		"asynchronous metadata": {local: local.Config{AsyncMetadata: true}},
		"stable writes":         {wrap: func(fs *local.FS) vfs.FS { return liar{FS: fs, write: true} }},
		"commits":               {wrap: func(fs *local.FS) vfs.FS { return liar{FS: fs, commit: true} }, unstable: true},
	} {
		t.Run(name, func(t *testing.T) {
			c.kind, c.seed, c.steps = "ext4", 2, 80
			r := record(t, c)
			if t.Failed() {
				return
			}
			cuts := r.cuts(100, rand.New(rand.NewPCG(c.seed, 0)))
			for i, cut := range cuts {
				if wrong := r.lost(t, cut); len(wrong) > 0 {
					t.Logf("seen by cut %d of %d, at %d of %d: %v", i+1, len(cuts), cut, r.last(), wrong)
					return
				}
			}
			t.Errorf("%d cuts have not shown it", len(cuts))
		})
	}
}
