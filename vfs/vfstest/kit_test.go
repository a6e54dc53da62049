package vfstest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
)

// Backends with one mistake each. The kit has to find every one.

type (
	eofLate      struct{ *memfs.FS }
	offByOne     struct{ *memfs.FS }
	shortRead    struct{ *memfs.FS }
	cookiesMove  struct{ *memfs.FS }
	repeats      struct{ *memfs.FS }
	neverEnds    struct{ *memfs.FS }
	handleMoves  struct{ *memfs.FS }
	halfVerifier struct{ *memfs.FS }
	noGuard      struct{ *memfs.FS }
	halfSetattr  struct{ *memfs.FS }
	noGrow       struct{ *memfs.FS }
	lateBefore   struct{ *memfs.FS }
	notTheOwner  struct{ *memfs.FS }
	newVerifier  struct {
		*memfs.FS
		n *byte
	}
	lessStable   struct{ *memfs.FS }
	staleMissing struct{ *memfs.FS }
	follows      struct{ *memfs.FS }
	oneTooMany   struct{ *memfs.FS }
	waitsForever struct{ *memfs.FS }
	leavesOther  struct{ *memfs.FS }
	replacesAny  struct{ *memfs.FS }
)

func (f eofLate) Read(c *vfs.Call, o vfs.Object, p []byte, off uint64) (int, bool, error) {
	n, eof, err := f.FS.Read(c, o, p, off)
	return n, eof && n < len(p), err
}

func (f offByOne) Read(c *vfs.Call, o vfs.Object, p []byte, off uint64) (int, bool, error) {
	if off == 4097 {
		off--
	}
	return f.FS.Read(c, o, p, off)
}

func (f shortRead) Read(c *vfs.Call, o vfs.Object, p []byte, off uint64) (int, bool, error) {
	if len(p) > 60000 {
		p = p[:60000]
	}
	return f.FS.Read(c, o, p, off)
}

// ReadDir numbers the entries as they are now.
func (f cookiesMove) ReadDir(c *vfs.Call, dir vfs.Object, after vfs.Cookie, want vfs.AttrMask, fill func(*vfs.DirEntry) bool) (bool, error) {
	n := vfs.FirstCookie - 1
	return f.FS.ReadDir(c, dir, 0, want, func(e *vfs.DirEntry) bool {
		n++
		e.Cookie = n
		return n <= after || fill(e)
	})
}

func (f repeats) ReadDir(c *vfs.Call, dir vfs.Object, after vfs.Cookie, want vfs.AttrMask, fill func(*vfs.DirEntry) bool) (bool, error) {
	return f.FS.ReadDir(c, dir, max(after, 1)-1, want, fill)
}

func (f neverEnds) ReadDir(c *vfs.Call, dir vfs.Object, after vfs.Cookie, want vfs.AttrMask, fill func(*vfs.DirEntry) bool) (bool, error) {
	_, err := f.FS.ReadDir(c, dir, after, want, fill)
	return after > 1000, err
}

// AppendHandle puts the change counter into the handle.
func (f handleMoves) AppendHandle(b []byte, o vfs.Object) []byte {
	var a vfs.Attr
	f.FS.Getattr(nil, o, 0, &a)
	return append(f.FS.AppendHandle(b, o), byte(a.Change))
}

func (f handleMoves) Resolve(c *vfs.Call, h []byte) (vfs.Object, error) {
	return f.FS.Resolve(c, h[:max(0, len(h)-1)])
}

func (f halfVerifier) Create(c *vfs.Call, dir vfs.Object, name string, how vfs.CreateMode, verf [8]byte, s *vfs.SetAttr, attr *vfs.Attr, dirChg *vfs.Change) (vfs.Object, error) {
	clear(verf[4:])
	return f.FS.Create(c, dir, name, how, verf, s, attr, dirChg)
}

func (f noGuard) Setattr(c *vfs.Call, o vfs.Object, s *vfs.SetAttr, _ *vfs.Time, chg *vfs.Change) error {
	return f.FS.Setattr(c, o, s, nil, chg)
}

