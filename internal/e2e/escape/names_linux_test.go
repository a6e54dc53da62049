package escape

import (
	"fmt"
	"strings"
	"testing"

	"eddy.example/nfs3"
)

// TestNames gives each procedure that takes a name those that are no names of
// anything in the directory, or of things beyond it.
func TestNames(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.mkdir("up/export/d/sub")
		w.write("up/export/d/sub/file", "file")
		d := w.find("d")
		before := w.outside()
		const refused, dots = "NFS3ERR_ACCES", "dots"
		for name, want := range map[string]string{
			"":                                 refused,
			"/":                                refused,
			"//":                               refused,
			"/etc/passwd":                      refused,
			w.path("outside/secret"):           refused,
			"sub/file":                         refused,
			"sub/":                             refused,
			"./sub":                            refused,
			"../anchor":                        refused,
			"../../../outside/secret":          refused,
			"sub/../../../../outside/secret":   refused,
			"sub\x00":                          refused,
			"..\x00":                           refused,
			"\x00":                             refused,
			"..\x00/../outside":                refused,
			strings.Repeat("x", 256):           "NFS3ERR_NAMETOOLONG",
			strings.Repeat("x", 5000):          "NFS3ERR_NAMETOOLONG",
			strings.Repeat("../", 40) + "tmp":  refused,
			strings.Repeat("/", 300):           refused,
			strings.Repeat("../", 90) + "proc": refused,
			".":                                dots,
			"..":                               dots,
		} {
			for _, use := range w.namings(d, name) {
				want := want
				if want == dots {
					// They are there, whatever may be made of that.
					want = use.dots
				}
				w.want(want, fmt.Sprintf("%s of %.40q", use.name, name), use.call)
			}
		}
		w.untouched(before)
		if names, err := w.names(d); err != nil || len(names) != 1 {
			t.Errorf("%q are in the directory now: %v", names, err)
		}
	})
}

// naming is a call that takes a name, and what may become of it with "." and
// "..".
type naming struct {
	name, dots string
	call       func() error
}

func (w *world) namings(dir []byte, name string) []naming {
	c := w.c
	create := func(mode nfs3.Createmode3) func() error {
		how := nfs3.Createhow3{Mode: mode, ObjAttributes: anyMode}
		return func() error { return drop(c.Create(ctx, dir, name, &how)) }
	}
	const exist, invalid = "NFS3ERR_EXIST", "NFS3ERR_INVAL"
	return []naming{
		{"LOOKUP", "NFS3_OK", func() error { return drop(c.Lookup(ctx, dir, name)) }},
		{"CREATE, unchecked", exist, create(nfs3.UNCHECKED)},
		{"CREATE, guarded", exist, create(nfs3.GUARDED)},
		{"CREATE, exclusive", exist, create(nfs3.EXCLUSIVE)},
		{"MKDIR", exist, func() error { return drop(c.Mkdir(ctx, dir, name, &anyMode)) }},
		{"SYMLINK", exist, func() error { return drop(c.Symlink(ctx, dir, name, "x", new(nfs3.Sattr3))) }},
		{"MKNOD", exist, func() error {
			return drop(c.Mknod(ctx, dir, name, &nfs3.Mknoddata3{Type: nfs3.NF3FIFO, PipeAttributes: anyMode}))
		}},
		{"REMOVE", "NFS3ERR_ISDIR NFS3ERR_INVAL NFS3ERR_ACCES", func() error { return drop(c.Remove(ctx, dir, name)) }},
		{"RMDIR", "NFS3ERR_INVAL NFS3ERR_NOTEMPTY NFS3ERR_EXIST", func() error { return drop(c.Rmdir(ctx, dir, name)) }},
		{"RENAME from", invalid, func() error { return drop(c.Rename(ctx, dir, name, dir, "new")) }},
		{"RENAME to", invalid + " " + exist, func() error { return drop(c.Rename(ctx, w.root, "anchor", dir, name)) }},
		{"LINK", exist, func() error { return drop(c.Link(ctx, w.anchor, dir, name)) }},
	}
}

// TestUpwards goes up from everywhere, further than there is.
func TestUpwards(t *testing.T) {
	eachTwice(t, settings{}, func(t *testing.T, w *world) {
		w.mkdir("up/export/a/b/c/d")
		fh := w.find("a/b/c/d")
		w.forget()
		for n := range 20 {
			res, err := w.c.Lookup(ctx, fh, "..")
			w.ok(err)
			fh = res.Resok.Object.Data
			if atRoot := string(fh) == string(w.root); atRoot != (n >= 3) {
				t.Fatalf("%d levels above a/b/c/d: the root: %v", n+1, atRoot)
			}
		}
	})
}

// TestMountPaths asks MOUNT for what lies outside, and for links that lead there.
func TestMountPaths(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.mkdir("up/export/d")
		w.symlink(w.path("outside"), "up/export/absolute")
		w.symlink("../../outside", "up/export/relative")
		w.symlink("absolute", "up/export/chain")
		w.symlink("/", "up/export/top")
		w.symlink("..", "up/export/d/parent")
		for _, path := range []string{
			"/absolute", "/relative", "/chain", "/top", "/d/parent", "/absolute/d", "/relative/d/sub", "/chain/d", "/top/etc",
			"/d/parent/d", "/absolute/.", "//absolute//", "/anchor", "/anchor/x",
		} {
			if _, err := w.c.Mount(ctx, path); err == nil || !strings.Contains(err.Error(), "NOTDIR") {
				t.Errorf("MNT of %s: %v", path, err)
			}
		}
		for _, path := range []string{
			"..", "/..", "/d/..", "/d/../..", "/../outside", "/d/../../../outside", "outside", w.path("outside"), w.path("up/export"),
			"/outside", "/etc", "/proc/self/root", "/d\x00", "/d/%2e%2e/%2e%2e/outside", `/d/..\..\outside`, "/.../outside",
		} {
			if _, err := w.c.Mount(ctx, path); err == nil || !strings.Contains(err.Error(), "NOENT") {
				t.Errorf("MNT of %q: %v", path, err)
			}
		}
		for _, path := range []string{"/", "", "/.", "//", "/d/..."} {
			fh, err := w.c.Mount(ctx, path)
			if path == "/d/..." {
				if err == nil {
					t.Errorf("MNT of %s: three dots are a name", path)
				}
				continue
			}
			if err != nil || string(fh) != string(w.root) {
				t.Errorf("MNT of %q: %v", path, err)
			}
		}
	})
}
