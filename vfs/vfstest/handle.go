package vfstest

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing/fstest"

	"eddy.example/vfs"
)

var handleCases = []testCase{
	{"Root", nothing, func(f *fixture) {
		h := f.handle(f.root)
		if o, err := f.resolve(h); o != f.root || err != nil {
			f.Errorf("the root's handle %x: %v, %v", h, o, err)
		}
		if o, err := f.resolve([]byte{}); o != f.root || err != nil {
			f.Errorf("the empty handle: %v, %v", o, err)
		}
	}},
	{"RoundTrip", sample, sampled(func(f *fixture) {
		seen := map[string]string{}
		f.each(func(p string, _ *fstest.MapFile, o vfs.Object) {
			h := f.fs.AppendHandle([]byte("before"), o)
			if !bytes.HasPrefix(h, []byte("before")) {
				f.Fatalf("%s: AppendHandle does not append: %q", p, h)
			}
			h = h[len("before"):]
			if len(h) > vfs.MaxHandle {
				f.Errorf("%s: a handle of %d bytes, at most %d are allowed", p, len(h), vfs.MaxHandle)
			}
			if again := f.handle(o); !bytes.Equal(h, again) {
				f.Errorf("%s: the handle was %x and is %x", p, h, again)
			}
			if other, ok := seen[string(h)]; ok {
				f.Errorf("%s has the handle of %s", p, other)
			}
			seen[string(h)] = p
			mine := bytes.Clone(h)
			if got, err := f.resolve(mine); got != o || err != nil {
				f.Errorf("%s: the handle %x is %v, %v, want %v", p, h, got, err, o)
			}
			clear(mine) // the FS has no claim on it
			if got, err := f.resolve(h); got != o || err != nil {
				f.Errorf("%s: the handle %x is %v, %v the second time", p, h, got, err)
			}
		})
	})},
	{"Garbage", sample, sampled(func(f *fixture) {
		// The export's MAC keeps such handles from a backend; one that gets
		// them all the same may find an object, but has no other error.
		h := f.handle(f.mustLookup("dir/leaf"))
		r := rand.New(rand.NewPCG(f.config.Seed, 2))
		for range 2000 {
			g := bytes.Clone(h)
			switch r.IntN(4) {
			case 0:
				g = g[:r.IntN(len(g)+1)]
			case 1:
				g = append(g, make([]byte, r.IntN(vfs.MaxHandle+1-len(g)))...)
			case 2:
				g = make([]byte, r.IntN(vfs.MaxHandle+1))
				for i := range g {
					g[i] = byte(r.Uint32())
				}
			}
			if len(g) > 0 {
				g[r.IntN(len(g))] ^= 1 << r.IntN(8)
			}
			if o, err := f.resolve(g); err != nil && err != vfs.ErrStale && err != vfs.ErrBadHandle && err != vfs.ErrDelay {
				f.Errorf("%x: %v", g, err)
			} else if err == nil {
				_, err := f.getattr(o)
				f.want(err, "getattr of what a made-up handle is", nil, vfs.ErrStale, vfs.ErrBadHandle)
			}
		}
	})},
	{"Renamed", canRename, func(f *fixture) {
		a, b := f.mustMkdir(f.root, "a"), f.mustMkdir(f.root, "b")
		sub := f.mustMkdir(a, "sub")
		file := f.mustCreate(sub, "file", []byte("contents"))
		objects := []vfs.Object{a, sub, file}
		handles := [][]byte{f.handle(a), f.handle(sub), f.handle(file)}
		check := func(what string) {
			f.Helper()
			for i, h := range handles {
				if o, err := f.resolve(h); o != objects[i] || err != nil {
					f.Errorf("%s: handle %d is %v, %v, want %v", what, i, o, err, objects[i])
				}
				if h := f.handle(objects[i]); !bytes.Equal(h, handles[i]) {
					f.Errorf("%s: handle %d was %x and is %x", what, i, handles[i], h)
				}
			}
			if got := f.mustRead(file); string(got) != "contents" {
				f.Errorf("%s: the file has %q", what, got)
			}
		}
		rename := func(from vfs.Object, name string, to vfs.Object, toName string) {
			f.Helper()
			_, _, err := f.rename(from, name, to, toName)
			f.must(err, "rename %s to %s", name, toName)
		}
		rename(sub, "file", sub, "renamed")
		check("after a rename of the file")
		rename(sub, "renamed", b, "moved")
		check("after a move of the file")
		rename(b, "moved", sub, "back")
		rename(a, "sub", b, "sub2")
		check("after a move of its directory")
		rename(f.root, "b", a, "b")
		check("after a move of the directory above")
	}},
	{"Removed", canRemove, func(f *fixture) {
		// What a name was removed from may live on for who has its handle. But
		// the handle never is another object.
		old := f.mustCreate(f.root, "file", []byte("old"))
		h := f.handle(old)
		for i := range 50 {
			_, err := f.remove(f.root, "file")
			f.must(err, "remove")
			o := f.mustCreate(f.root, "file", []byte("new"))
			if o == old {
				f.Fatalf("new file %d is the same object as one that was removed", i)
			}
			if bytes.Equal(f.handle(o), h) {
				f.Fatalf("new file %d has the handle of one that was removed", i)
			}
			f.staleOr(h, old)
		}
	}},
	{"RemovedDirectory", canRmdir, func(f *fixture) {
		gone, stays := f.mustMkdir(f.root, "gone"), f.mustMkdir(f.root, "stays")
		file := f.mustCreate(stays, "file", []byte("contents"))
		hGone, hStays, hFile := f.handle(gone), f.handle(stays), f.handle(file)
		_, err := f.rmdir(f.root, "gone")
		f.must(err, "rmdir")
		f.staleOr(hGone, gone)
		if o, err := f.resolve(hStays); o != stays || err != nil {
			f.Errorf("the directory beside it: %v, %v", o, err)
		}
		if o, err := f.resolve(hFile); o != file || err != nil {
			f.Errorf("a file elsewhere: %v, %v", o, err)
		}
		if _, _, _, err := f.create(gone, "file", vfs.CreateGuarded, [8]byte{}, vfs.SetAttr{}); err != vfs.ErrStale && err != vfs.ErrNotExist {
			f.Errorf("a file was created in a removed directory: %v", err)
		}
	}},
	{"OtherLink", canLink, func(f *fixture) {
		o := f.mustCreate(f.root, "one", []byte("contents"))
		h := f.handle(o)
		_, _, err := f.link(o, f.root, "two")
		f.must(err, "link")
		if f.caps.Remove == nil {
			return
		}
		_, err = f.remove(f.root, "one")
		f.must(err, "remove")
		if got, err := f.resolve(h); got != o || err != nil || string(f.mustRead(got)) != "contents" {
			f.Errorf("the handle of a file that has a name: %v, %v", got, err)
		}
	}},
}

// staleOr checks that a handle is stale or still the object, which has no name
// any more.
func (f *fixture) staleOr(h []byte, o vfs.Object) {
	f.Helper()
	got, err := f.resolve(h)
	if err == vfs.ErrStale {
		return
	}
	if err != nil || got != o {
		f.Errorf("a removed object's handle: %v, %v, want %v or stale", got, err, o)
		return
	}
	a, err := f.getattr(got)
	if err == nil && a.Has(vfs.AttrNlink) && a.Nlink != 0 && a.Type != vfs.TypeDirectory {
		f.Errorf("a removed file has %d links", a.Nlink)
	}
	f.want(err, "getattr of a removed object", nil, vfs.ErrStale)
}

// oddNames are names that are only bytes to NFS. A backend may refuse what it
// can't have, but never take it for another.
var oddNames = []string{
	" ", "-rf", "...", "..x", "~", "a\nb", "a\tb", `a\b`, "*?[]", "\x01", "\x7f", "\xff\xfe",
	"a\x80", "e\u0301", "\u00e9", "CON", "nul.txt", "x:y", "trailing.", "trailing ",
	strings.Repeat("n", 200), strings.Repeat("\u00e9", 127),
}
