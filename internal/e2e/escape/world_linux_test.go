package escape

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"eddy.example/internal/loopfs"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs/local"
)

// userID is the user and group of the callers, of the user's server, and of
// all that lies in a world.
const userID = 1000

// secret is what lies outside, and nowhere else.
const secret = "not for anybody's eyes"

var (
	ctx  = context.Background()
	cred = rpc.Cred{Flavor: rpc.AUTH_SYS, UID: userID, GID: userID, Machine: []byte("client")}
)

// way is a way to serve a directory.
type way struct {
	name    string
	handles local.Handles
	serve   func(settings) (*server, error)
}

var ways = []way{
	{"kernel", local.HandlesKernel, serveHere},
	{"map", local.HandlesMap, serveHere},
	{"user", local.HandlesAuto, serveThere},
}

// each runs a test in a world of each way.
func each(t *testing.T, test func(*testing.T, *world)) {
	eachWith(t, settings{}, test)
}

func eachWith(t *testing.T, s settings, test func(*testing.T, *world)) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) { test(t, newWorld(t, way, s)) })
	}
}

// eachTwice runs it again with a server that is started anew before each use of
// [world.forget].
func eachTwice(t *testing.T, s settings, test func(*testing.T, *world)) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) { test(t, newWorld(t, way, s)) })
		t.Run(way.name+" restarted", func(t *testing.T) {
			w := newWorld(t, way, s)
			w.forgetful = true
			test(t, w)
		})
	}
}

// world is a directory with a server of a part of it:
//
//	up/export     what is served
//	outside       what is not, with the secret
type world struct {
	t         *testing.T
	base      string
	settings  settings
	way       way
	forgetful bool

	server *server
	c      *nfs3.Client
	root   []byte
	anchor []byte // the file "anchor" in the root
	crowds int
}

func newWorld(t *testing.T, way way, s settings) *world {
	loopfs.NeedRoot(t)
	w := &world{t: t, base: t.TempDir(), settings: s, way: way}
	// The user's server has to come here.
	for dir := w.base; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		w.ok(os.Chmod(dir, 0o755))
	}
	w.mkdir("up/export")
	w.mkdir("outside/d/sub")
	w.mkdir("state")
	w.write("up/export/anchor", "anchor")
	for _, name := range []string{"secret", "file", "d/secret", "d/file", "d/sub/secret", "d/sub/file"} {
		w.write("outside/"+name, secret)
	}
	w.settings.Root, w.settings.State = w.path("up/export"), w.path("state")
	w.settings.Handles = way.handles
	w.settings.HandleKey[0] = 1
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

func (w *world) start() {
	w.t.Helper()
	var err error
	if w.server, err = w.way.serve(w.settings); err != nil {
		w.t.Fatal(err)
	}
	w.c, err = nfs3.Dial(ctx, "tcp", w.server.addr, &cred, rpc.ClientConfig{})
	w.ok(err)
	w.root, err = w.c.Mount(ctx, "/")
	w.ok(err)
	w.anchor = w.find("anchor")
}

func (w *world) stop() {
	w.t.Helper()
	w.c.Close()
	if err := w.server.stop(); err != nil {
		w.t.Errorf("stopping the server: %v", err)
	}
}

// restart starts the server anew: nothing is left of it but its state.
func (w *world) restart() {
	w.t.Helper()
	w.stop()
	w.start()
}

// forget is restart in a test that is run with and without.
func (w *world) forget() {
	w.t.Helper()
	if w.forgetful {
		w.restart()
	}
}

// path is a path below the base.
func (w *world) path(name string) string { return filepath.Join(w.base, name) }

// in is a path in what is served, as long as it is not moved.
func (w *world) in(name string) string { return filepath.Join(w.base, "up/export", name) }

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) own(path string) {
	w.t.Helper()
	w.ok(os.Lchown(path, userID, userID))
}

// mkdir, write, symlink and rename work on the host, with paths below the base.
func (w *world) mkdir(name string) {
	w.t.Helper()
	path := w.base
	for part := range strings.SplitSeq(name, "/") {
		path = filepath.Join(path, part)
		if err := os.Mkdir(path, 0o755); !errors.Is(err, fs.ErrExist) {
			w.ok(err)
			w.own(path)
		}
	}
}

func (w *world) write(name, contents string) {
	w.t.Helper()
	w.ok(os.WriteFile(w.path(name), []byte(contents), 0o644))
	w.own(w.path(name))
}

func (w *world) symlink(target, name string) {
	w.t.Helper()
	w.ok(os.Symlink(target, w.path(name)))
	w.own(w.path(name))
}

func (w *world) rename(from, to string) {
	w.t.Helper()
	w.ok(os.Rename(w.path(from), w.path(to)))
}

