//go:build amd64 || arm64 || riscv64

package crash

import (
	"maps"
	"math/rand/v2"
	"os"
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

// TestPowerCut is what this package is for.
func TestPowerCut(t *testing.T) {
	for _, c := range []struct {
		kind        string
		steps, cuts int
	}{{"xfs", 120, 120}, {"ext4", 80, 40}, {"btrfs", 60, 40}} {
		t.Run(c.kind, func(t *testing.T) {
			const seed = 1
			r := record(t, config{kind: c.kind, seed: seed, steps: c.steps})
			if t.Failed() {
				return
			}
			if long {
				c.cuts = 0
			}
			cuts := r.cuts(c.cuts, rand.New(rand.NewPCG(seed, 0)))
			bad := 0
			for _, cut := range cuts {
				if wrong := r.lost(t, cut, uint64(cut)); len(wrong) > 0 {
					t.Errorf("cut at %d of %d:", cut, r.last())
					for name, w := range wrong {
						t.Errorf("%s; %s had done:\n%v", strings.Join(w, "\n"), name, r.client(name).history.until(cut))
					}
					if bad++; bad == 5 {
						t.Fatal("and so on")
					}
				}
			}
			ops := 0
			for _, c := range r.clients {
				ops += len(c.history)
			}
			t.Logf("%d operations, %d writes and flushes, %d flushes, %d cuts", ops, r.last(), len(r.dev.Flushes()), len(cuts))
		})
	}
}

// liar is a server's file system that does not sync what it says it has.
type liar struct {
	*local.FS
	write, commit bool
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
				if wrong := r.lost(t, cut, uint64(cut)); len(wrong) > 0 {
					t.Logf("seen by cut %d of %d, at %d of %d: %v", i+1, len(cuts), cut, r.last(), wrong)
					return
				}
			}
			t.Errorf("%d cuts have not shown it", len(cuts))
		})
	}
}
