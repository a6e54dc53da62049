package client

import (
	"strings"
	"testing"

	"eddy.example/nfs3"
)

func TestStat(t *testing.T) {
	u, fs := serveMem(t)
	fill(t, fs)
	out := must(t, &Stat{URL: []string{u + "/hello.txt"}, Filesystem: true})
	for _, want := range []string{
		"path /hello.txt", "export /", "type regular file", "mode 0644 -rw-r--r--", "size 13", "links 1",
		"READ at most 1048576 bytes", "name at most 255 bytes", "hard links true",
	} {
		found := false
		for line := range strings.Lines(out) {
			found = found || strings.HasPrefix(strings.Join(strings.Fields(line), " "), want)
		}
		if !found {
			t.Errorf("no line %q in\n%s", want, out)
		}
	}
	r, err := open(&env{ctx: t.Context()}, u)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	n, err := r.find(t.Context(), "/hello.txt", false)
	if err != nil || !strings.Contains(out, hexOf(n.fh)) {
		t.Errorf("%v: handle %x is not in\n%s", err, n.fh, out)
	}
	must(t, &Stat{URL: []string{serveGoNFS(t)}, Filesystem: true})
}

func TestRmRefuses(t *testing.T) {
	u, fs := serveMem(t)
	fill(t, fs)
	fails(t, &Rm{URL: []string{u + "/dir"}}, "-r")
	fails(t, &Rm{URL: []string{u}, Recursive: true}, "export itself")
	fails(t, &Rm{URL: []string{u + "/nothing"}}, "no such file")
	must(t, &Rm{URL: []string{u + "/hello.txt", u + "/dir/inner"}})
	if got := must(t, &Ls{URL: []string{u}, Recursive: true}); got != "dir\n\n/dir:\nsub\n\n/dir/sub:\ndeep\n" {
		t.Errorf("%q", got)
	}
}

func TestPing(t *testing.T) {
	u, _ := serveMem(t)
	out := must(t, &Ping{URL: u, Count: 2})
	for _, want := range []string{"NFS version 3 at ", "MOUNT version 3 at ", "seq=2 ", "NFS: 2 of 2 answered", "MOUNT: 2 of 2 answered"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	must(t, &Ping{URL: serveGoNFS(t), Count: 1})

	// A program that is not there.
	only := serveProgram(t, nfs3.MOUNT_PROGRAM)
	out, said, err := try(t, &Ping{URL: only, Count: 1})
	if err == nil || !strings.Contains(said, "no NFS program") || !strings.Contains(out, "MOUNT: 1 of 1") {
		t.Errorf("%v: %q, %q", err, said, out)
	}
	fails(t, &Ls{URL: []string{serveProgram(t, 7)}}, "no MOUNT program")
}

// A user who may not is told what to try.
func TestPermission(t *testing.T) {
	u, fs := serveMem(t)
	if err := fs.WriteFile("secret", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, &Cat{URL: []string{u + "/secret?uid=1000&gid=1000"}}, "permission denied for uid 1000", "uid=")
	if got := must(t, &Cat{URL: []string{u + "/secret?uid=0"}}); got != "x" {
		t.Errorf("%q", got)
	}
}
