package vfstest

import (
	"bytes"
	"math"

	"eddy.example/vfs"
)

var writeCases = []testCase{
	{"Ranges", canWrite, func(f *fixture) {
		for i, tc := range []struct{ size, off, n int }{
			{0, 0, 1}, {0, 0, 4096}, {0, 0, 4097}, {0, 4095, 2}, {0, 8192, 10},
			{10000, 0, 1}, {10000, 9999, 1}, {10000, 9999, 2}, {10000, 10000, 1}, {10000, 4096, 4096},
			{10000, 1, 9998}, {10000, 0, 10000}, {10000, 0, 20000}, {10000, 70000, 1}, {1 << 20, 511, 1<<20 - 1000},
			{0, 0, 1 << 20}, {0, 47008, 47008},
		} {
			o := f.mustCreate(f.root, string(rune('A'+i)), pattern(tc.size, 1))
			model := pattern(tc.size, 1)
			data := pattern(tc.n, 77)
			f.mustWrite(o, data, uint64(tc.off))
			model = append(model, make([]byte, max(0, tc.off+tc.n-tc.size))...)
			copy(model[tc.off:], data)
			clear(data) // the FS has no claim on it
			if got := f.mustRead(o); !bytes.Equal(got, model) {
				f.Errorf("%+v: other contents, %d bytes, want %d", tc, len(got), len(model))
			}
			if a := f.mustGetattr(o); a.Size != uint64(len(model)) {
				f.Errorf("%+v: size %d, want %d", tc, a.Size, len(model))
			}
		}
	}},
	{"Nothing", canWrite, func(f *fixture) {
		o := f.mustCreate(f.root, "file", []byte("contents"))
		for _, off := range []uint64{0, 4, 8, 100000} {
			n, _, err := f.write(o, nil, off)
			if n != 0 || err != nil {
				f.Errorf("no bytes at %d: %d, %v", off, n, err)
			}
		}
		if got := f.mustRead(o); string(got) != "contents" {
			f.Errorf("writing nothing left %q", got)
		}
	}},
	{"Sparse", canWrite, func(f *fixture) {
		o := f.mustCreate(f.root, "file", []byte("begin"))
		const far = 1 << 30
		f.mustWrite(o, []byte("end"), far)
		if a := f.mustGetattr(o); a.Size != far+3 {
			f.Errorf("size %d, want %d", a.Size, far+3)
		}
		for _, tc := range []struct {
			off  uint64
			n    int
			want []byte
		}{
			{0, 8, []byte("begin\x00\x00\x00")},
			{1 << 29, 10000, make([]byte, 10000)},
			{far - 4, 100, []byte("\x00\x00\x00\x00end")},
		} {
			if got, _, err := f.read(o, tc.off, tc.n); err != nil || !bytes.Equal(got, tc.want) {
				f.Errorf("at %d: %.20q, %v, want %.20q", tc.off, got, err, tc.want)
			}
		}
	}},
	{"HugeOffsets", canWrite, func(f *fixture) {
		o := f.mustCreate(f.root, "file", []byte("contents"))
		limit := f.caps.Limits.MaxFileSize
		for _, off := range []uint64{limit, limit - 1, math.MaxInt64, 1 << 63, math.MaxUint64 - 1, math.MaxUint64} {
			_, _, err := f.write(o, []byte("xx"), off)
			f.want(err, "write far out", vfs.ErrFileTooBig, vfs.ErrInvalid, vfs.ErrNoSpace)
		}
		if got := f.mustRead(o); string(got) != "contents" {
			f.Errorf("refused writes left %.20q", got)
		}
	}},
	{"NotFile", canWrite, func(f *fixture) {
		_, _, err := f.write(f.root, []byte("x"), 0)
		f.want(err, "write to a directory", vfs.ErrIsDir, vfs.ErrInvalid, vfs.ErrAccess)
	}},
	{"Stability", canWrite, func(f *fixture) {
		o := f.mustCreate(f.root, "file", nil)
		var verifier vfs.Verifier
		for i, how := range []vfs.Stability{vfs.Unstable, vfs.DataSync, vfs.FileSync} {
			f.must(f.try(func(c *vfs.Call) error {
				n, did, v, err := f.caps.Write.Write(c, o, []byte("data"), uint64(4*i), how, nil)
				if err == nil && (n != 4 || did < how || did > vfs.FileSync) {
					f.Errorf("stability %d asked for: %d bytes with %d", how, n, did)
				}
				if did < vfs.FileSync && f.caps.Commit == nil {
					f.Errorf("stability %d from an FS without Commit", did)
				}
				if i > 0 && v != verifier {
					f.Errorf("the verifier was %x and is %x", verifier, v)
				}
				verifier = v
				return err
			}), "write")
		}
	}},
	{"Commit", canCommit, func(f *fixture) {
		o := f.mustCreate(f.root, "file", nil)
		var written, committed vfs.Verifier
		f.must(f.try(func(c *vfs.Call) (err error) {
			_, _, written, err = f.caps.Write.Write(c, o, pattern(100000, 5), 0, vfs.Unstable, nil)
			return err
		}), "write")
		for _, r := range [][2]uint64{{0, 0}, {0, 100000}, {4096, 10}, {200000, 5}, {math.MaxUint64, math.MaxUint64}} {
			f.must(f.try(func(c *vfs.Call) (err error) {
				committed, err = f.caps.Commit.Commit(c, o, r[0], r[1], nil)
				return err
			}), "commit %d at %d", r[1], r[0])
			if committed != written {
				f.Errorf("COMMIT has verifier %x, WRITE had %x", committed, written)
			}
		}
		if !bytes.Equal(f.mustRead(o), pattern(100000, 5)) {
			f.Error("other contents after COMMIT")
		}
	}},
	{"Change", canWrite, func(f *fixture) {
		o := f.mustCreate(f.root, "file", []byte("contents"))
		f.changes(o, "a write", func() vfs.Change {
			_, chg, err := f.write(o, []byte("CONTENTS"), 0)
			f.must(err, "write")
			return chg
		})
	}},
}

