package escape

import (
	"testing"
)

// TestHandlesOfAnotherExport has a server with the key and the path of the
// export of another, as after a change of what is served there: handles of
// things that lie on the same file system but not below its root are stale.
func TestHandlesOfAnotherExport(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.mkdir("up/export/d/sub")
		w.write("up/export/d/f", "file")
		w.write("up/export/d/sub/f", "file below")
		kinds := map[string]kind{"anchor": aFile, "d": aDirectory, "d/f": aFile, "d/sub": aDirectory, "d/sub/f": aFile}
		handles := map[string][]byte{}
		for name := range kinds {
			handles[name] = w.find(name)
		}
		serve := func(root string) {
			w.stop()
			w.settings.Root = w.path(root)
			w.write(root+"/anchor", "anchor")
			w.start()
		}

		// A directory beside the other.
		old := w.root
		w.mkdir("beside/d")
		serve("beside")
		for name, fh := range handles {
			w.refused(fh, kinds[name], "NFS3ERR_STALE", name+" of another export")
		}
		w.refused(old, aDirectory, "NFS3ERR_STALE", "the root of another export")

		// One of its directories.
		serve("up/export/d")
		w.has(handles["d/f"], "file", "a file of an export in the other")
		w.has(handles["d/sub/f"], "file below", "a file of a directory in it")
		w.refused(handles["anchor"], aFile, "NFS3ERR_STALE", "a file above the root")
		w.refused(old, aDirectory, "NFS3ERR_STALE", "the directory above the root")
		up, err := w.c.Lookup(ctx, handles["d"], "..")
		w.ok(err)
		if string(up.Resok.Object.Data) != string(w.root) {
			t.Error("there is a way to above the root")
		}

		// The directory above it.
		inside := w.root
		serve("up")
		w.has(handles["anchor"], "anchor", "a file of an export that is in another now")
		w.has(handles["d/sub/f"], "file below", "a file below it")
		w.want("NFS3_OK", "READDIR of what was the root", func() error { return drop(w.names(inside)) })
	})
}