func (f halfSetattr) Setattr(c *vfs.Call, o vfs.Object, s *vfs.SetAttr, guard *vfs.Time, chg *vfs.Change) error {
	if s.Mask&vfs.AttrMode != 0 {
		if err := f.FS.Setattr(c, o, &vfs.SetAttr{Mask: vfs.AttrMode, Mode: s.Mode}, guard, chg); err != nil {
			return err
		}
	}
	rest := *s
	rest.Mask &^= vfs.AttrMode
	return f.FS.Setattr(c, o, &rest, nil, chg)
}

func (f noGrow) Setattr(c *vfs.Call, o vfs.Object, s *vfs.SetAttr, guard *vfs.Time, chg *vfs.Change) error {
	var a vfs.Attr
	f.FS.Getattr(c, o, 0, &a)
	if s.Mask&vfs.AttrSize != 0 && s.Size > a.Size && s.Size < 1<<40 {
		return nil
	}
	return f.FS.Setattr(c, o, s, guard, chg)
}

func (f lateBefore) Write(c *vfs.Call, o vfs.Object, data []byte, off uint64, how vfs.Stability, chg *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	n, did, v, err := f.FS.Write(c, o, data, off, how, chg)
	if chg != nil {
		chg.Pre = chg.Post
	}
	return n, did, v, err
}

func (f notTheOwner) Read(c *vfs.Call, o vfs.Object, p []byte, off uint64) (int, bool, error) {
	var a vfs.Attr
	if err := f.FS.Getattr(c, o, 0, &a); err != nil {
		return 0, false, err
	}
	if err := c.Cred.Check(&a, vfs.PermRead); err != nil {
		return 0, false, err
	}
	return f.FS.Read(c, o, p, off)
}

func (f newVerifier) Write(c *vfs.Call, o vfs.Object, data []byte, off uint64, how vfs.Stability, chg *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	n, did, v, err := f.FS.Write(c, o, data, off, how, chg)
	*f.n++
	v[0] = *f.n
	return n, did, v, err
}

func (f lessStable) Write(c *vfs.Call, o vfs.Object, data []byte, off uint64, how vfs.Stability, chg *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	n, _, v, err := f.FS.Write(c, o, data, off, how, chg)
	return n, vfs.Unstable, v, err
}

func (f staleMissing) Lookup(c *vfs.Call, dir vfs.Object, name string, attr *vfs.Attr) (vfs.Object, error) {
	o, err := f.FS.Lookup(c, dir, name, attr)
	if err == vfs.ErrNotExist {
		err = vfs.ErrStale
	}
	return o, err
}