// bind mounts what from is over to, until the test ends.
func (w *world) bind(from, to string) (unmount func()) {
	w.t.Helper()
	w.ok(unix.Mount(w.path(from), w.path(to), "", unix.MS_BIND, ""))
	return w.unmounter(to)
}

func (w *world) unmounter(at string) func() {
	path, done := w.path(at), false
	unmount := func() {
		if !done {
			done = true
			w.ok(unix.Unmount(path, unix.MNT_DETACH))
		}
	}
	w.t.Cleanup(unmount)
	return unmount
}

// find looks a path up.
func (w *world) find(path string) []byte {
	w.t.Helper()
	fh := w.root
	for name := range strings.SplitSeq(path, "/") {
		res, err := w.c.Lookup(ctx, fh, name)
		if err != nil {
			w.t.Fatalf("looking up %s of %s: %v", name, path, err)
		}
		fh = res.Resok.Object.Data
	}
	return fh
}

// status is the name of the status that a call was answered with.
func status(err error) string {
	var e *nfs3.Error
	switch {
	case err == nil:
		return "NFS3_OK"
	case errors.As(err, &e):
		return e.Status.String()
	}
	return err.Error()
}

// patience is how often a call that is to be made again later is made. Nothing
// passes or fails by it that does not hang.
const patience = 30_000

// final makes a call until its answer is not to come again later, and returns the
// status.
func final(call func() error) string {
	for n := 0; ; n++ {
		s := status(call())
		if s != "NFS3ERR_JUKEBOX" || n == patience {
			return s
		}
		time.Sleep(time.Millisecond)
	}
}

// want makes a call and checks its final status: one of several words.
func (w *world) want(want, what string, call func() error) {
	w.t.Helper()
	if got := final(call); !strings.Contains(" "+want+" ", " "+got+" ") {
		w.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// read returns what a file has, and checks that it is no secret.
func (w *world) read(fh []byte) (string, error) {
	p := make([]byte, 1000)
	res, err := w.c.Read(ctx, fh, p, 0)
	got := string(res.Resok.Data)
	if strings.Contains(got, secret) {
		w.t.Errorf("a READ got at the secret")
	}
	return got, err
}

// has checks what a file has.
func (w *world) has(fh []byte, want, what string) {
	w.t.Helper()
	w.want("NFS3_OK", "READ of "+what, func() error {
		got, err := w.read(fh)
		if err == nil && got != want {
			err = fmt.Errorf("%q, want %q", got, want)
		}
		return err
	})
}

// names lists a directory.
func (w *world) names(dir []byte) (names []string, err error) {
	var verf nfs3.Cookieverf3
	for cookie := uint64(0); ; {
		res, err := w.c.Readdir(ctx, dir, cookie, verf, 4096)
		if err != nil {
			return nil, err
		}
		verf = res.Resok.Cookieverf
		for _, e := range res.Resok.Reply.Entries {
			cookie = e.Cookie
			if n := string(e.Name); n != "." && n != ".." {
				names = append(names, n)
			}
		}
		if res.Resok.Reply.Eof {
			return names, nil
		}
	}
}

// entry is what READDIRPLUS says about a name.
func (w *world) entry(dir []byte, name string) (e nfs3.Entryplus3) {
	w.t.Helper()
	res, err := w.c.Readdirplus(ctx, dir, 0, nfs3.Cookieverf3{}, 1<<16, 1<<16)
	w.ok(err)
	for _, e := range res.Resok.Reply.Entries {
		if string(e.Name) == name {
			return e
		}
	}
	w.t.Fatalf("READDIRPLUS has no %s", name)
	return e
}

// outside is all that lies outside: what each name is and has.
func (w *world) outside() map[string]string {
	w.t.Helper()
	all := make(map[string]string)
	w.ok(filepath.WalkDir(w.path("outside"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		var contents []byte
		if d.Type().IsRegular() {
			contents, err = os.ReadFile(path)
		}
		all[path] = fmt.Sprintf("mode %o, user %d, %d links, modified %v: %s", st.Mode, st.Uid, st.Nlink, st.Mtim, contents)
		return err
	}))
	return all
}

// untouched checks that nothing outside is other than it was before.
func (w *world) untouched(before map[string]string) {
	w.t.Helper()
	if diff := cmp.Diff(before, w.outside()); diff != "" {
		w.t.Errorf("outside something was changed:\n%s", diff)
	}
}

// kind is what an object is, or what a call takes.
type kind int

const (
	anything kind = iota
	aDirectory
	aFile
	aLink
	anExport
)

// attempt is a call.
type attempt struct {
	name  string
	takes kind
	call  func() error
}

var (
	anyMode = nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: 0o777}}
	cut     = nfs3.Sattr3{Size: nfs3.SetSize3{SetIt: true, Size: 1}}
)

