package escape

import (
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/nfs3"
)

// mountThings mounts over what is in the export: another file system, a directory
// and a file of outside.
func (w *world) mountThings() (unmount func()) {
	w.t.Helper()
	w.ok(unix.Mount("tmpfs", w.in("mnt"), "tmpfs", 0, ""))
	all := []func(){w.unmounter("up/export/mnt")}
	w.mkdir("up/export/mnt/sub")
	w.write("up/export/mnt/file", "in the tmpfs")
	all = append(all, w.bind("outside", "up/export/bind"), w.bind("outside/file", "up/export/over"))
	return func() {
		for _, f := range all {
			f()
		}
	}
}

// TestMountPoints has things mounted below the root while the server runs, which is not
// to cross mounts: what they hide is served on, what they show is not.
func TestMountPoints(t *testing.T) {
	eachTwice(t, settings{}, func(t *testing.T, w *world) {
		w.mkdir("up/export/mnt/hidden")
		w.mkdir("up/export/bind")
		w.write("up/export/mnt/file", "hidden")
		w.write("up/export/over", "hidden too")
		hidden := map[string][]byte{}
		for _, name := range []string{"mnt", "mnt/hidden", "mnt/file", "bind", "over"} {
			hidden[name] = w.find(name)
		}
		unmount := w.mountThings()
		w.forget()
		before := w.outside()
		for _, name := range []string{"mnt", "bind", "over"} {
			const refused = "NFS3ERR_ACCES"
			w.want(refused, "LOOKUP of "+name, func() error { return drop(w.c.Lookup(ctx, w.root, name)) })
			if e := w.entry(w.root, name); e.NameHandle.HandleFollows || e.NameAttributes.AttributesFollow {
				t.Errorf("READDIRPLUS has a handle or attributes of %s", name)
			}
			for _, use := range w.namings(w.root, name) {
				switch use.name {
				case "LOOKUP":
				case "RENAME from", "RENAME to", "REMOVE", "RMDIR":
					w.want(refused+" NFS3ERR_NOTDIR NFS3ERR_ISDIR", use.name+" of "+name, use.call)
				default:
					w.want(refused+" NFS3ERR_EXIST", use.name+" of "+name, use.call)
				}
			}
			for _, path := range []string{"/" + name, "/" + name + "/sub", "/" + name + "/file"} {
				if _, err := w.c.Mount(ctx, path); err == nil {
					t.Errorf("MNT of %s is allowed", path)
				}
			}
		}
		// By their handles the objects are what they were, or nothing for now.
		const later = " NFS3ERR_STALE NFS3ERR_ACCES"
		w.want("NFS3ERR_NOENT"+later, "LOOKUP in a covered directory", func() error { return drop(w.c.Lookup(ctx, hidden["bind"], "secret")) })
		for _, name := range []string{"mnt/file", "over"} {
			w.want("NFS3_OK"+later, "READ of "+name, func() error { return drop(w.read(hidden[name])) })
		}
		w.want("NFS3_OK"+later, "LINK of a covered file", func() error { return drop(w.c.Link(ctx, hidden["over"], w.root, "linked")) })
		w.untouched(before)
		unmount()
		w.forget()
		w.has(hidden["mnt/file"], "hidden", "a file that was covered")
		w.has(hidden["over"], "hidden too", "a file on which one was mounted")
		w.want("NFS3_OK", "LOOKUP", func() error { return drop(w.c.Lookup(ctx, hidden["mnt"], "hidden")) })
	})
}

// TestCrossedMounts serves what is mounted below the root as well, on demand: as
// file systems of their own, without a way to what lies beside them.
func TestCrossedMounts(t *testing.T) {
	eachTwice(t, settings{CrossMounts: true}, func(t *testing.T, w *world) {
		w.mkdir("up/export/mnt")
		w.mkdir("up/export/bind")
		w.write("up/export/over", "hidden")
		unmount := w.mountThings()
		before := w.outside()
		mnt := w.find("mnt")
		file := w.find("mnt/file")
		w.forget()
		w.has(file, "in the tmpfs", "a file in a mounted file system")
		attr, err := w.c.Getattr(ctx, mnt)
		w.ok(err)
		top, err := w.c.Getattr(ctx, w.root)
		w.ok(err)
		if attr.Resok.ObjAttributes.Fsid == top.Resok.ObjAttributes.Fsid {
			t.Error("two file systems have one fsid")
		}
		for _, path := range []string{"mnt", "mnt/sub"} {
			res, err := w.c.Lookup(ctx, w.find(path), "..")
			w.ok(err)
			want := w.root
			if path == "mnt/sub" {
				want = mnt
			}
			if string(res.Resok.Object.Data) != string(want) {
				t.Errorf(".. of %s is elsewhere", path)
			}
		}
		w.want("NFS3ERR_XDEV", "LINK across", func() error { return drop(w.c.Link(ctx, w.anchor, mnt, "linked")) })
		w.want("NFS3ERR_XDEV", "LINK back", func() error { return drop(w.c.Link(ctx, file, w.root, "linked")) })
		w.want("NFS3ERR_XDEV", "RENAME across", func() error { return drop(w.c.Rename(ctx, w.root, "anchor", mnt, "renamed")) })
		w.want("NFS3ERR_XDEV", "RENAME back", func() error { return drop(w.c.Rename(ctx, mnt, "file", w.root, "renamed")) })
		w.want("NFS3ERR_ACCES NFS3ERR_XDEV", "RENAME of a mount point", func() error { return drop(w.c.Rename(ctx, w.root, "mnt", w.root, "renamed")) })
		w.want("NFS3ERR_ACCES NFS3ERR_NOTEMPTY", "RMDIR of a mount point", func() error { return drop(w.c.Rmdir(ctx, w.root, "mnt")) })
		w.want("NFS3_OK", "CREATE in a mounted file system", func() error {
			return drop(w.c.Create(ctx, mnt, "new", &nfs3.Createhow3{Mode: nfs3.GUARDED, ObjAttributes: anyMode}))
		})
		w.untouched(before)

		// What is not mounted any more is not served any more.
		unmount()
		const gone = "NFS3ERR_STALE NFS3ERR_XDEV" // to link it here would be wrong anyway
		w.refused(file, aFile, gone, "a file of a file system that was unmounted")
		w.refused(mnt, aDirectory, gone, "the root of a file system that was unmounted")
		w.has(w.find("over"), "hidden", "a file on which one was mounted")
		w.want("NFS3ERR_NOENT", "LOOKUP in the directory that is there now", func() error { return drop(w.c.Lookup(ctx, w.find("mnt"), "file")) })
	})
}
