package namespace

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"eddy.example/internal/fsx"
	"eddy.example/nfs3"
	"eddy.example/vfs"
	"eddy.example/vfs/local"
	"eddy.example/vfs/vfstest"
)

// clients work at once, each on so many operations a round.
const (
	clients  = 8
	perRound = 2
)

func rounds() int {
	if os.Getenv("EDDY_LONG") == "1" {
		return 3000
	}
	return 100
}

// lives is how often the server is started.
const lives = 4

// TestRounds is the test that doc.go tells of.
func TestRounds(t *testing.T) {
	each(t, func(t *testing.T, dir func(testing.TB) string, handles local.Handles) {
		root, state := dir(t), t.TempDir()
		w := world{rnd: rand.New(rand.NewPCG(1, uint64(handles)))}
		var before tree
		given := make(map[object]bool) // all objects of this life
		refused := 0
		for life := range lives {
			next := t.TempDir()
			t.Run(fmt.Sprint("life ", life), func(t *testing.T) {
				w.connect(start(t, openFS(t, local.Config{Root: root, Handles: handles, State: state})))
				// First by the handles alone, while the server has seen nothing yet.
				for _, o := range before.objects() {
					if err := w.getattr(o); err != nil {
						t.Errorf("after a restart, %s: %v", short(o), err)
					}
					delete(given, o)
				}
				for o := range given {
					if err := w.getattr(o); !errors.Is(err, nfs3.NFS3ERR_STALE) {
						t.Errorf("after a restart, %s, which was removed before it: %v", short(o), err)
					}
				}
				clear(given)
				now, err := w.tree()
				if err != nil {
					t.Fatal(err)
				}
				if life > 0 && now.key() != before.key() {
					t.Fatalf("after a restart:\n%sbefore it:\n%s", describe(now), describe(before))
				}
				before = now
				for round := range rounds() / lives {
					ops := w.round(before)
					after, err := w.tree()
					if err != nil {
						t.Fatalf("round %d: %v", round, err)
					}
					if !explained(before, after, ops) {
						t.Fatalf("round %d: before:\n%safter:\n%sno order explains\n%s", round, describe(before), describe(after), list(ops))
					}
					for _, o := range slices.Concat(ops...) {
						if o.status != nfs3.NFS3_OK {
							refused++
						}
						if o.found != "" {
							given[o.found] = true
						}
					}
					before = after
				}
				// What a server leaves that is killed.
				if err := os.CopyFS(next, os.DirFS(state)); err != nil {
					t.Fatal(err)
				}
			})
			if t.Failed() {
				return
			}
			state = next
		}
		t.Logf("%d rounds, %d operations, of which %d refused", rounds(), rounds()*clients*perRound, refused)
	})
}

// world is the clients of a server, and one that looks what they have done.
type world struct {
	look    *nfs3.Client
	clients []*nfs3.Client
	rnd     *rand.Rand
	clock   atomic.Int64
}

// connect makes the clients those of one server.
func (w *world) connect(dial func() *nfs3.Client) {
	w.look, w.clients = dial(), nil
	for range clients {
		w.clients = append(w.clients, dial())
	}
}

// round lets all clients work at once.
func (w *world) round(t tree) [][]*operation {
	all := make([][]*operation, clients)
	var group sync.WaitGroup
	for c := range all {
		for range perRound {
			all[c] = append(all[c], w.pick(t, c))
		}
		group.Go(func() {
			for _, o := range all[c] {
				o.sent = w.clock.Add(1)
				o.do(w.clients[c])
				o.answered = w.clock.Add(1)
			}
		})
	}
	group.Wait()
	return all
}

// place is a name in a directory.
type place struct {
	dir  object
	name string
}

// pick returns an operation that mostly makes sense if nobody else does anything.
func (w *world) pick(t tree, client int) *operation {
	var vacant, files, dirs []place
	for _, dir := range slices.Sorted(maps.Keys(t.dirs)) {
		for i := range 4 {
			p := place{dir, fmt.Sprint("n", i)}
			switch o, ok := t.dirs[dir][p.name]; {
			case !ok:
				vacant = append(vacant, p)
			case t.isDir(o):
				dirs = append(dirs, p)
			default:
				files = append(files, p)
			}
		}
	}
	any := slices.Concat(vacant, files, dirs)
	from := func(sensible ...[]place) place {
		if s := slices.Concat(sensible...); len(s) > 0 && w.rnd.IntN(5) > 0 {
			return s[w.rnd.IntN(len(s))]
		}
		return any[w.rnd.IntN(len(any))]
	}
	o := &operation{client: client, kind: kind(w.rnd.IntN(int(kinds)))}
	if o.kind == mkdir && len(dirs) > 8 {
		o.kind = rmdir
	}
	var at place
	switch o.kind {
	case create, open, mkdir:
		at = from(vacant)
	case remove:
		at = from(files)
	case rmdir:
		at = from(dirs)
	case lookup:
		at = from(files, dirs)
	case rename:
		at = from(files, dirs)
		to := from(vacant, files)
		o.to, o.toName = to.dir, to.name
	case link:
		at = from(vacant)
		if len(files) == 0 {
			o.kind = create
			break
		}
		target := files[w.rnd.IntN(len(files))]
		o.target = t.dirs[target.dir][target.name]
	}
	o.dir, o.name = at.dir, at.name
	return o
}

// do makes the call, and makes it again as long as the server asks for that.
func (o *operation) do(c *nfs3.Client) {
	fh, err := o.call(c)
	for errors.Is(err, nfs3.NFS3ERR_JUKEBOX) {
		fh, err = o.call(c)
	}
	var status *nfs3.Error
	switch {
	case err == nil:
		o.found = object(fh.Handle.Data)
	case errors.As(err, &status):
		o.status = status.Status
	default:
		o.status = -1 // explains nothing
	}
}