// changes checks what a mutation of o says about it, and that it shows: nobody
// else is at work.
func (f *fixture) changes(o vfs.Object, what string, mutate func() vfs.Change) {
	f.Helper()
	before := f.mustGetattr(o)
	chg := mutate()
	after := f.mustGetattr(o)
	if chg.Pre.Mask != 0 {
		f.sameKnown(what+", before", chg.Pre, before)
	}
	if chg.Post.Mask != 0 {
		f.sameKnown(what+", after", chg.Post, after)
	}
	if before.Has(vfs.AttrChange) && after.Has(vfs.AttrChange) && after.Change <= before.Change {
		f.Errorf("%s: change went from %d to %d", what, before.Change, after.Change)
	}
	if after.Ctime.Before(before.Ctime) {
		f.Errorf("%s: ctime went back from %v to %v", what, before.Ctime, after.Ctime)
	}
}

// sameKnown checks that what both know, but for the times of access, is the
// same.
func (f *fixture) sameKnown(what string, a, b vfs.Attr) {
	f.Helper()
	both := a.Mask & b.Mask &^ vfs.AttrAtime
	if a, b := masked(a, both), masked(b, both); a != b {
		f.Errorf("%s: the attributes are wrong:\n%+v\n%+v", what, a, b)
	}
}

// sizeTo is a SetAttr that sets the size.
func sizeTo(n uint64) vfs.SetAttr { return vfs.SetAttr{Mask: vfs.AttrSize, Size: n} }

