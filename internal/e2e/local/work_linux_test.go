package local

import (
	"archive/tar"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"
	"time"

	"eddy.example/internal/e2e/guest"
	"eddy.example/internal/kernelclient"
	"eddy.example/vfs/export"
)

//go:embed testdata/work.sh
var work string

// library is where Debian has tcc's library and the C library's parts.
const library = "/usr/lib/x86_64-linux-gnu/"

func TestWork(t *testing.T) {
	t.Parallel()
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) {
		n := 2000
		if os.Getenv("EDDY_LONG") == "1" {
			n = 20_000
		}
		archive := filepath.Join(t.TempDir(), "tree.tar")
		want := makeArchive(t, archive, n)
		programs := map[string]string{
			"/srv/repository": makeRepository(t),
			"/srv/tree.tar":   archive,
			"/usr/bin/git":    "/usr/bin/git",
			"/usr/bin/make":   "/usr/bin/make",
			"/usr/bin/tcc":    "/usr/bin/tcc",
			library + "tcc":   library + "tcc",
		}
		for _, name := range []string{"git-upload-pack", "git-receive-pack"} {
			programs["/usr/bin/"+name] = "/usr/bin/git"
		}
		for _, part := range []string{"crt1.o", "crti.o", "crtn.o", "libc.so", "libc_nonshared.a", "ld-linux-x86-64.so.2"} {
			programs[library+part] = library + part
		}
		w := newWorld(t)
		out := w.run(t, kernelclient.Config{Kernel: k, Memory: 2048, Files: programs}, work, w.open(t, "/", export.SquashNone))

		compare(t, "what was packed", want, readArchive(t, bytes.NewReader(out["tree.tar"])))
		compare(t, "the server's directory", want, readTree(t, w.path("tree")))
	})
}

// makeRepository makes a bare repository of some commits.
func makeRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=Somebody", "GIT_AUTHOR_EMAIL=somebody@example.org",
			"GIT_COMMITTER_NAME=Somebody", "GIT_COMMITTER_EMAIL=somebody@example.org")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main", "work")
	for commit := range 5 {
		for i := range 40 {
			text := fmt.Sprintf("file %d of commit %d\n", i, commit)
			if err := os.WriteFile(filepath.Join(dir, "work", fmt.Sprintf("file-%d", i)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		git("-C", "work", "add", ".")
		git("-C", "work", "commit", "-q", "-m", fmt.Sprint("Commit ", commit))
	}
	git("clone", "-q", "--bare", "work", "bare")
	return filepath.Join(dir, "bare")
}

// makeArchive writes an archive of n files of all modes, sizes and ages, with links
// among them, and returns what is in it.
func makeArchive(t *testing.T, name string, n int) map[string]string {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := tar.NewWriter(f)
	random := rand.New(rand.NewPCG(3, 4))
	want := make(map[string]string)
	add := func(h tar.Header, data []byte) {
		h.Size = int64(len(data))
		h.ModTime = time.Unix(1e9+random.Int64N(5e8), 0)
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		want[path.Clean(h.Name)] = describe(&h, data)
	}
	var dir string
	for i := range n {
		if i%100 == 0 {
			dir = fmt.Sprintf("dir-%d/sub", i)
			for _, d := range []string{path.Dir(dir), dir} {
				add(tar.Header{Typeflag: tar.TypeDir, Name: d + "/", Mode: 0o755}, nil)
			}
		}
		h := tar.Header{
			Typeflag: tar.TypeReg, Name: fmt.Sprintf("%s/file %d", dir, i), Mode: 0o400 | random.Int64N(0o400),
			Uid: 1000 + random.IntN(4), Gid: 1000 + random.IntN(4),
		}
		if i%20 == 19 {
			// Busybox leaves a symbolic link to who unpacks it.
			h.Typeflag, h.Linkname, h.Mode, h.Uid, h.Gid = tar.TypeSymlink, fmt.Sprintf("file %d", i-1), 0o777, 0, 0
			add(h, nil)
			continue
		}
		data := make([]byte, random.IntN(3000))
		for j := range data {
			data[j] = byte(random.Uint32())
		}
		add(h, data)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return want
}

// describe is all that an archive says about an entry. A directory gets files after
// its time was set, and no two programs agree on a symbolic link's.
func describe(h *tar.Header, data []byte) string {
	s := fmt.Sprintf("%c %o %d:%d %q %x", h.Typeflag, h.Mode&0o7777, h.Uid, h.Gid, h.Linkname, data)
	if h.Typeflag == tar.TypeReg {
		s += h.ModTime.UTC().String()
	}
	return s
}

func readArchive(t *testing.T, r io.Reader) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for a := tar.NewReader(r); ; {
		h, err := a.Next()
		if err == io.EOF {
			delete(all, ".")
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(a)
		if err != nil {
			t.Fatal(err)
		}
		all[path.Clean(h.Name)] = describe(h, data)
	}
}

// readTree is readArchive for what lies in a directory.
func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		target := ""
		if info.Mode()&os.ModeSymlink != 0 {
			if target, err = os.Readlink(name); err != nil {
				return err
			}
		}
		h, err := tar.FileInfoHeader(info, target)
		if err != nil {
			return err
		}
		if h.Name, err = filepath.Rel(dir, name); err != nil {
			return err
		}
		if err := w.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return readArchive(t, &b)
}

// compare checks what was found of what was in an archive.
func compare(t *testing.T, where string, want, got map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	t.Errorf("%s: %d entries, want %d", where, len(got), len(want))
	shown := 0
	for name, w := range want {
		if g := got[name]; g != w && shown < 5 {
			shown++
			t.Errorf("%s: %s is %.120q, want %.120q", where, name, g, w)
		}
	}
}
