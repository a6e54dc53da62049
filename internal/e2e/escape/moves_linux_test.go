package escape

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/nfs3"
)

// TestDirectoryMovedOut moves a directory out of the tree while handles are held of it and
// of what is in it, and back under another name.
func TestDirectoryMovedOut(t *testing.T) {
	eachTwice(t, settings{}, func(t *testing.T, w *world) {
		w.mkdir("up/export/d/sub/deep")
		w.write("up/export/d/file", "file")
		w.write("up/export/d/sub/file", "file in sub")
		kinds := map[string]kind{"d": aDirectory, "d/file": aFile, "d/sub": aDirectory, "d/sub/file": aFile, "d/sub/deep": aDirectory}
		handles := map[string][]byte{}
		for name := range kinds {
			handles[name] = w.find(name)
		}
		for n := range 2 {
			w.forget()
			w.rename("up/export/d", "outside/moved")
			w.write("outside/moved/secret", secret)
			for name, fh := range handles {
				w.refused(fh, kinds[name], "NFS3ERR_STALE", fmt.Sprint(name, ", moved out ", n))
			}
			w.forget()
			for name, fh := range handles {
				w.refused(fh, kinds[name], "NFS3ERR_STALE", fmt.Sprint(name, ", moved out before the server was started ", n))
			}
			w.ok(os.Remove(w.path("outside/moved/secret")))
			if n == 0 {
				w.rename("outside/moved", "up/export/d")
			} else {
				w.mkdir("up/export/else/where")
				w.rename("outside/moved", "up/export/else/where/e")
			}
			w.forget()
			w.has(handles["d/sub/file"], "file in sub", "a file two levels below what is back")
			w.has(handles["d/file"], "file", "a file in what is back")
			w.want("NFS3_OK", "LOOKUP in what is back", func() error { return drop(w.c.Lookup(ctx, handles["d/sub"], "file")) })
			w.want("NFS3_OK", "READDIR of what is back", func() error { return drop(w.names(handles["d/sub/deep"])) })
		}
	})
}

// TestFileMovedOut moves a file out and back.
func TestFileMovedOut(t *testing.T) {
	eachTwice(t, settings{}, func(t *testing.T, w *world) {
		w.mkdir("up/export/d")
		w.write("up/export/d/f", "file")
		fh := w.find("d/f")
		w.forget()
		w.rename("up/export/d/f", "outside/f")
		w.refused(fh, aFile, "NFS3ERR_STALE", "a file that was moved out")
		w.forget()
		w.rename("outside/f", "up/export/back")
		w.has(fh, "file", "a file that is back")
	})
}

// TestHardLinks has a file with a name inside and one outside: it is served as
// long as it has one inside.
func TestHardLinks(t *testing.T) {
	eachTwice(t, settings{}, func(t *testing.T, w *world) {
		w.mkdir("up/export/d")
		w.write("up/export/d/f", "file")
		w.ok(os.Link(w.in("d/f"), w.path("outside/other")))
		fh := w.find("d/f")
		w.forget()
		w.has(fh, "file", "a file with a name outside")
		w.ok(os.Remove(w.in("d/f")))
		w.forget()
		w.refused(fh, aFile, "NFS3ERR_STALE", "a file whose only name is outside")
		w.ok(os.Link(w.path("outside/other"), w.in("again")))
		w.forget()
		w.has(fh, "file", "a file with a name inside again")
	})
}

