package client

import (
	"strings"
	"testing"

	"eddy.example/nfs3"
	"eddy.example/vfs/memfs"
)

func fill(t *testing.T, fs *memfs.FS) {
	t.Helper()
	for name, data := range map[string]string{"hello.txt": "hello, world\n", ".hidden": "", "dir/inner": "12345", "dir/sub/deep": ""} {
		if err := fs.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLs(t *testing.T) {
	u, fs := serveMem(t)
	fill(t, fs)
	for _, tc := range []struct {
		c    Ls
		want string
	}{
		{Ls{URL: []string{u}}, "dir\nhello.txt\n"},
		{Ls{URL: []string{u + "/"}, All: true}, ".hidden\ndir\nhello.txt\n"},
		{Ls{URL: []string{u + "/dir"}}, "inner\nsub\n"},
		{Ls{URL: []string{u + "/dir/../hello.txt"}}, "hello.txt\n"},
		{Ls{URL: []string{u}, Recursive: true}, "dir\nhello.txt\n\n/dir:\ninner\nsub\n\n/dir/sub:\ndeep\n"},
		{Ls{URL: []string{u + "/dir/sub", u + "/hello.txt"}}, u + "/dir/sub:\ndeep\n\n" + u + "/hello.txt:\nhello.txt\n"},
	} {
		if got := must(t, &tc.c); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.c, got, tc.want)
		}
	}
	long := must(t, &Ls{URL: []string{u + "/hello.txt"}, Long: true})
	if f := strings.Fields(long); len(f) != 8 || f[0] != "-rw-r--r--" || f[1] != "1" || f[4] != "13" || f[7] != "hello.txt" {
		t.Errorf("ls -l: %q", long)
	}
	fails(t, &Ls{URL: []string{u + "/nothing"}}, "/nothing", "no such file")
	fails(t, &Ls{URL: []string{u + "/hello.txt/x"}}, "not a directory")
}

// More than fits into one page.
func TestLsLarge(t *testing.T) {
	u, fs := serveMem(t)
	const n = 5000
	for i := range n {
		if err := fs.WriteFile("d/"+strings.Repeat("long", 20)+string(rune('a'+i%26))+itoa(i), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(must(t, &Ls{URL: []string{u + "/d"}}), "\n"); got != n {
		t.Errorf("%d lines, want %d", got, n)
	}
}

// Of several exports the one with the path is found, and if there is none the
// others are told.
func TestExports(t *testing.T) {
	a, b := memfs.New(memfs.Config{RootMode: 0o777}), memfs.New(memfs.Config{RootMode: 0o777})
	fill(t, a)
	u := serve(t, open0("/data", a), open0("/data/dir/x", b))
	if got := must(t, &Ls{URL: []string{u + "/data/dir"}}); got != "inner\nsub\n" {
		t.Errorf("%q", got)
	}
	if got := must(t, &Ls{URL: []string{u + "/data/dir/x"}}); got != "" {
		t.Errorf("%q", got)
	}
	fails(t, &Ls{URL: []string{u}}, "no such export", "/data, /data/dir/x")
	fails(t, &Ls{URL: []string{u + "/other"}}, "no such export", "/data, /data/dir/x")

	closed := open0("/", memfs.New(memfs.Config{}))
	closed.Networks = prefixes("192.0.2.0/24")
	fails(t, &Ls{URL: []string{serve(t, closed)}}, "networks")
	fails(t, &Ls{URL: []string{serve(t)}}, "exports nothing")
}

func TestNobodyThere(t *testing.T) {
	l := listen(t)
	u := urlOf(l)
	l.Close()
	for _, c := range []command{
		&Ls{URL: []string{u}}, &Cat{URL: []string{u}}, &Stat{URL: []string{u}}, &Rm{URL: []string{u}},
		&Ping{URL: u, Count: 1}, &Cp{Paths: []string{u, t.TempDir()}}, &Cp{Paths: []string{"/etc/passwd", u}},
	} {
		fails(t, c, "nobody listens")
	}
}

// A symbolic link on the way is followed, but not out of the export.
func TestLinks(t *testing.T) {
	u, fs := serveMem(t)
	fill(t, fs)
	r, err := open(&env{ctx: t.Context()}, u)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	tree := remoteTree{r}
	root, err := r.find(t.Context(), "/", false)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"rel": "dir", "abs": "/dir/inner", "loop": "loop", "up": "../../dir"} {
		if err := tree.symlink(t.Context(), root, name, text); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"rel/inner": "12345", "abs": "12345", "up/inner": "12345"} {
		if got := must(t, &Cat{URL: []string{u + "/" + name}}); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	fails(t, &Cat{URL: []string{u + "/loop"}}, "too many symbolic links")
	if got := must(t, &Ls{URL: []string{u + "/rel"}, Long: true}); !strings.HasSuffix(got, "rel -> dir\n") || got[0] != 'l' {
		t.Errorf("%q", got)
	}
	must(t, &Rm{URL: []string{u + "/rel"}, Recursive: true})
	if got := must(t, &Ls{URL: []string{u + "/dir"}}); got != "inner\nsub\n" {
		t.Errorf("after the removal of a link to it: %q", got)
	}

	inner := serve(t, open0("/export", fs))
	fails(t, &Cat{URL: []string{inner + "/export/abs"}}, "leads out of the export")
}

func TestFileMode(t *testing.T) {
	for want, a := range map[string]nfs3.Fattr3{
		"-rw-r-----": {Type: nfs3.NF3REG, Mode: 0o640},
		"drwxrwxrwt": {Type: nfs3.NF3DIR, Mode: 0o1777},
		"-rwsr-Sr-T": {Type: nfs3.NF3REG, Mode: 0o7744},
		"crw-------": {Type: nfs3.NF3CHR, Mode: 0o600},
		"?---------": {Type: 99},
	} {
		if got := fileMode(&a); got != want {
			t.Errorf("%+v is %s, want %s", a, got, want)
		}
	}
}
