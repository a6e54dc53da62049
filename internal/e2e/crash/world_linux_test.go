//go:build amd64 || arm64 || riscv64

// As for internal/blockdev.

package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/internal/blockdev"
	"eddy.example/internal/e2e/serve"
	"eddy.example/internal/loopfs"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/export"
	"eddy.example/vfs/local"
	"eddy.example/xprt"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sizes are as small as the file systems may be, in MiB.
var sizes = map[string]int{"xfs": 300, "ext4": 64, "btrfs": 256}

// connections each have so many clients on them.
const connections, perConnection = 4, 2

// recording is a device, and what clients were promised of what is on it.
type recording struct {
	kind    string
	dev     *blockdev.Device
	fsid    unix.Fsid
	clients []*client
	places  []byte // the map of places, as the server left it when it was closed
}

// What lies on a device: what is served, and the server's state.
const treeName, stateName = "tree", "state"

// placesFile is where the map of places is below a state directory.
const placesFile = "places/handles"

// config is how the clients work.
type config struct {
	kind  string
	seed  uint64
	steps int // of each client
	local local.Config
	wrap  func(*local.FS) vfs.FS

	unstable bool // writes are all UNSTABLE
}

// record lets clients work on a server that stands on a recording device, then stops
// it and unmounts the device.
func record(t *testing.T, c config) *recording {
	t.Helper()
	r := &recording{kind: c.kind, dev: blockdev.New(t, sizes[c.kind])}
	dir := filepath.Join(t.TempDir(), c.kind)
	mount := func() {
		t.Helper()
		if err := loopfs.Mount(r.dev.Path(), c.kind, dir); err != nil {
			t.Fatal(err)
		}
	}
	mkdir(t, dir)
	if err := loopfs.Make(c.kind, r.dev.Path()); err != nil {
		t.Fatal(err)
	}
	mount()
	r.fsid = fsid(t, dir)
	tree := filepath.Join(dir, treeName)
	for _, d := range []string{tree, filepath.Join(tree, sharedName)} {
		mkdir(t, d)
	}
	for i := range connections * perConnection {
		mkdir(t, filepath.Join(tree, clientName(i)))
	}
	// Unmounted and mounted again, the directories are safe.
	if err := loopfs.Unmount(dir); err != nil {
		t.Fatal(err)
	}
	mount()
	r.dev.Forget()

	t.Run("record", func(t *testing.T) { r.work(t, dir, c) })
	places, err := os.ReadFile(filepath.Join(dir, stateName, placesFile))
	if err := errors.Join(err, loopfs.Unmount(dir)); err != nil {
		t.Fatal(err)
	}
	r.places = places
	return r
}

func clientName(i int) string { return string(rune('a' + i)) }

// work runs a server on a device that is mounted at dir, and the clients.
func (r *recording) work(t *testing.T, dir string, c config) {
	addr := start(t, filepath.Join(dir, treeName), filepath.Join(dir, stateName), c)
	var group sync.WaitGroup
	number := new(atomic.Uint64)
	for i := range connections {
		cred := &rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: fmt.Append(nil, i)}
		conn, err := nfs3.Dial(ctx, "tcp", addr, cred, rpc.ClientConfig{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		for j := range perConnection {
			n := i*perConnection + j
			cl := &client{
				name: clientName(n), nfs: conn, rnd: rand.New(rand.NewPCG(c.seed, uint64(n))), clock: r.dev.Now, halves: r.kind == "btrfs", unstable: c.unstable,
				model: newModel(), nextID: firstID, number: number,
			}
			if cl.handles, err = roots(conn, cl.name); err != nil {
				t.Fatal(err)
			}
			r.clients = append(r.clients, cl)
			group.Go(func() {
				if err := cl.run(c.steps); err != nil {
					t.Error(err)
				}
			})
		}
	}
	group.Wait()
}

// start serves tree as long as t lasts. Handles hold from one server to the next.
func start(t *testing.T, tree, state string, c config) (addr string) {
	t.Helper()
	c.local.Root, c.local.State = tree, state
	lfs, err := local.Open(c.local)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lfs.Close(); err != nil {
			t.Error(err)
		}
	})
	var fs vfs.FS = lfs
	if c.wrap != nil {
		fs = c.wrap(lfs)
	}
	s := &eddy.Server{Workers: 2, HandleKey: eddy.Key{1}, Exports: []eddy.Export{
		{Path: "/", FS: fs, Squash: export.SquashNone, InsecurePorts: true},
	}}
	l, err := xprt.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serve.Start(t, s, l)
	return l.Addr().String()
}

