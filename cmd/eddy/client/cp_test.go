package client

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
)

// Every way around, a tree comes back as it was: between two servers of ours,
// and one that is not.
func TestCpTree(t *testing.T) {
	local := filepath.Join(t.TempDir(), "tree")
	writeTree(t, local)
	ours, _ := serveMem(t)
	other, _ := serveMem(t)
	for name, servers := range map[string][2]string{
		"eddy": {ours, other}, "to go-nfs": {ours, serveGoNFS(t)}, "from go-nfs": {serveGoNFS(t), other},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, &Cp{Paths: []string{local, servers[0] + "/one" + itoa(len(name))}, Recursive: true})
			must(t, &Cp{Paths: []string{servers[0] + "/one" + itoa(len(name)), servers[1] + "/two" + itoa(len(name))}, Recursive: true})
			must(t, &Cp{Paths: []string{servers[1] + "/two" + itoa(len(name)), filepath.Join(dir, "back")}, Recursive: true})
			sameTree(t, local, filepath.Join(dir, "back"))
			// Into a directory that is there.
			must(t, &Cp{Paths: []string{servers[1] + "/two" + itoa(len(name)), dir}, Recursive: true})
			sameTree(t, local, filepath.Join(dir, "two"+itoa(len(name))))
			if got := must(t, &Cat{URL: []string{servers[1] + "/two" + itoa(len(name)) + "/big"}}); got != string(pattern(5<<20+3)) {
				t.Errorf("cat: %d bytes that are not those", len(got))
			}
			must(t, &Rm{URL: []string{servers[1] + "/two" + itoa(len(name))}, Recursive: true})
			if got := must(t, &Ls{URL: []string{servers[1]}}); strings.Contains(got, "two") {
				t.Errorf("after rm -r: %q", got)
			}
		})
	}
}

// A longer file is replaced by a shorter one.
func TestCpReplaces(t *testing.T) {
	u, fs := serveMem(t)
	if err := fs.WriteFile("f", pattern(300_000), 0o644); err != nil {
		t.Fatal(err)
	}
	p := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(p, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, &Cp{Paths: []string{p, u}})
	if got := must(t, &Cat{URL: []string{u + "/f"}}); got != "short" {
		t.Errorf("%d bytes", len(got))
	}
}

