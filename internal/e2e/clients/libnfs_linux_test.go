package clients

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	eddy "eddy.example"
	"eddy.example/internal/netns"
	"eddy.example/vfs/memfs"
)

// random returns n bytes that do not repeat.
func random(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// listing is what nfs-ls says: sizes by name, those of directories being 0.
func listing(t *testing.T, out string) map[string]int {
	t.Helper()
	sizes := make(map[string]int)
	for line := range strings.Lines(out) {
		f := strings.Fields(line) // mode, links, owner, group, size, name
		if len(f) != 6 {
			t.Fatalf("nfs-ls says %q", line)
		}
		n, err := strconv.Atoi(f[4])
		if err != nil {
			t.Fatalf("nfs-ls says %q", line)
		}
		if f[0][0] == 'd' {
			n = 0
		}
		sizes[f[5]] = n
	}
	return sizes
}

// libnfs splits the path of a file at its last slash and mounts what is before
// it, which must not be empty: so a file of the root directory has two slashes.

// The tools as somebody uses them who has pasted the banner's command.
func TestServeCommandWithLibnfs(t *testing.T) {
	ns := netns.New(t)
	ls := startCommand(t, ns, netip.AddrPortFrom(loopback, 2049))["libnfs"]
	sizes := listing(t, run(t, ns, "sh", "-c", ls))
	for name, least := range map[string]int{"README.txt": 100, "hello.txt": 13, "docs": 0, "pub": 0} {
		if n, ok := sizes[name]; !ok || n < least {
			t.Errorf("%q lists no %s of at least %d bytes", ls, name, least)
		}
	}

	// The other tools take the same URL, with the path of a file in it.
	before, after, ok := strings.Cut(strings.Trim(strings.TrimPrefix(ls, "nfs-ls "), "'"), "/?")
	if !ok {
		t.Fatalf("no URL: %s", ls)
	}
	url := func(path string) string { return before + path + "?" + after }
	if got := run(t, ns, "nfs-cat", url("//hello.txt")); got != "hello, world\n" {
		t.Errorf("nfs-cat of hello.txt: %q", got)
	}
	digits := strings.Repeat("0123456789abcdef\n", 4096)
	if got := run(t, ns, "nfs-cat", url("/docs/numbers.txt")); got != digits {
		t.Errorf("nfs-cat of docs/numbers.txt: %d bytes", len(got))
	}
	run(t, ns, "nfs-cp", url("/docs/numbers.txt"), url("/pub/copy.txt"))
	if got := run(t, ns, "nfs-cat", url("/pub/copy.txt")); got != digits {
		t.Errorf("the copy in pub has %d bytes", len(got))
	}
	if out, err := try(t, ns, "nfs-cp", url("//hello.txt"), url("/docs/hello.txt")); err == nil {
		t.Errorf("root may write outside pub: %s", out)
	}
}

func TestLibnfs(t *testing.T) {
	fs := memfs.New(memfs.Config{RootMode: 0o777})
	want := map[string]int{"empty": 0, "deep": 0}
	lengths := []int{1, 511, 4096, 47008, 3<<20 + 5}
	for _, n := range lengths {
		name := fmt.Sprint("file-", n)
		want[name] = n
		if err := fs.WriteFile(name, random(n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := fs.WriteFile("empty", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		if err := fs.WriteFile(fmt.Sprintf("deep/down/entry-%04d", i), make([]byte, i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ns := netns.New(t)
	s := &eddy.Server{Exports: []eddy.Export{open("/", fs)}}
	addr := start(t, ns, loopback, s)
	url := func(path string) string {
		return fmt.Sprintf("nfs://127.0.0.1%s?version=3&nfsport=%[2]d&mountport=%[2]d", path, addr.Port())
	}

	t.Run("list", func(t *testing.T) {
		got := listing(t, run(t, ns, "nfs-ls", url("/")))
		for name, n := range want {
			if got[name] != n {
				t.Errorf("%s has %d bytes, want %d", name, got[name], n)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d entries, want %d", len(got), len(want))
		}
		got = listing(t, run(t, ns, "nfs-ls", url("/deep/down")))
		for i := range 2000 {
			if n, ok := got[fmt.Sprintf("entry-%04d", i)]; n != i || !ok {
				t.Errorf("entry %d has %d bytes (%v)", i, n, ok)
			}
		}
		if len(got) != 2000 {
			t.Errorf("%d entries, want 2000", len(got))
		}
	})
	t.Run("read", func(t *testing.T) {
		for _, n := range lengths {
			if got := run(t, ns, "nfs-cat", url(fmt.Sprint("//file-", n))); got != string(random(n)) {
				t.Errorf("%d bytes come as %d, or as others", n, len(got))
			}
		}
	})
	t.Run("write", func(t *testing.T) {
		dir, c := t.TempDir(), inside(t, s)
		for _, n := range lengths {
			copied := fmt.Sprint("copy-", n) // nfs-cp overwrites nothing
			here, back := filepath.Join(dir, fmt.Sprint("up-", n)), filepath.Join(dir, fmt.Sprint("down-", n))
			if err := os.WriteFile(here, random(n), 0o644); err != nil {
				t.Fatal(err)
			}
			run(t, ns, "nfs-cp", here, url("//"+copied))
			sum := sha256.New()
			copyFile(t, sum, c, copied)
			if want := sha256.Sum256(random(n)); !bytes.Equal(sum.Sum(nil), want[:]) {
				t.Errorf("%d bytes arrived as others", n)
			}
			run(t, ns, "nfs-cp", url("//"+copied), back)
			if got, err := os.ReadFile(back); err != nil || !bytes.Equal(got, random(n)) {
				t.Errorf("%d bytes came back as %d, or as others (%v)", n, len(got), err)
			}
		}
	})
	t.Run("wrong path", func(t *testing.T) {
		for _, path := range []string{"/nowhere", "/file-1", "/../etc"} {
			if out, err := try(t, ns, "nfs-ls", url(path)); err == nil {
				t.Errorf("%s is listed: %s", path, out)
			}
		}
	})
}
