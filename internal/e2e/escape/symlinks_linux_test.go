package escape

import (
	"fmt"
	"os"
	"testing"

	"eddy.example/nfs3"
)

// TestSymlinks uses links to what lies outside in every way there is: they are
// objects of their own, and nothing is done to what they point at.
func TestSymlinks(t *testing.T) {
	eachTwice(t, settings{}, func(t *testing.T, w *world) {
		w.mkdir("up/export/links")
		for n, target := range []string{
			w.path("outside"), w.path("outside/d"), w.path("outside/file"), "../../../outside", "../../../outside/file",
			"/", "..", ".", "../..", "/proc/self/root", "/proc/self/cwd", "/proc/self/fd/3", "nothing", "itself",
			fmt.Sprintf("%s/../outside/d", w.path("outside")),
		} {
			name := fmt.Sprint("link", n)
			w.symlink(target, "up/export/links/"+name)
			w.symlink("links/"+name, "up/export/chain")
			w.symlink(name, "up/export/links/itself")
			for _, path := range []string{"links/" + name, "chain", "links/itself"} {
				w.useLink(w.find(path), path, target)
			}
			w.ok(os.Remove(w.in("chain")))
			w.ok(os.Remove(w.in("links/itself")))
		}
	})
}

func (w *world) useLink(fh []byte, path, target string) {
	w.t.Helper()
	before := w.outside()
	w.forget()
	w.want("NFS3_OK", "READLINK of "+path, func() error {
		res, err := w.c.Readlink(ctx, fh)
		if got := string(res.Resok.Data); err == nil && path != "chain" && path != "links/itself" && got != target {
			err = fmt.Errorf("%q, want %q", got, target)
		}
		return err
	})
	for _, use := range w.uses(fh) {
		want := ""
		switch use.takes {
		case aDirectory:
			want = "NFS3ERR_NOTDIR"
		case aFile:
			want = "NFS3ERR_INVAL"
		default:
			continue
		}
		if use.name == "LINK of it" {
			continue
		}
		w.want(want, fmt.Sprintf("%s with %s -> %s", use.name, path, target), use.call)
	}
	// A link can have a second name, times and an owner: its own.
	w.want("NFS3_OK", "LINK of a link", func() error { return drop(w.c.Link(ctx, fh, w.root, "second")) })
	then := nfs3.Sattr3{
		UID:   nfs3.SetUID3{SetIt: true, UID: userID},
		Mtime: nfs3.SetMtime{SetIt: nfs3.SET_TO_CLIENT_TIME, Mtime: nfs3.NFSTime3{Seconds: 1e9}},
	}
	w.want("NFS3_OK", "SETATTR of a link", func() error { return drop(w.c.Setattr(ctx, fh, &then, nil)) })
	w.want("NFS3_OK", "SETATTR of a link's mode", func() error { return drop(w.c.Setattr(ctx, fh, &anyMode, nil)) })
	how := nfs3.Createhow3{Mode: nfs3.UNCHECKED, ObjAttributes: cut}
	w.want("NFS3ERR_EXIST", "CREATE, unchecked, at a link", func() error { return drop(w.c.Create(ctx, w.root, "second", &how)) })
	how = nfs3.Createhow3{Mode: nfs3.EXCLUSIVE}
	w.want("NFS3ERR_EXIST", "CREATE, exclusive, at a link", func() error { return drop(w.c.Create(ctx, w.root, "second", &how)) })
	w.want("NFS3ERR_EXIST", "MKDIR at a link", func() error { return drop(w.c.Mkdir(ctx, w.root, "second", &anyMode)) })
	w.want("NFS3ERR_NOTDIR", "RMDIR of a link", func() error { return drop(w.c.Rmdir(ctx, w.root, "second")) })
	w.want("NFS3_OK", "RENAME of a link", func() error { return drop(w.c.Rename(ctx, w.root, "second", w.root, "third")) })
	w.want("NFS3_OK", "REMOVE of a link", func() error { return drop(w.c.Remove(ctx, w.root, "third")) })
	w.untouched(before)
}

// TestReplacedByLink has what a client holds a handle of replaced by a link to its
// likes outside: the object itself, and a directory above it.
func TestReplacedByLink(t *testing.T) {
	eachTwice(t, settings{}, func(t *testing.T, w *world) {
		w.mkdir("up/export/d/sub")
		for _, name := range []string{"file", "d/file", "d/sub/file"} {
			w.write("up/export/"+name, "inside")
		}
		file, d, sub, deep := w.find("file"), w.find("d"), w.find("d/sub"), w.find("d/sub/file")

		// A file, whose old self is gone.
		w.symlink("../../outside/file", "up/export/new")
		w.rename("up/export/new", "up/export/file")
		w.forget()
		w.refused(file, aFile, "NFS3ERR_STALE", "a file that was replaced by a link")

		// A directory that has another name now.
		w.rename("up/export/d", "up/export/e")
		w.symlink("../../outside/d", "up/export/d")
		w.forget()
		w.has(deep, "inside", "a file below a directory in whose place a link is")
		w.want("NFS3ERR_NOENT", "LOOKUP", func() error { return drop(w.c.Lookup(ctx, d, "secret")) })
		w.want("NFS3_OK", "LOOKUP", func() error { return drop(w.c.Lookup(ctx, sub, "file")) })
		w.want("NFS3ERR_NOTDIR", "LOOKUP in the link", func() error { return drop(w.c.Lookup(ctx, w.find("d"), "secret")) })

		// One that is outside now.
		w.rename("up/export/e", "outside/e")
		w.ok(os.Remove(w.in("d")))
		w.symlink("../../outside/e", "up/export/e")
		w.symlink("../../outside/e", "up/export/d")
		w.forget()
		w.refused(deep, aFile, "NFS3ERR_STALE", "a file that only a link leads to")
		w.refused(sub, aDirectory, "NFS3ERR_STALE", "a directory that only a link leads to")
		w.refused(d, aDirectory, "NFS3ERR_STALE", "a directory that a link points at")
	})
}