func TestCpPreserves(t *testing.T) {
	u, _ := serveMem(t)
	dir := t.TempDir()
	p := filepath.Join(dir, "d", "f")
	if err := os.Mkdir(filepath.Dir(p), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte("x"), 0o604); err != nil {
		t.Fatal(err)
	}
	when := time.Unix(1_000_000_000, 123_456_789)
	for _, name := range []string{p, filepath.Dir(p)} {
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}
	must(t, &Cp{Paths: []string{filepath.Dir(p), u}, Recursive: true, Preserve: true})
	must(t, &Cp{Paths: []string{u + "/d", filepath.Join(dir, "e")}, Recursive: true, Preserve: true})
	for name, mode := range map[string]os.FileMode{"e": 0o750, "e/f": 0o604} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode || !info.ModTime().Equal(when) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestCpRefuses(t *testing.T) {
	u, fs := serveMem(t)
	fill(t, fs)
	tmp := t.TempDir()
	for _, tc := range []struct {
		c    Cp
		want string
	}{
		{Cp{Paths: []string{u + "/dir", tmp}}, "-r"},
		{Cp{Paths: []string{"/etc/passwd", tmp}}, "both local"},
		{Cp{Paths: []string{u + "/hello.txt", u + "/hello.txt"}}, "is the file that is to be copied"},
		{Cp{Paths: []string{u + "/dir", u + "/dir/sub"}, Recursive: true}, "into itself"},
		{Cp{Paths: []string{u + "/hello.txt", u + "/dir/inner", u + "/new"}}, "not a directory"},
		{Cp{Paths: []string{u + "/nothing", tmp}}, "no such file"},
		{Cp{Paths: []string{filepath.Join(tmp, "nothing"), u}}, "no such file"},
		{Cp{Paths: []string{u + "/hello.txt", filepath.Join(tmp, "no", "way")}}, "no such file"},
		{Cp{Paths: []string{u + "/hello.txt", u + "/no/way"}}, "no such file"},
	} {
		fails(t, &tc.c, tc.want)
	}
	if got := must(t, &Cat{URL: []string{u + "/hello.txt"}}); got != "hello, world\n" {
		t.Errorf("after all that: %q", got)
	}
}

// forgetful loses what was written, so often, before the first COMMIT comes.
type forgetful struct {
	*memfs.FS
	losses atomic.Int64
	boot   atomic.Int64
}

func (f *forgetful) Write(c *vfs.Call, o vfs.Object, p []byte, off uint64, _ vfs.Stability, chg *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	n, _, _, err := f.FS.Write(c, o, p[:min(len(p), 1000_00)], off, vfs.FileSync, chg)
	return n, vfs.Unstable, vfs.Verifier{byte(f.boot.Load())}, err
}

func (f *forgetful) Commit(c *vfs.Call, o vfs.Object, off, n uint64, chg *vfs.Change) (vfs.Verifier, error) {
	if f.losses.Add(-1) >= 0 {
		f.boot.Add(1)
		var a vfs.Attr
		if err := f.Getattr(c, o, vfs.AttrSize, &a); err != nil {
			return vfs.Verifier{}, err
		}
		if _, _, _, err := f.FS.Write(c, o, make([]byte, min(a.Size, 1<<20)), 0, vfs.FileSync, nil); err != nil {
			return vfs.Verifier{}, err
		}
	}
	return vfs.Verifier{byte(f.boot.Load())}, nil
}

// What a server has lost before it was committed is written again; short
// writes are continued.
func TestCpRewrites(t *testing.T) {
	p := filepath.Join(t.TempDir(), "f")
	data := pattern(2_500_000)
	if err := os.WriteFile(p, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for losses, fine := range map[int64]bool{0: true, 1: true, 2: true, 3: false} {
		fs := &forgetful{FS: memfs.New(memfs.Config{RootMode: 0o777})}
		fs.losses.Store(losses)
		x := open0("/", nil)
		x.FS = fs
		u := serve(t, []eddy.Export{x}...)
		_, _, err := try(t, &Cp{Paths: []string{p, u}})
		if (err == nil) != fine {
			t.Errorf("%d losses: %v", losses, err)
		}
		if fine {
			if got := must(t, &Cat{URL: []string{u + "/f"}}); !bytes.Equal([]byte(got), data) {
				t.Errorf("%d losses: other data", losses)
			}
		}
	}
}

// A name or a link that a server makes up leads nowhere outside.
func TestCpStaysInside(t *testing.T) {
	u, _ := serveMem(t)
	r, err := open(&env{ctx: t.Context()}, u)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	root, err := r.find(t.Context(), "/", false)
	if err != nil {
		t.Fatal(err)
	}
	tree := remoteTree{r}
	d, err := tree.mkdir(t.Context(), root, "d", 0o777)
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := tree.symlink(t.Context(), d, "link", outside); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	must(t, &Cp{Paths: []string{u + "/d", to}, Recursive: true})
	// The server now says that the link is a directory with a file in it.
	must(t, &Rm{URL: []string{u + "/d/link"}})
	if _, err := tree.mkdir(t.Context(), d, "link", 0o777); err != nil {
		t.Fatal(err)
	}
	must(t, &Cp{Paths: []string{filepath.Join("testdata", "file"), u + "/d/link/file"}})
	fails(t, &Cp{Paths: []string{u + "/d", to}, Recursive: true}, "link")
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("outside: %v, %v", entries, err)
	}
	for _, name := range []string{"", ".", "..", "a/b", "/", "a\x00"} {
		if validName(name) {
			t.Errorf("%q is a name", name)
		}
	}
}