// roots are the handles of the directories that are there from the beginning.
func roots(c *nfs3.Client, name string) (map[int][]byte, error) {
	root, err := c.Mount(ctx, "/")
	if err != nil {
		return nil, err
	}
	ownDir, err := c.Lookup(ctx, root, name)
	sharedDir, err2 := c.Lookup(ctx, root, sharedName)
	return map[int][]byte{own: ownDir.Resok.Object.Data, shared: sharedDir.Resok.Object.Data}, errors.Join(err, err2)
}

// last is the moment of the last promise.
func (r *recording) last() (moment int) {
	for _, c := range r.clients {
		moment = max(moment, c.history[len(c.history)-1].acked)
	}
	return moment
}

// cuts returns n moments, in order: one half right before a flush or right
// behind it, the other half anywhere. n = 0 is both moments of every flush.
func (r *recording) cuts(n int, rnd *rand.Rand) []int {
	last := r.last()
	seen := make(map[int]bool)
	flushes := r.dev.Flushes()
	for i, f := range flushes {
		if f > last {
			flushes = flushes[:i]
			break
		}
		if n == 0 {
			seen[f-1], seen[f] = true, true
		}
	}
	for i := range n {
		if i%2 == 0 && len(flushes) > 0 {
			seen[flushes[rnd.IntN(len(flushes))]-rnd.IntN(2)] = true
		} else {
			seen[rnd.IntN(last+1)] = true
		}
	}
	seen[last] = true
	return sorted(seen)
}

func (r *recording) client(name string) *client {
	return r.clients[slices.IndexFunc(r.clients, func(c *client) bool { return c.name == name })]
}

// compare compares the names of each client below tree with those after a cut.
func (r *recording) compare(tree string, cut int) (all []*comparison) {
	for _, c := range r.clients {
		all = append(all, compare(c.history.at(cut), tree, c.name))
	}
	return all
}

// lost cuts the power and says what is wrong then, of the names of each client.
func (r *recording) lost(t *testing.T, cut int) map[string][]string {
	t.Helper()
	wrong := make(map[string][]string)
	r.mounted(t, cut, func(dir string) {
		for _, c := range r.compare(filepath.Join(dir, treeName), cut) {
			if len(c.wrong) > 0 {
				wrong[c.client] = c.wrong
			}
		}
	})
	return wrong
}

// fsid is what a file system calls itself: with kind btrfs its own number, with
// others the device's, which may be any.
func fsid(t *testing.T, dir string) unix.Fsid {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != unix.BTRFS_SUPER_MAGIC {
		return unix.Fsid{}
	}
	return s.Fsid
}

// mounted cuts the power and mounts what is left.
func (r *recording) mounted(t *testing.T, cut int, look func(dir string)) {
	t.Helper()
	image := r.dev.Image(t, cut, uint64(cut))
	defer image.Close()
	dev, err := loopfs.Attach(image, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := dev.Detach(); err != nil {
			t.Fatal(err)
		}
	}()
	dir := filepath.Join(t.TempDir(), "image")
	mkdir(t, dir)
	// Looking must not change what the next one sees.
	mount := func() {
		if err := loopfs.Mount(dev.Path(), r.kind, dir, "-o", "noatime"); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
	mount()
	// btrfs gives an image another number while one before it is mounted somewhere:
	// in mount namespaces of others, which copied that mount, too.
	for fsid(t, dir) != r.fsid {
		if err := loopfs.Unmount(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		mount()
	}
	defer func() {
		if err := loopfs.Unmount(dir); err != nil {
			t.Fatal(err)
		}
	}()
	look(dir)
}
