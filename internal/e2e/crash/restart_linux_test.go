//go:build amd64 || arm64 || riscv64

package crash

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// After a power cut the server starts again, and clients go on: their handles hold,
// those of what is not there are STALE, and an EXCLUSIVE create that is sent again
// finds its file.
func TestRestart(t *testing.T) {
	for kind := range sizes {
		t.Run(kind, func(t *testing.T) {
			c := config{kind: kind, seed: 3, steps: 60}
			r := record(t, c)
			if t.Failed() {
				return
			}
			var held, stale, again int
			for _, cut := range r.cuts(8, rand.New(rand.NewPCG(c.seed, 0))) {
				r.mounted(t, cut, uint64(cut), func(dir string) {
					t.Run(fmt.Sprint(cut), func(t *testing.T) {
						conn, err := nfs3.Dial(ctx, "tcp", start(t, dir, c), &rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: []byte("test")}, rpc.ClientConfig{})
						if err != nil {
							t.Fatal(err)
						}
						defer conn.Close()
						for _, c := range r.clients {
							models := c.history.at(cut)
							if len(models) > 1 {
								continue // names are in doubt
							}
							x := afterRestart{t: t, nfs: conn, client: c, model: models[0]}
							x.check()
							held, stale, again = held+x.held, stale+x.stale, again+x.again
						}
					})
				})
			}
			t.Logf("%d names lead to the handles that clients had, %d handles are stale, %d files were created again", held, stale, again)
		})
	}
}

type afterRestart struct {
	t                  *testing.T
	nfs                *nfs3.Client
	client             *client
	model              *model
	held, stale, again int
}

func (x *afterRestart) check() {
	for id, fh := range x.client.handles {
		n := x.model.nodes[id]
		if n == nil {
			if _, err := x.nfs.Getattr(ctx, fh); !errors.Is(err, nfs3.NFS3ERR_STALE) {
				x.t.Errorf("%s: node %d, which is not there: %v", x.client.name, id, err)
			}
			x.stale++
			continue
		}
		for name, entry := range n.entries {
			x.entry(id, fh, name, entry)
		}
	}
}

func (x *afterRestart) entry(dir int, dirHandle []byte, name string, id int) {
	want := x.client.handles[id]
	res, err := x.nfs.Lookup(ctx, dirHandle, name)
	if err != nil || !bytes.Equal(res.Resok.Object.Data, want) {
		x.t.Errorf("%s: LOOKUP %d/%s: %v, handle %x, want that of node %d, %x", x.client.name, dir, name, err, res.Resok.Object.Data, id, want)
		return
	}
	x.held++
	n := x.model.nodes[id]
	attr, err := x.nfs.Getattr(ctx, want)
	if err != nil || attr.Resok.ObjAttributes.Type != n.kind {
		x.t.Errorf("%s: GETATTR of node %d: %v, %v", x.client.name, id, attr.Resok.ObjAttributes.Type, err)
	}
	if n.verifier == nil {
		return
	}
	again, err := x.nfs.Create(ctx, dirHandle, name, &nfs3.Createhow3{Mode: nfs3.EXCLUSIVE, Verf: *n.verifier})
	if err != nil || !bytes.Equal(again.Resok.Obj.Handle.Data, want) {
		x.t.Errorf("%s: CREATE EXCLUSIVE of %d/%s again: %v", x.client.name, dir, name, err)
	}
	x.again++
}