func (f follows) Lookup(c *vfs.Call, dir vfs.Object, name string, attr *vfs.Attr) (vfs.Object, error) {
	o, err := f.FS.Lookup(c, dir, name, attr)
	if err != nil || name != "link" {
		return o, err
	}
	target, err := f.Readlink(c, o)
	if err != nil {
		return nil, err
	}
	o = dir
	for name := range strings.SplitSeq(target, "/") {
		if o, err = f.FS.Lookup(c, o, name, attr); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (f oneTooMany) Getattr(c *vfs.Call, o vfs.Object, want vfs.AttrMask, a *vfs.Attr) error {
	err := f.FS.Getattr(c, o, want, a)
	if a.Type == vfs.TypeDirectory {
		a.Nlink++
	}
	return err
}

// Lookup leaves the attributes of what it has found, not of the directory.
func (f leavesOther) Lookup(c *vfs.Call, dir vfs.Object, name string, attr *vfs.Attr) (vfs.Object, error) {
	o, err := f.FS.Lookup(c, dir, name, attr)
	if err == nil && c.Attr != nil {
		return o, f.FS.Getattr(c, o, vfs.AttrBasic, c.Attr)
	}
	return o, err
}

func (f waitsForever) Getattr(*vfs.Call, vfs.Object, vfs.AttrMask, *vfs.Attr) error {
	return vfs.ErrWouldBlock
}

func (f replacesAny) Rename(c *vfs.Call, from vfs.Object, fromName string, to vfs.Object, toName string, fromChg, toChg *vfs.Change) error {
	f.FS.Remove(c, to, toName, nil)
	return f.FS.Rename(c, from, fromName, to, toName, fromChg, toChg)
}

var broken = []struct {
	name, found string // by which test
	make        func(*memfs.FS) vfs.FS
}{
	{"eofLate", "Read/Ranges", func(fs *memfs.FS) vfs.FS { return eofLate{fs} }},
	{"offByOne", "Read/Ranges", func(fs *memfs.FS) vfs.FS { return offByOne{fs} }},
	{"shortRead", "Read/Ranges", func(fs *memfs.FS) vfs.FS { return shortRead{fs} }},
	{"cookiesMove", "ReadDir/WhileChanging", func(fs *memfs.FS) vfs.FS { return cookiesMove{fs} }},
	{"repeats", "ReadDir/Resume", func(fs *memfs.FS) vfs.FS { return repeats{fs} }},
	{"neverEnds", "ReadDir/Resume", func(fs *memfs.FS) vfs.FS { return neverEnds{fs} }},
	{"handleMoves", "Handle/Renamed", func(fs *memfs.FS) vfs.FS { return handleMoves{fs} }},
	{"halfVerifier", "Create/Exclusive", func(fs *memfs.FS) vfs.FS { return halfVerifier{fs} }},
	{"noGuard", "Setattr/Guard", func(fs *memfs.FS) vfs.FS { return noGuard{fs} }},
	{"halfSetattr", "Setattr/AllOrNone", func(fs *memfs.FS) vfs.FS { return halfSetattr{fs} }},
	{"noGrow", "Setattr/Size", func(fs *memfs.FS) vfs.FS { return noGrow{fs} }},
	{"lateBefore", "Write/Change", func(fs *memfs.FS) vfs.FS { return lateBefore{fs} }},
	{"lateBefore", "Concurrent/WriteChanges", func(fs *memfs.FS) vfs.FS { return lateBefore{fs} }},
	{"notTheOwner", "Permission/Data", func(fs *memfs.FS) vfs.FS { return notTheOwner{fs} }},
	{"newVerifier", "Write/Stability", func(fs *memfs.FS) vfs.FS { return newVerifier{fs, new(byte)} }},
	{"newVerifier", "Write/Commit", func(fs *memfs.FS) vfs.FS { return newVerifier{fs, new(byte)} }},
	{"lessStable", "Write/Stability", func(fs *memfs.FS) vfs.FS { return lessStable{fs} }},
	{"staleMissing", "Lookup/Missing", func(fs *memfs.FS) vfs.FS { return staleMissing{fs} }},
	{"follows", "Lookup/LinkNotFollowed", func(fs *memfs.FS) vfs.FS { return follows{fs} }},
	{"oneTooMany", "Mkdir/New", func(fs *memfs.FS) vfs.FS { return oneTooMany{fs} }},
	{"waitsForever", "Getattr/Root", func(fs *memfs.FS) vfs.FS { return waitsForever{fs} }},
	{"leavesOther", "Getattr/Left", func(fs *memfs.FS) vfs.FS { return leavesOther{fs} }},
	{"replacesAny", "Rename/ToItself", func(fs *memfs.FS) vfs.FS { return replacesAny{fs} }},
	{"replacesAny", "Random/Namespace", func(fs *memfs.FS) vfs.FS { return replacesAny{fs} }},
}

// brokenVariable tells a child process which of the backends to test.
const brokenVariable = "VFSTEST_BROKEN"

func TestFindsMistakes(t *testing.T) {
	for _, tc := range broken {
		t.Run(tc.name+"/"+tc.found, func(t *testing.T) {
			path := "^TestChild$/^" + strings.ReplaceAll(tc.found, "/", "$/^") + "$"
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+path)
			cmd.Env = append(os.Environ(), brokenVariable+"="+tc.name)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestChild/"+tc.found) {
				t.Errorf("not found: %v\n%s", err, out)
			}
		})
	}
}

// TestChild is what TestFindsMistakes runs in a process of its own.
func TestChild(t *testing.T) {
	for _, tc := range broken {
		if tc.name == os.Getenv(brokenVariable) {
			vfstest.Run(t, vfstest.Config{New: func(testing.TB) vfs.FS {
				return tc.make(memfs.New(memfs.Config{}))
			}})
			return
		}
	}
}
