package vfstest

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing/fstest"

	"eddy.example/vfs"
)

var lookupCases = []testCase{
	{"Dots", sample, sampled(func(f *fixture) {
		dir, sub := f.mustLookup("dir"), f.mustLookup("dir/sub")
		for _, tc := range []struct {
			dir  vfs.Object
			name string
			want vfs.Object
		}{
			{f.root, ".", f.root}, {f.root, "..", f.root}, {dir, ".", dir},
			{dir, "..", f.root}, {sub, "..", dir}, {sub, ".", sub},
		} {
			if o, err := f.lookup(tc.dir, tc.name); o != tc.want || err != nil {
				f.Errorf("%q: %v, %v, want %v", tc.name, o, err, tc.want)
			}
		}
	})},
	{"Same", sample, sampled(func(f *fixture) {
		first := map[string]vfs.Object{}
		f.each(func(p string, _ *fstest.MapFile, o vfs.Object) { first[p] = o })
		f.each(func(p string, _ *fstest.MapFile, o vfs.Object) {
			if first[p] != o {
				f.Errorf("%s: two lookups return different objects", p)
			}
		})
	})},
	{"Attributes", sample, sampled(func(f *fixture) {
		dir := f.mustLookup("dir")
		var o vfs.Object
		var a vfs.Attr
		f.must(f.try(func(c *vfs.Call) (err error) { o, err = f.fs.Lookup(c, dir, "leaf", &a); return }), "lookup")
		f.sameAttr("Lookup and Getattr", a, f.mustGetattr(o))
	})},
	{"Missing", sample, sampled(func(f *fixture) {
		for _, name := range []string{"nothing", "Hello", "hell", "hello ", "...", "\xff\xfe", "\x00", "*", `\`} {
			if name == "Hello" && f.caps.Limits.CaseInsensitive {
				continue
			}
			_, err := f.lookup(f.root, name)
			f.want(err, name, vfs.ErrNotExist)
		}
		_, err := f.lookup(f.root, strings.Repeat("n", int(f.caps.Limits.MaxName)+1))
		f.want(err, "a name too long", vfs.ErrNameTooLong)
	})},
	{"NotDir", sample, sampled(func(f *fixture) {
		for _, name := range []string{"leaf", ".", ".."} {
			_, err := f.lookup(f.mustLookup("hello"), name)
			f.want(err, name+" in a file", vfs.ErrNotDir)
		}
	})},
	{"LinkNotFollowed", hasLinks, sampled(func(f *fixture) {
		if a := f.mustGetattr(f.mustLookup("link")); a.Type != vfs.TypeSymlink {
			f.Errorf("a link's type is %d", a.Type)
		}
		_, err := f.lookup(f.mustLookup("link"), "leaf")
		f.want(err, "a name in a link", vfs.ErrNotDir)
	})},
}

// attrNeeded is what no backend can be without.
const attrNeeded = vfs.AttrType | vfs.AttrMode | vfs.AttrSize | vfs.AttrFileID | vfs.AttrMtime

var getattrCases = []testCase{
	{"Root", nothing, func(f *fixture) {
		a := f.mustGetattr(f.root)
		if !a.Has(attrNeeded) {
			f.Errorf("attributes %b are known, at least %b have to be", a.Mask, attrNeeded)
		}
		if a.Type != vfs.TypeDirectory {
			f.Errorf("the root has type %d", a.Type)
		}
	}},
	{"Sample", sample, sampled(func(f *fixture) {
		ids := map[uint64]string{f.mustGetattr(f.root).FileID: "the root"}
		f.each(func(p string, file *fstest.MapFile, o vfs.Object) {
			a := f.mustGetattr(o)
			if !a.Has(attrNeeded) {
				f.Errorf("%s: attributes %b are known, at least %b have to be", p, a.Mask, attrNeeded)
			}
			want := vfs.TypeRegular
			switch file.Mode & fs.ModeType {
			case fs.ModeDir:
				want = vfs.TypeDirectory
			case fs.ModeSymlink:
				want = vfs.TypeSymlink
			}
			if a.Type != want {
				f.Errorf("%s: type %d, want %d", p, a.Type, want)
			}
			if want != vfs.TypeDirectory && a.Size != uint64(len(file.Data)) {
				f.Errorf("%s: size %d, want %d", p, a.Size, len(file.Data))
			}
			if want == vfs.TypeRegular && a.Mode != uint32(file.Mode.Perm()) && !f.config.Permissive {
				f.Errorf("%s: mode %o, want %o", p, a.Mode, file.Mode.Perm())
			}
			if other, ok := ids[a.FileID]; ok {
				f.Errorf("%s has the fileid of %s", p, other)
			}
			ids[a.FileID] = p
			f.checkAttr(p, a)
			f.sameAttr(p+" twice", a, f.mustGetattr(o))
		})
	})},
	{"Left", sample, sampled(func(f *fixture) {
		f.each(func(p string, _ *fstest.MapFile, o vfs.Object) {
			buf := alignedPages(1 << 16)
			for name, call := range map[string]func(c *vfs.Call) error{
				"Lookup":     func(c *vfs.Call) error { _, err := f.fs.Lookup(c, o, "leaf", nil); return err },
				"Lookup ..":  func(c *vfs.Call) error { _, err := f.fs.Lookup(c, o, "..", nil); return err },
				"not Lookup": func(c *vfs.Call) error { _, err := f.fs.Lookup(c, o, "nothing", nil); return err },
				"Read":       func(c *vfs.Call) error { _, _, err := f.fs.Read(c, o, buf, 1); return err },
				"ReadSegment": func(c *vfs.Call) error {
					if f.caps.Segment == nil {
						return nil
					}
					c.KernelSends = true
					s, _, err := f.caps.Segment.ReadSegment(c, o, 0, len(buf))
					if err == nil && s.Owner != nil {
						s.Owner.Release()
					}
					return err
				},
				"Readlink": func(c *vfs.Call) error {
					if f.caps.Readlink == nil {
						return nil
					}
					_, err := f.caps.Readlink.Readlink(c, o)
					return err
				},
				"Access": func(c *vfs.Call) error {
					if f.caps.Access == nil {
						return nil
					}
					_, err := f.caps.Access.Access(c, o, vfs.AccessRead)
					return err
				},
			} {
				var left vfs.Attr
				err := f.try(func(c *vfs.Call) error {
					c.Attr, left.Mask = &left, 0
					return call(c)
				})
				if left.Mask != 0 {
					f.checkAttr(name+" of "+p, left)
					f.sameAttr(fmt.Sprintf("%s of %s, which was %v, and Getattr", name, p, err), left, f.mustGetattr(o))
				}
			}
		})
	})},
}

// checkAttr checks the ranges of attributes.
func (f *fixture) checkAttr(what string, a vfs.Attr) {
	f.Helper()
	if a.Type < vfs.TypeRegular || a.Type > vfs.TypeFIFO {
		f.Errorf("%s: type %d", what, a.Type)
	}
	if a.Mode > 0o7777 {
		f.Errorf("%s: mode %o has more than permissions", what, a.Mode)
	}
	if a.Has(vfs.AttrNlink) && a.Nlink == 0 {
		f.Errorf("%s: no links", what)
	}
	for _, t := range []vfs.Time{a.Atime, a.Mtime, a.Ctime, a.Btime} {
		if t.Nsec >= 1e9 {
			f.Errorf("%s: %d ns", what, t.Nsec)
		}
	}
}

// sameAttr checks that what a and b both know, but for the times of access, is
// the same.
func (f *fixture) sameAttr(what string, a, b vfs.Attr) {
	f.Helper()
	a.Atime, b.Atime = vfs.Time{}, vfs.Time{}
	both := a.Mask & b.Mask
	if both&attrNeeded != attrNeeded {
		f.Errorf("%s: only attributes %b are known", what, both)
	}
	a, b = masked(a, both), masked(b, both)
	if a != b {
		f.Errorf("%s: attributes differ:\n%+v\n%+v", what, a, b)
	}
}

// masked is a with nothing but m.
func masked(a vfs.Attr, m vfs.AttrMask) vfs.Attr {
	out := vfs.Attr{Mask: m}
	for _, field := range []struct {
		mask vfs.AttrMask
		copy func()
	}{
		{vfs.AttrType, func() { out.Type = a.Type }},
		{vfs.AttrMode, func() { out.Mode = a.Mode }},
		{vfs.AttrNlink, func() { out.Nlink = a.Nlink }},
		{vfs.AttrUID, func() { out.UID = a.UID }},
		{vfs.AttrGID, func() { out.GID = a.GID }},
		{vfs.AttrSize, func() { out.Size = a.Size }},
		{vfs.AttrUsed, func() { out.Used = a.Used }},
		{vfs.AttrRdev, func() { out.RdevMajor, out.RdevMinor = a.RdevMajor, a.RdevMinor }},
		{vfs.AttrFSID, func() { out.FSID = a.FSID }},
		{vfs.AttrFileID, func() { out.FileID = a.FileID }},
		{vfs.AttrAtime, func() { out.Atime = a.Atime }},
		{vfs.AttrMtime, func() { out.Mtime = a.Mtime }},
		{vfs.AttrCtime, func() { out.Ctime = a.Ctime }},
		{vfs.AttrChange, func() { out.Change = a.Change }},
		{vfs.AttrBtime, func() { out.Btime = a.Btime }},
	} {
		if m&field.mask != 0 {
			field.copy()
		}
	}
	return out
}

var readCases = []testCase{
	{"Whole", sample, sampled(func(f *fixture) {
		f.each(func(p string, file *fstest.MapFile, o vfs.Object) {
			if file.Mode.IsRegular() && !bytes.Equal(f.mustRead(o), file.Data) {
				f.Errorf("%s: other contents", p)
			}
		})
	})},
	{"Ranges", sample, sampled(func(f *fixture) {
		for _, p := range []string{"empty", "hello", "page", "page+1", "big"} {
			o, data := f.mustLookup(p), sampleTree()[p].Data
			size := len(data)
			for _, off := range []int{0, 1, 3, 511, 4095, 4096, 4097, size - 4097, size - 1, size, size + 1, size + 4096, 1 << 20} {
				for _, n := range []int{0, 1, 2, 511, 4095, 4096, 4097, 47008, 65536, 1 << 20} {
					if off < 0 || n > 1<<16 && size < 1<<16 {
						continue
					}
					got, eof, err := f.read(o, uint64(off), n)
					want := data[min(off, size):min(off+n, size)]
					if err != nil || !bytes.Equal(got, want) || eof != (off+n >= size) {
						f.Errorf("%s: %d bytes at %d of %d: %d bytes (right: %v), eof %v, %v", p, n, off, size, len(got), bytes.Equal(got, want), eof, err)
					}
				}
			}
		}
	})},
	{"HugeOffsets", sample, sampled(func(f *fixture) {
		for _, p := range []string{"empty", "page"} {
			o := f.mustLookup(p)
			for _, off := range []uint64{1 << 31, 1<<32 - 1, 1 << 32, 1 << 62, math.MaxInt64 - 1, math.MaxInt64, 1 << 63, math.MaxUint64 - 1, math.MaxUint64} {
				// Either the end of the file, or an offset it can't have.
				got, eof, err := f.read(o, off, 4096)
				if len(got) != 0 || err == nil && !eof || err != nil && err != vfs.ErrInvalid && err != vfs.ErrFileTooBig {
					f.Errorf("%s: at %d: %d bytes, eof %v, %v", p, off, len(got), eof, err)
				}
			}
		}
	})},
	{"NotFile", sample, sampled(func(f *fixture) {
		_, _, err := f.read(f.mustLookup("dir"), 0, 10)
		f.want(err, "read a directory", vfs.ErrIsDir, vfs.ErrInvalid)
		if hasLinks(&f.caps, &f.config) {
			_, _, err = f.read(f.mustLookup("link"), 0, 10)
			f.want(err, "read a link", vfs.ErrInvalid)
		}
	})},
}

var readlinkCases = []testCase{
	{"Sample", hasLinks, sampled(func(f *fixture) {
		f.each(func(p string, file *fstest.MapFile, o vfs.Object) {
			target, err := f.readlink(o)
			if file.Mode&fs.ModeSymlink == 0 {
				f.want(err, "readlink of "+p, vfs.ErrInvalid)
			} else if err != nil || target != string(file.Data) {
				f.Errorf("%s: %q, %v, want %q", p, target, err, file.Data)
			}
		})
	})},
}

var statfsCases = []testCase{
	{"Order", canStatfs, func(f *fixture) {
		var s vfs.Statfs
		f.must(f.try(func(c *vfs.Call) error { return f.caps.Statfs.Statfs(c, f.root, &s) }), "statfs")
		if s.AvailBytes > s.FreeBytes || s.FreeBytes > s.TotalBytes || s.AvailFiles > s.FreeFiles || s.FreeFiles > s.TotalFiles {
			f.Errorf("more is available than free, or more free than there is: %+v", s)
		}
	}},
}