// drop is for a call of which only the error counts.
func drop[R any](_ R, err error) error { return err }

// uses are calls of every procedure that takes a handle, on fh: as a directory
// that has "file" and "sub", and as a file.
func (w *world) uses(fh []byte) []attempt {
	c, root := w.c, w.root
	create := func(mode nfs3.Createmode3) func() error {
		how := nfs3.Createhow3{Mode: mode, ObjAttributes: anyMode}
		return func() error { return drop(c.Create(ctx, fh, "created", &how)) }
	}
	return []attempt{
		{"GETATTR", anything, func() error { return drop(c.Getattr(ctx, fh)) }},
		{"ACCESS", anything, func() error { return drop(c.Access(ctx, fh, 0x3f)) }},
		{"READLINK", aLink, func() error { return drop(c.Readlink(ctx, fh)) }},
		{"READ", aFile, func() error { return drop(w.read(fh)) }},
		{"LOOKUP", aDirectory, func() error { return drop(c.Lookup(ctx, fh, "file")) }},
		{"LOOKUP of what is not there", aDirectory, func() error { return drop(c.Lookup(ctx, fh, "nothing")) }},
		{"LOOKUP of .", aDirectory, func() error { return drop(c.Lookup(ctx, fh, ".")) }},
		{"LOOKUP of ..", aDirectory, func() error { return drop(c.Lookup(ctx, fh, "..")) }},
		{"READDIR", aDirectory, func() error { return drop(w.names(fh)) }},
		{"READDIRPLUS", aDirectory, func() error { return drop(c.Readdirplus(ctx, fh, 0, nfs3.Cookieverf3{}, 4096, 8192)) }},
		{"FSSTAT", anything, func() error { return drop(c.Fsstat(ctx, fh)) }},
		{"FSINFO", anExport, func() error { return drop(c.Fsinfo(ctx, fh)) }},
		{"PATHCONF", anExport, func() error { return drop(c.Pathconf(ctx, fh)) }},
		{"SETATTR of the mode", anything, func() error { return drop(c.Setattr(ctx, fh, &anyMode, nil)) }},
		{"SETATTR of the size", aFile, func() error { return drop(c.Setattr(ctx, fh, &cut, nil)) }},
		{"WRITE", aFile, func() error { return drop(c.Write(ctx, fh, []byte("written"), 0, nfs3.FILE_SYNC)) }},
		{"COMMIT", aFile, func() error { return drop(c.Commit(ctx, fh, 0, 0)) }},
		{"CREATE, unchecked", aDirectory, create(nfs3.UNCHECKED)},
		{"CREATE, guarded", aDirectory, create(nfs3.GUARDED)},
		{"CREATE, exclusive", aDirectory, create(nfs3.EXCLUSIVE)},
		{"MKDIR", aDirectory, func() error { return drop(c.Mkdir(ctx, fh, "made", &anyMode)) }},
		{"SYMLINK", aDirectory, func() error { return drop(c.Symlink(ctx, fh, "link", "file", new(nfs3.Sattr3))) }},
		{"MKNOD", aDirectory, func() error {
			return drop(c.Mknod(ctx, fh, "fifo", &nfs3.Mknoddata3{Type: nfs3.NF3FIFO, PipeAttributes: anyMode}))
		}},
		{"LINK of it", aFile, func() error { return drop(c.Link(ctx, fh, root, "linked")) }},
		{"LINK in it", aDirectory, func() error { return drop(c.Link(ctx, w.anchor, fh, "linked")) }},
		{"RENAME from it", aDirectory, func() error { return drop(c.Rename(ctx, fh, "file", root, "renamed")) }},
		{"RENAME into it", aDirectory, func() error { return drop(c.Rename(ctx, root, "anchor", fh, "renamed")) }},
		{"REMOVE in it", aDirectory, func() error { return drop(c.Remove(ctx, fh, "file")) }},
		{"RMDIR in it", aDirectory, func() error { return drop(c.Rmdir(ctx, fh, "sub")) }},
	}
}

// refused checks that every use of fh, which is of is, is answered with want, and
// changes nothing outside. That a call is not for its kind may be noticed first,
// and what is the same all over the export may be told.
func (w *world) refused(fh []byte, is kind, want, what string) {
	w.t.Helper()
	before := w.outside()
	for _, use := range w.uses(fh) {
		want := want
		switch use.takes {
		case anything, is:
		case aDirectory:
			want += " NFS3ERR_NOTDIR"
		case anExport:
			want += " NFS3_OK"
		default:
			want += " NFS3ERR_INVAL NFS3ERR_ISDIR"
		}
		w.want(want, use.name+" with "+what, use.call)
	}
	w.untouched(before)
}