// TestRootMoved renames the directory that is served, and those above it. What
// has its old name then is not served.
func TestRootMoved(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.mkdir("up/export/d/sub")
		w.write("up/export/d/sub/f", "file")
		sub, f := w.find("d/sub"), w.find("d/sub/f")
		for _, move := range []func(){
			func() { w.rename("up/export", "up/renamed"); w.symlink("../outside", "up/export") },
			func() { w.rename("up", "above"); w.symlink("outside", "up") },
			func() { w.mkdir("elsewhere"); w.rename("above/renamed", "elsewhere/root") },
			func() { w.rename("elsewhere/root", "outside/root") },
		} {
			move()
			before := w.outside()
			w.has(f, "file", "a file below a root that was renamed")
			w.has(w.find("d/sub/f"), "file", "what was looked up again")
			if _, err := w.c.Lookup(ctx, w.root, "secret"); status(err) != "NFS3ERR_NOENT" {
				t.Errorf("LOOKUP of a name outside: %v", err)
			}
			up, err := w.c.Lookup(ctx, w.root, "..")
			w.ok(err)
			if string(up.Resok.Object.Data) != string(w.root) {
				t.Error(".. of the root is not the root")
			}
			w.want("NFS3_OK", "CREATE", func() error {
				return drop(w.c.Create(ctx, sub, "new", &nfs3.Createhow3{Mode: nfs3.GUARDED, ObjAttributes: anyMode}))
			})
			w.want("NFS3_OK", "RENAME", func() error { return drop(w.c.Rename(ctx, sub, "new", w.root, "new")) })
			w.want("NFS3_OK", "REMOVE", func() error { return drop(w.c.Remove(ctx, w.root, "new")) })
			for path := range before {
				if _, err := os.Lstat(path); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// TestDirectoriesChangePlaces has one directory in the other, and then the other
// in the one, while the server knows of half of that.
func TestDirectoriesChangePlaces(t *testing.T) {
	eachWith(t, settings{MaxOpenFiles: 1}, func(t *testing.T, w *world) {
		w.mkdir("up/export/a/b")
		w.write("up/export/a/file", "in a")
		w.write("up/export/a/b/file", "in b")
		a, b := w.find("a"), w.find("a/b")
		inA, inB := w.find("a/file"), w.find("a/b/file")
		w.rename("up/export/a/b", "up/export/b")
		w.rename("up/export/a", "up/export/b/a")
		if got := final(func() error { return drop(w.c.Lookup(ctx, b, "a")) }); got != "NFS3_OK" {
			t.Fatalf("LOOKUP: %s", got)
		}
		w.crowd()
		w.has(inB, "in b", "the file in what is above now")
		w.crowd()
		w.has(inA, "in a", "the file in what is below now")
		w.crowd()
		w.want("NFS3_OK", "READDIR", func() error { return drop(w.names(a)) })
	})
}

// crowd looks at so many files that no descriptor of before is kept.
func (w *world) crowd() {
	w.t.Helper()
	dir := fmt.Sprint("crowd", w.crowds)
	w.crowds++
	w.mkdir("up/export/" + dir)
	for n := range 200 {
		w.write(fmt.Sprintf("up/export/%s/%d", dir, n), "one of many")
	}
	fh := w.find(dir)
	for range 2 {
		for n := range 200 {
			w.ok(drop(w.c.Lookup(ctx, fh, fmt.Sprint(n))))
		}
	}
}

// TestBoundRoot serves a directory that is mounted from elsewhere in its file system, as
// containers have them. What leaves that directory is outside, though it stays
// in the file system.
func TestBoundRoot(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			w := newWorld(t, way, settings{})
			w.mkdir("up/export/d/sub")
			w.write("up/export/d/sub/f", "file")
			w.mkdir("bound")
			unmount := w.bind("up/export", "bound")
			w.stop()
			w.settings.Root = w.path("bound")
			w.start()
			defer unmount()
			d, sub, f := w.find("d"), w.find("d/sub"), w.find("d/sub/f")
			w.has(f, "file", "a file in a bound directory")
			w.rename("up/export/d", "outside/moved")
			w.refused(d, aDirectory, "NFS3ERR_STALE", "a directory that left the bound one")
			w.refused(sub, aDirectory, "NFS3ERR_STALE", "a directory below it")
			w.refused(f, aFile, "NFS3ERR_STALE", "a file below it")
			w.restart()
			w.refused(sub, aDirectory, "NFS3ERR_STALE", "a directory that left before the server was started")
			w.rename("outside/moved", "up/export/back")
			w.has(f, "file", "a file that is back")
		})
	}
}

// TestRootRemoved removes the directory that is served, and makes another of its name.
func TestRootRemoved(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		fh := w.find("anchor")
		w.ok(os.RemoveAll(w.in("")))
		w.mkdir("up/export")
		w.write("up/export/anchor", "another")
		for _, use := range w.uses(w.root) {
			if use.takes == anExport {
				continue
			}
			w.want("NFS3ERR_STALE NFS3ERR_INVAL NFS3ERR_ISDIR", use.name+" with a root that was removed", use.call)
		}
		w.want("NFS3ERR_STALE", "READ", func() error { return drop(w.read(fh)) })
		w.ok(unix.Access(w.in("anchor"), unix.F_OK))
	})
}
