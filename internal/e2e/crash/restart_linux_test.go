//go:build amd64 || arm64 || riscv64

package crash

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/local"
)

// After a power cut the server starts again, and clients go on: their handles hold,
// those of what is not there are STALE, and an EXCLUSIVE create that is sent again
// finds its file. The map that handles are found by may be older than the tree, or
// later, or end anywhere.
func TestRestart(t *testing.T) {
	for kind := range sizes {
		for handles, cases := range map[local.Handles][]restartCase{
			local.HandlesKernel: {{true, sameDevice}},
			local.HandlesMap:    {{true, sameDevice}, {true, whole}, {true, prefix}, {false, copied}},
		} {
			t.Run(fmt.Sprintf("%s/%v", kind, handles), func(t *testing.T) {
				cfg := config{kind: kind, seed: 3, steps: 60, local: local.Config{Handles: handles}}
				r := record(t, cfg)
				if t.Failed() {
					return
				}
				n := 8
				if long {
					n = 100
				}
				rnd := rand.New(rand.NewPCG(cfg.seed, 0))
				var total counts
				for i, cut := range r.cuts(n, rnd) {
					some := cases
					if !long {
						some = cases[i%len(cases):][:1]
					}
					for _, c := range some {
						x := r.restartCase(t, c, cut, cfg, rnd)
						x.report(t, cut)
						total.add(x.counts)
					}
				}
				t.Log(total)
			})
		}
	}
}

// restartCase is what a power cut hits: what is served, or the state only, and what
// the server finds as its state then, of what the device has that was cut.
type restartCase struct {
	tree  bool
	state func(t *testing.T, r *recording, cut string, rnd *rand.Rand) string
}

func (r *recording) restartCase(t *testing.T, c restartCase, cut int, cfg config, rnd *rand.Rand) (x afterRestart) {
	t.Helper()
	restart := func(dir, state string, cut int) {
		tree := filepath.Join(dir, treeName)
		x = r.restart(t, tree, state, cfg, r.compare(tree, cut))
	}
	state := ""
	r.mounted(t, cut, func(dir string) {
		state = c.state(t, r, filepath.Join(dir, stateName), rnd)
		if c.tree {
			restart(dir, state, cut)
		}
	})
	// Of two images of one file system only one can be mounted.
	if !c.tree {
		r.mounted(t, r.last(), func(dir string) { restart(dir, state, r.last()) })
	}
	return x
}

// sameDevice is the state that lies beside the tree.
func sameDevice(_ *testing.T, _ *recording, cut string, _ *rand.Rand) string { return cut }

// copied is what a cut has left of the state, beside another tree.
func copied(t *testing.T, _ *recording, cut string, _ *rand.Rand) string {
	state := t.TempDir()
	if err := os.CopyFS(state, os.DirFS(cut)); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return state
}

// whole is the state as it was after all operations.
func whole(t *testing.T, r *recording, _ string, _ *rand.Rand) string { return stateOf(t, r.places) }

// prefix is the state of any moment: changes are appended to the map.
func prefix(t *testing.T, r *recording, _ string, rnd *rand.Rand) string {
	return stateOf(t, r.places[:rnd.IntN(len(r.places))])
}

func stateOf(t *testing.T, places []byte) string {
	t.Helper()
	state := t.TempDir()
	file := filepath.Join(state, placesFile)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, places, 0o600)); err != nil {
		t.Fatal(err)
	}
	return state
}

// A server that takes something else for what it has to search for is caught.
func TestWrongObjectIsSeen(t *testing.T) {
	cfg := config{kind: "ext4", seed: 4, steps: 40, local: local.Config{Handles: local.HandlesMap}}
	r := record(t, cfg)
	if t.Failed() {
		return
	}
	cfg.wrap = func(fs *local.FS) vfs.FS { return liar{FS: fs, resolve: true} }
	r.mounted(t, r.last(), func(dir string) {
		tree := filepath.Join(dir, treeName)
		x := r.restart(t, tree, t.TempDir(), cfg, r.compare(tree, r.last()))
		if len(x.wrong) == 0 {
			t.Errorf("nothing is wrong; %v", x.counts)
		}
	})
}

// afterRestart is what clients find when a server has started again.
type afterRestart struct {
	wrong []string
	counts
}