func (o *operation) call(c *nfs3.Client) (fh nfs3.PostOpFh3, err error) {
	dir := []byte(o.dir)
	switch o.kind {
	case create, open:
		how := nfs3.Createhow3{Mode: nfs3.GUARDED}
		if o.kind == open {
			how.Mode = nfs3.UNCHECKED
		}
		var res nfs3.CREATE3res
		res, err = c.Create(ctx, dir, o.name, &how)
		fh = res.Resok.Obj
	case mkdir:
		var res nfs3.MKDIR3res
		res, err = c.Mkdir(ctx, dir, o.name, new(nfs3.Sattr3))
		fh = res.Resok.Obj
	case remove:
		_, err = c.Remove(ctx, dir, o.name)
	case rmdir:
		_, err = c.Rmdir(ctx, dir, o.name)
	case rename:
		_, err = c.Rename(ctx, dir, o.name, []byte(o.to), o.toName)
	case link:
		_, err = c.Link(ctx, []byte(o.target), dir, o.name)
	case lookup:
		var res nfs3.LOOKUP3res
		res, err = c.Lookup(ctx, dir, o.name)
		fh = nfs3.PostOpFh3{HandleFollows: true, Handle: res.Resok.Object}
	}
	return fh, err
}

// tree reads everything there is, and checks the number of links.
func (w *world) tree() (tree, error) {
	root, err := w.look.Mount(ctx, "/")
	if err != nil {
		return tree{}, err
	}
	t := tree{object(root), make(map[object]map[string]object)}
	files := make(map[object]nfs3.Fattr3)
	var read func(dir object) error
	read = func(dir object) error {
		entries := make(map[string]object)
		t.dirs[dir] = entries
		names, err := w.names(dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			res, err := w.look.Lookup(ctx, []byte(dir), name)
			if err != nil {
				return fmt.Errorf("%s/%s, which is listed: %w", short(dir), name, err)
			}
			o := object(res.Resok.Object.Data)
			entries[name] = o
			attr, err := w.look.Getattr(ctx, []byte(o))
			if err != nil {
				return fmt.Errorf("%s/%s, %s: %w", short(dir), name, short(o), err)
			}
			if attr.Resok.ObjAttributes.Type != nfs3.NF3DIR {
				files[o] = attr.Resok.ObjAttributes
				continue
			}
			if t.dirs[o] != nil {
				return fmt.Errorf("%s/%s, %s, is in two places", short(dir), name, short(o))
			}
			if err := read(o); err != nil {
				return err
			}
			up, err := w.look.Lookup(ctx, []byte(o), "..")
			if err != nil || object(up.Resok.Object.Data) != dir {
				return fmt.Errorf("%s/%s/..: %s, %v, want %s", short(dir), name, short(object(up.Resok.Object.Data)), err, short(dir))
			}
		}
		return nil
	}
	if err := read(t.root); err != nil {
		return t, err
	}
	for o, a := range files {
		if got, want := int(a.Nlink), t.links(o); got != want {
			return t, fmt.Errorf("%s has %d links, want %d", short(o), got, want)
		}
	}
	return t, nil
}

// getattr waits for a server that has to search.
func (w *world) getattr(o object) (err error) {
	const tries = 100_000 // at least one search's time
	for range tries {
		if _, err = w.look.Getattr(ctx, []byte(o)); !errors.Is(err, nfs3.NFS3ERR_JUKEBOX) {
			break
		}
	}
	return err
}

// names lists a directory, without "." and "..".
func (w *world) names(dir object) (names []string, err error) {
	var cookie uint64
	var verf nfs3.Cookieverf3
	for {
		res, err := w.look.Readdir(ctx, []byte(dir), cookie, verf, 4096)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", short(dir), err)
		}
		verf = res.Resok.Cookieverf
		for _, e := range res.Resok.Reply.Entries {
			cookie = uint64(e.Cookie)
			if name := string(e.Name); name != "." && name != ".." {
				names = append(names, name)
			}
		}
		if res.Resok.Reply.Eof {
			return names, nil
		}
	}
}

func list(ops [][]*operation) string {
	var b strings.Builder
	for _, o := range slices.SortedFunc(slices.Values(slices.Concat(ops...)), func(a, b *operation) int { return int(a.sent - b.sent) }) {
		fmt.Fprintln(&b, o)
	}
	return b.String()
}

func describe(t tree) string {
	var b strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(t.dirs)) {
		fmt.Fprintf(&b, "%s:", short(dir))
		for _, name := range slices.Sorted(maps.Keys(t.dirs[dir])) {
			fmt.Fprintf(&b, " %s=%s", name, short(t.dirs[dir][name]))
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

func TestBackendKit(t *testing.T) {
	each(t, func(t *testing.T, dir func(testing.TB) string, handles local.Handles) {
		// Once with syncs is enough: the kit makes a tree of 300 files again and again.
		async := handles == local.HandlesMap
		vfstest.Run(t, vfstest.Config{
			New: func(t testing.TB) vfs.FS {
				return openFS(t, local.Config{Root: dir(t), Handles: handles, State: t.TempDir(), AsyncMetadata: async})
			},
			Steps: 400,
		})
	})
}

func TestFsx(t *testing.T) {
	each(t, func(t *testing.T, dir func(testing.TB) string, handles local.Handles) {
		dial := start(t, openFS(t, local.Config{Root: dir(t), Handles: handles, State: t.TempDir()}))
		root, err := dial().Mount(ctx, "/")
		if err != nil {
			t.Fatal(err)
		}
		fsx.Run(t, fsx.Config{Seed: 1, Dial: dial, Dir: root})
	})
}