var setattrCases = []testCase{
	{"Size", canSetattr, func(f *fixture) {
		o := f.mustCreate(f.root, "file", pattern(10000, 1))
		model := pattern(10000, 1)
		for _, size := range []int{10000, 9999, 8192, 8191, 4097, 4096, 4095, 1, 0, 1, 4096, 100000, 5, 8192} {
			_, err := f.setattr(o, sizeTo(uint64(size)), nil)
			f.must(err, "set the size to %d", size)
			model = append(model[:min(size, len(model))], make([]byte, max(0, size-len(model)))...)
			if got := f.mustRead(o); !bytes.Equal(got, model) {
				f.Errorf("other contents with size %d", size)
			}
			if a := f.mustGetattr(o); a.Size != uint64(size) {
				f.Errorf("size %d, want %d", a.Size, size)
			}
			// What was cut off is not there any more when the file grows.
			f.mustWrite(o, []byte("!"), uint64(size))
			model = append(model, '!')
		}
		_, err := f.setattr(o, sizeTo(math.MaxUint64), nil)
		f.want(err, "a size of 2^64-1", vfs.ErrFileTooBig, vfs.ErrInvalid, vfs.ErrNoSpace)
		_, err = f.setattr(f.root, sizeTo(0), nil)
		f.want(err, "a directory's size", vfs.ErrIsDir, vfs.ErrInvalid)
	}},
	{"Mode", canSetattr, func(f *fixture) {
		o := f.mustCreate(f.root, "file", nil)
		for _, m := range []uint32{0, 0o600, 0o755, 0o444} {
			f.changes(o, "a new mode", func() vfs.Change {
				chg, err := f.setattr(o, *mode(m), nil)
				f.must(err, "set the mode to %o", m)
				return chg
			})
			if a := f.mustGetattr(o); a.Mode != m && !f.config.Permissive {
				f.Errorf("mode %o, want %o", a.Mode, m)
			}
		}
	}},
	{"Times", canSetattr, func(f *fixture) {
		o := f.mustCreate(f.root, "file", nil)
		delta := max(1, f.caps.Limits.TimeDelta)
		// Within what NFSv3 can say, and what the FS can keep.
		for _, t := range []vfs.Time{{}, {Sec: 1e9, Nsec: 999999999}, {Sec: 1<<31 - 1, Nsec: 5}} {
			t.Nsec -= t.Nsec % delta
			s := vfs.SetAttr{SetAtime: vfs.TimeGiven, Atime: t, SetMtime: vfs.TimeGiven, Mtime: vfs.Time{Sec: t.Sec + 1}}
			_, err := f.setattr(o, s, nil)
			f.must(err, "set times to %v", t)
			if a := f.mustGetattr(o); a.Mtime != s.Mtime || a.Has(vfs.AttrAtime) && a.Atime != s.Atime {
				f.Errorf("times %v %v, want %v %v", a.Atime, a.Mtime, s.Atime, s.Mtime)
			}
		}
		old := f.mustGetattr(o)
		_, err := f.setattr(o, vfs.SetAttr{SetMtime: vfs.TimeServer}, nil)
		f.must(err, "set mtime to the server's time")
		if a := f.mustGetattr(o); a.Mtime == old.Mtime || a.Atime != old.Atime {
			f.Errorf("times %v %v, were %v %v", a.Atime, a.Mtime, old.Atime, old.Mtime)
		}
		_, err = f.setattr(o, vfs.SetAttr{SetMtime: vfs.TimeGiven, Mtime: vfs.Time{Nsec: 1e9}}, nil)
		f.want(err, "a time with 10^9 ns", vfs.ErrInvalid)
	}},
	{"Nothing", canSetattr, func(f *fixture) {
		o := f.mustCreate(f.root, "file", nil)
		before := f.mustGetattr(o)
		_, err := f.setattr(o, vfs.SetAttr{}, nil)
		f.must(err, "set nothing")
		f.sameAttr("setting nothing", before, f.mustGetattr(o))
	}},
	{"Guard", canSetattr, func(f *fixture) {
		o := f.mustCreate(f.root, "file", []byte("contents"))
		old := f.mustGetattr(o).Ctime
		wrong := vfs.Time{Sec: old.Sec - 1, Nsec: old.Nsec}
		_, err := f.setattr(o, sizeTo(0), &wrong)
		f.want(err, "a guard that does not match", vfs.ErrNotSync)
		if got := f.mustRead(o); string(got) != "contents" {
			f.Errorf("a guard did not hold: %q", got)
		}
		_, err = f.setattr(o, sizeTo(3), &old)
		f.must(err, "a guard that matches")
		if got := f.mustRead(o); string(got) != "con" {
			f.Errorf("with a guard that matches: %q", got)
		}
	}},
	{"AllOrNone", canSetattr, func(f *fixture) {
		o := f.mustCreate(f.root, "file", []byte("contents"))
		before := f.mustGetattr(o)
		s := vfs.SetAttr{Mask: vfs.AttrMode | vfs.AttrSize, Mode: 0o100, Size: math.MaxUint64}
		if _, err := f.setattr(o, s, nil); err == nil {
			f.Error("a size of 2^64-1 was set")
		}
		if a := f.mustGetattr(o); a.Mode != before.Mode || a.Size != before.Size {
			f.Errorf("a SETATTR that failed changed %o, %d to %o, %d", before.Mode, before.Size, a.Mode, a.Size)
		}
	}},
	{"Several", canSetattr, func(f *fixture) {
		o := f.mustCreate(f.root, "file", []byte("contents"))
		s := vfs.SetAttr{Mask: vfs.AttrMode | vfs.AttrSize, Mode: 0o640, Size: 4, SetMtime: vfs.TimeGiven, Mtime: vfs.Time{Sec: 12345}}
		f.changes(o, "several at once", func() vfs.Change {
			chg, err := f.setattr(o, s, nil)
			f.must(err, "setattr")
			return chg
		})
		if a := f.mustGetattr(o); a.Mode != 0o640 && !f.config.Permissive || a.Size != 4 || a.Mtime != s.Mtime {
			f.Errorf("mode %o, size %d, mtime %v", a.Mode, a.Size, a.Mtime)
		}
	}},
}
