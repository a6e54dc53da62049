package client

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5"
	memory "github.com/go-git/go-billy/v5/memfs"
	gonfs "github.com/willscott/go-nfs"
	"github.com/willscott/go-nfs/helpers"
	"go.uber.org/goleak"

	eddy "eddy.example"
	"eddy.example/rpc"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
	"eddy.example/xprt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen returns a listener on a loopback address.
func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func urlOf(l net.Listener) string { return "nfs://" + l.Addr().String() }

func open0(path string, fs *memfs.FS) eddy.Export {
	return eddy.Export{Path: path, FS: fs, Squash: export.SquashNone, InsecurePorts: true}
}

// serve serves exports until t is over, and returns the server's URL without a path.
func serve(t testing.TB, exports ...eddy.Export) string {
	t.Helper()
	l := listen(t)
	s := &eddy.Server{Exports: exports}
	var serving sync.WaitGroup
	serving.Go(func() { s.Serve(l) })
	t.Cleanup(func() {
		s.Close()
		serving.Wait()
	})
	return urlOf(l)
}

// serveMem serves one tree in memory.
func serveMem(t testing.TB) (string, *memfs.FS) {
	fs := memfs.New(memfs.Config{RootMode: 0o777})
	return serve(t, open0("/", fs)), fs
}

// changeable takes changes of mode, owner and times, and forgets them.
type changeable struct{ billy.Filesystem }

func (changeable) Chmod(string, os.FileMode) error            { return nil }
func (changeable) Lchown(string, int, int) error              { return nil }
func (changeable) Chown(string, int, int) error               { return nil }
func (changeable) Chtimes(string, time.Time, time.Time) error { return nil }

// serveGoNFS serves a tree in memory by another implementation.
func serveGoNFS(t testing.TB) string {
	t.Helper()
	l := listen(t)
	gonfs.Log.SetLevel(gonfs.PanicLevel)
	handler := helpers.NewCachingHandler(helpers.NewNullAuthHandler(changeable{memory.New()}), 1024)
	ctx, cancel := context.WithCancel(context.Background())
	s := &gonfs.Server{Handler: handler, Context: ctx}
	var serving sync.WaitGroup
	serving.Go(func() { s.Serve(l) })
	t.Cleanup(func() {
		cancel()
		l.Close()
		serving.Wait()
	})
	return urlOf(l)
}

// command is one of the commands.
type command interface{ run(*env) error }

// try runs a command and returns what it writes.
func try(t testing.TB, c command) (out, said string, err error) {
	t.Helper()
	var o, s bytes.Buffer
	err = c.run(&env{ctx: t.Context(), out: &o, err: &s})
	return o.String(), s.String(), err
}

func must(t testing.TB, c command) string {
	t.Helper()
	out, said, err := try(t, c)
	if err != nil || said != "" {
		t.Fatalf("%+v: %v; said %q", c, err, said)
	}
	return out
}

// fails checks that a command fails with one line that has all of want in it.
func fails(t testing.TB, c command, want ...string) {
	t.Helper()
	_, _, err := try(t, c)
	if err == nil {
		t.Errorf("%+v: no error", c)
		return
	}
	line := err.Error()
	for _, w := range want {
		if !strings.Contains(line, w) {
			t.Errorf("%+v: %q, want %q in it", c, line, w)
		}
	}
	if strings.Contains(line, "\n") {
		t.Errorf("%+v: more than a line: %q", c, line)
	}
}

// pattern is n bytes that repeat nowhere soon.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8 ^ i>>16*7)
	}
	return b
}

// writeTree makes a small tree with all that cp -r copies in it.
func writeTree(t testing.TB, dir string) {
	t.Helper()
	for name, data := range map[string][]byte{
		"a": []byte("alpha"), "empty": nil, "sub/b": pattern(100_000), "sub/deep/c d": []byte("x"), "big": pattern(5<<20 + 3),
	} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("sub/b", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
}

// sameTree checks that two directories have the same in them.
func sameTree(t testing.TB, a, b string) {
	t.Helper()
	if x, y := describe(t, a), describe(t, b); x != y {
		t.Errorf("%s and %s differ:\n%s\n%s", a, b, x, y)
	}
}

func describe(t testing.TB, dir string) string {
	t.Helper()
	var s strings.Builder
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		switch {
		case d.IsDir():
			fmt.Fprintf(&s, "%s/\n", rel)
		case d.Type() == os.ModeSymlink:
			text, err := os.Readlink(p)
			fmt.Fprintf(&s, "%s -> %s %v\n", rel, text, err)
		default:
			b, err := os.ReadFile(p)
			fmt.Fprintf(&s, "%s: %d bytes %x %v\n", rel, len(b), sum(b), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.String()
}

func prefixes(s ...string) (list []netip.Prefix) {
	for _, p := range s {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}

func itoa(i int) string { return strconv.Itoa(i) }

func hexOf(b []byte) string { return hex.EncodeToString(b) }

// bare is a program of nothing but NULL.
type bare uint32

func (p bare) Program() (prog, low, high uint32)           { return uint32(p), 3, 3 }
func (bare) Proc(uint32, uint32) (*rpc.Proc, bool)         { return nil, false }
func (bare) Place(*rpc.Header, []byte) (int, uint64, bool) { return 0, 0, false }
func (bare) Serve(*rpc.Call) error                         { return rpc.ErrProcUnavail }

// serveProgram serves a program of nothing but NULL.
func serveProgram(t testing.TB, prog uint32) string {
	t.Helper()
	l := listen(t)
	var calls rpc.Server
	if err := calls.Register(bare(prog)); err != nil {
		t.Fatal(err)
	}
	transport := xprt.New(xprt.Config{Workers: 1}, &calls)
	var serving sync.WaitGroup
	serving.Go(func() { transport.Serve(l) })
	t.Cleanup(func() {
		transport.Close()
		calls.Shutdown(context.Background())
		serving.Wait()
	})
	return urlOf(l)
}