type counts struct{ held, stale, searched, again int }

func (c *counts) add(d counts) {
	c.held, c.stale, c.searched, c.again = c.held+d.held, c.stale+d.stale, c.searched+d.searched, c.again+d.again
}

func (c counts) String() string {
	return fmt.Sprintf("%d handles hold, %d are stale, %d were searched for; %d files were created again", c.held, c.stale, c.searched, c.again)
}

func (x *afterRestart) report(t *testing.T, cut int) (failed bool) {
	t.Helper()
	if len(x.wrong) > 0 {
		t.Errorf("cut at %d: %s", cut, strings.Join(x.wrong, "\n"))
	}
	return len(x.wrong) > 0
}

func (x *afterRestart) errorf(c *comparison, format string, args ...any) {
	x.wrong = append(x.wrong, c.client+": "+fmt.Sprintf(format, args...))
}

// restart starts a server on tree and tries all handles that clients were ever given.
func (r *recording) restart(t *testing.T, tree, state string, c config, found []*comparison) (x afterRestart) {
	t.Helper()
	t.Run("restart", func(t *testing.T) {
		conn, err := nfs3.Dial(ctx, "tcp", start(t, tree, state, c), &rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: []byte("test")}, rpc.ClientConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, f := range found {
			if len(f.wrong) > 0 {
				x.errorf(f, "%s; the history:\n%v", strings.Join(f.wrong, "\n"), r.client(f.client).history)
			} else {
				x.resolve(conn, f, r.client(f.client).handles)
			}
		}
		for _, f := range found {
			if len(f.wrong) == 0 {
				x.names(conn, f, r.client(f.client).handles)
			}
		}
	})
	return x
}

// rounds bounds how often the server may say that it still searches.
const rounds = 2000

// resolve asks for all handles, in any order, and again for those that the server
// searches for.
func (x *afterRestart) resolve(nfs *nfs3.Client, c *comparison, handles map[int][]byte) {
	left := maps.Clone(handles)
	for round := range rounds {
		for id, fh := range left {
			res, err := nfs.Getattr(ctx, fh)
			if errors.Is(err, nfs3.NFS3ERR_JUKEBOX) {
				continue
			}
			delete(left, id)
			a := res.Resok.ObjAttributes
			switch n := c.model.nodes[id]; {
			case n == nil:
				if x.stale++; !errors.Is(err, nfs3.NFS3ERR_STALE) {
					x.errorf(c, "node %d, which is not there: %v, file %d", id, err, a.Fileid)
				}
			case err != nil:
				x.errorf(c, "node %d: %v", id, err)
			case a.Type != n.kind || id >= firstID && uint64(a.Fileid) != c.inodes[id]:
				x.errorf(c, "node %d is %v %d, want %v %d", id, a.Type, a.Fileid, n.kind, c.inodes[id])
			default:
				x.held++
			}
		}
		if len(left) == 0 {
			return
		}
		if round == 0 {
			x.searched += len(left)
		}
		time.Sleep(time.Millisecond) // as a client does, but less
	}
	x.errorf(c, "%d handles are still searched for", len(left))
}

// names checks that what clients find by names has the handles that they know.
func (x *afterRestart) names(nfs *nfs3.Client, c *comparison, handles map[int][]byte) {
	for id, n := range c.model.nodes {
		for name, entry := range n.entries {
			x.entry(nfs, c, place{id, name}, handles[id], handles[entry], c.model.nodes[entry])
		}
	}
}

func (x *afterRestart) entry(nfs *nfs3.Client, c *comparison, p place, dir, want []byte, n *node) {
	res, err := nfs.Lookup(ctx, dir, p.name)
	if err != nil || !bytes.Equal(res.Resok.Object.Data, want) {
		x.errorf(c, "LOOKUP %v: %v, handle %x, want %x", p, err, res.Resok.Object.Data, want)
		return
	}
	if n.verifier == nil || n.doubtful {
		return
	}
	again, err := nfs.Create(ctx, dir, p.name, &nfs3.Createhow3{Mode: nfs3.EXCLUSIVE, Verf: *n.verifier})
	if err != nil || !bytes.Equal(again.Resok.Obj.Handle.Data, want) {
		x.errorf(c, "CREATE EXCLUSIVE of %v again: %v", p, err)
	}
	x.again++
}
