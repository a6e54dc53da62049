package vfstest

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"eddy.example/vfs"
)

// fixture is the FS of one test and what the test does with it. Its methods
// return the cause of errors (see vfs.Cause), so that == compares them; those
// whose names begin with must fail the test instead, and are for its own
// goroutine only.
type fixture struct {
	*testing.T
	config Config
	fs     vfs.FS
	caps   vfs.Capabilities
	root   vfs.Object
	cred   vfs.Cred
}

func newFixture(t *testing.T, c Config) *fixture {
	f := &fixture{T: t, config: c, cred: c.Cred}
	if c.New != nil {
		f.fs = c.New(t)
	} else {
		f.fs = c.NewTree(t, sampleTree())
	}
	f.caps = vfs.CapabilitiesOf(f.fs)
	root, err := f.resolve(nil)
	if err != nil {
		t.Fatalf("no root: %v", err)
	}
	f.root = root
	return f
}

// sampled is a case with the sample tree in the FS.
func sampled(run func(f *fixture)) func(f *fixture) {
	return func(f *fixture) {
		if f.config.New != nil {
			f.populate(sampleTree())
		}
		run(f)
	}
}

// as is f as another user.
func (f *fixture) as(uid, gid uint32, groups ...uint32) *fixture {
	g := *f
	g.cred = vfs.Cred{UID: uid, GID: gid, Groups: groups}
	return &g
}

// try does one call. A Waiter is called as on an event loop first.
func (f *fixture) try(op func(c *vfs.Call) error) error {
	c := &vfs.Call{Context: f.Context(), Cred: f.cred, MayWait: !f.caps.MayWait}
	err := op(c)
	if errors.Is(err, vfs.ErrWouldBlock) {
		if c.MayWait {
			return errors.New("vfs.ErrWouldBlock though the call may wait")
		}
		err = op(&vfs.Call{Context: f.Context(), Cred: f.cred, MayWait: true})
	}
	return vfs.Cause(err)
}

func (f *fixture) resolve(h []byte) (o vfs.Object, err error) {
	err = f.try(func(c *vfs.Call) (err error) { o, err = f.fs.Resolve(c, h); return })
	return o, err
}

func (f *fixture) handle(o vfs.Object) []byte { return f.fs.AppendHandle(nil, o) }

func (f *fixture) lookup(dir vfs.Object, name string) (o vfs.Object, err error) {
	err = f.try(func(c *vfs.Call) (err error) { o, err = f.fs.Lookup(c, dir, name, nil); return })
	return o, err
}

func (f *fixture) getattr(o vfs.Object) (a vfs.Attr, err error) {
	err = f.try(func(c *vfs.Call) error { return f.fs.Getattr(c, o, vfs.AttrBasic|vfs.AttrChange, &a) })
	return a, err
}

// read reads n bytes to page aligned memory, as the transport has it.
func (f *fixture) read(o vfs.Object, off uint64, n int) (p []byte, eof bool, err error) {
	buf := alignedPages(n)
	copy(buf, bytes.Repeat([]byte{0xa5}, n)) // what was not read shows
	var got int
	err = f.try(func(c *vfs.Call) (err error) { got, eof, err = f.fs.Read(c, o, buf, off); return })
	if got < 0 || got > n {
		f.Errorf("Read returned %d for %d bytes", got, n)
		return nil, eof, err
	}
	return buf[:got], eof, err
}

func (f *fixture) write(o vfs.Object, data []byte, off uint64) (n int, chg vfs.Change, err error) {
	err = f.try(func(c *vfs.Call) (err error) {
		var did vfs.Stability
		n, did, _, err = f.caps.Write.Write(c, o, data, off, vfs.FileSync, &chg)
		if err == nil && n == len(data) && did != vfs.FileSync {
			f.Errorf("a write with FileSync reached only %d", did)
		}
		return err
	})
	return n, chg, err
}

func (f *fixture) setattr(o vfs.Object, s vfs.SetAttr, guard *vfs.Time) (chg vfs.Change, err error) {
	err = f.try(func(c *vfs.Call) error { return f.caps.Setattr.Setattr(c, o, &s, guard, &chg) })
	return chg, err
}

func (f *fixture) create(dir vfs.Object, name string, how vfs.CreateMode, verf [8]byte, s vfs.SetAttr) (o vfs.Object, a vfs.Attr, chg vfs.Change, err error) {
	err = f.try(func(c *vfs.Call) (err error) {
		o, err = f.caps.Create.Create(c, dir, name, how, verf, &s, &a, &chg)
		return err
	})
	return o, a, chg, err
}

func (f *fixture) mkdir(dir vfs.Object, name string) (o vfs.Object, a vfs.Attr, chg vfs.Change, err error) {
	err = f.try(func(c *vfs.Call) (err error) {
		o, err = f.caps.Mkdir.Mkdir(c, dir, name, mode(0o755), &a, &chg)
		return err
	})
	return o, a, chg, err
}

func (f *fixture) symlink(dir vfs.Object, name, target string) (o vfs.Object, a vfs.Attr, chg vfs.Change, err error) {
	err = f.try(func(c *vfs.Call) (err error) {
		o, err = f.caps.Symlink.Symlink(c, dir, name, target, new(vfs.SetAttr), &a, &chg)
		return err
	})
	return o, a, chg, err
}

func (f *fixture) remove(dir vfs.Object, name string) (chg vfs.Change, err error) {
	err = f.try(func(c *vfs.Call) error { return f.caps.Remove.Remove(c, dir, name, &chg) })
	return chg, err
}

func (f *fixture) rmdir(dir vfs.Object, name string) (chg vfs.Change, err error) {
	err = f.try(func(c *vfs.Call) error { return f.caps.Rmdir.Rmdir(c, dir, name, &chg) })
	return chg, err
}

func (f *fixture) rename(from vfs.Object, fromName string, to vfs.Object, toName string) (fromChg, toChg vfs.Change, err error) {
	err = f.try(func(c *vfs.Call) error {
		return f.caps.Rename.Rename(c, from, fromName, to, toName, &fromChg, &toChg)
	})
	return fromChg, toChg, err
}

func (f *fixture) link(o, dir vfs.Object, name string) (a vfs.Attr, chg vfs.Change, err error) {
	err = f.try(func(c *vfs.Call) error { return f.caps.Link.Link(c, o, dir, name, &a, &chg) })
	return a, chg, err
}

func (f *fixture) readlink(o vfs.Object) (target string, err error) {
	err = f.try(func(c *vfs.Call) (err error) { target, err = f.caps.Readlink.Readlink(c, o); return })
	return target, err
}

// list lists up to n entries behind after.
func (f *fixture) list(dir vfs.Object, after vfs.Cookie, n int, want vfs.AttrMask) (entries []vfs.DirEntry, eof bool, err error) {
	err = f.try(func(c *vfs.Call) (err error) {
		entries = nil
		eof, err = f.fs.ReadDir(c, dir, after, want, func(e *vfs.DirEntry) bool {
			if len(entries) == n {
				return false
			}
			entries = append(entries, *e)
			return true
		})
		return err
	})
	return entries, eof, err
}

// names lists the names in a directory, sorted.
func (f *fixture) names(dir vfs.Object) ([]string, error) {
	entries, eof, err := f.list(dir, 0, 1<<30, 0)
	if err == nil && !eof {
		err = errors.New("ReadDir stopped before the end")
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return names, err
}

func (f *fixture) must(err error, what string, args ...any) {
	f.Helper()
	if err != nil {
		f.Fatalf(what+": %v", append(args, err)...)
	}
}

// want fails the test unless err is one of errs.
func (f *fixture) want(err error, what string, errs ...error) {
	f.Helper()
	if !slices.Contains(errs, err) {
		f.Errorf("%s: %v, want one of %v", what, err, errs)
	}
}

func (f *fixture) mustLookup(p string) vfs.Object {
	f.Helper()
	o := f.root
	for name := range strings.SplitSeq(p, "/") {
		var err error
		o, err = f.lookup(o, name)
		f.must(err, "lookup %s of %s", name, p)
	}
	return o
}

func (f *fixture) mustGetattr(o vfs.Object) vfs.Attr {
	f.Helper()
	a, err := f.getattr(o)
	f.must(err, "getattr")
	return a
}

// mustCreate creates a file with contents.
func (f *fixture) mustCreate(dir vfs.Object, name string, data []byte) vfs.Object {
	f.Helper()
	o, _, _, err := f.create(dir, name, vfs.CreateGuarded, [8]byte{}, *mode(0o644))
	f.must(err, "create %q", name)
	f.mustWrite(o, data, 0)
	return o
}

// mustWrite writes all of data, in as many writes as it takes.
func (f *fixture) mustWrite(o vfs.Object, data []byte, off uint64) {
	f.Helper()
	for len(data) > 0 {
		n, _, err := f.write(o, data, off)
		f.must(err, "write %d bytes at %d", len(data), off)
		if n == 0 {
			f.Fatal("a write wrote nothing")
		}
		data, off = data[n:], off+uint64(n)
	}
}

func (f *fixture) mustMkdir(dir vfs.Object, name string) vfs.Object {
	f.Helper()
	o, _, _, err := f.mkdir(dir, name)
	f.must(err, "mkdir %q", name)
	return o
}

// mustRead reads a whole file.
func (f *fixture) mustRead(o vfs.Object) []byte {
	f.Helper()
	var all []byte
	for {
		p, eof, err := f.read(o, uint64(len(all)), 64<<10)
		f.must(err, "read at %d", len(all))
		all = append(all, p...)
		if eof {
			return all
		}
		if len(p) == 0 {
			f.Fatal("a read returned nothing before the end")
		}
	}
}

func mode(m uint32) *vfs.SetAttr { return &vfs.SetAttr{Mask: vfs.AttrMode, Mode: m} }

// pattern is n bytes that tell where they were.
func pattern(n int, seed byte) []byte {
	var ramp [512]byte
	for i := range ramp {
		ramp[i] = byte(i)
	}
	p := make([]byte, n)
	for i := 0; i < n; i += 256 {
		copy(p[i:], ramp[byte(i>>12)*31+seed:][:256])
	}
	return p
}

// sampleTree is what the tests find that only read.
func sampleTree() fstest.MapFS {
	tree := fstest.MapFS{
		"empty":        {},
		"hello":        {Data: []byte("hello\n")},
		"page":         {Data: pattern(4096, 1)},
		"page+1":       {Data: pattern(4097, 2)},
		"big":          {Data: pattern(1<<20+13, 3)},
		"sp ace":       {Data: []byte("sp ace")},
		"дом":          {Data: []byte("дом")},
		"dir":          {Mode: fs.ModeDir},
		"dir/leaf":     {Data: []byte("dir/leaf")},
		"dir/sub":      {Mode: fs.ModeDir},
		"dir/sub/leaf": {Data: []byte("dir/sub/leaf")},
		"vacant":       {Mode: fs.ModeDir},
		"many":         {Mode: fs.ModeDir},
		"link":         {Mode: fs.ModeSymlink, Data: []byte("dir/sub/leaf")},
		"dangling":     {Mode: fs.ModeSymlink, Data: []byte("../../no/such/thing")},
	}
	// A path that no handle can hold.
	long := "deep"
	for range 30 {
		tree[long] = &fstest.MapFile{Mode: fs.ModeDir}
		long += "/directory"
	}
	tree[long] = &fstest.MapFile{Mode: fs.ModeDir}
	tree[long+"/leaf"] = &fstest.MapFile{Data: []byte("deep down")}
	for i := range 300 {
		name := "many/" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26))
		tree[name] = &fstest.MapFile{Data: []byte(name)}
	}
	for name, file := range tree {
		file.ModTime = time.Date(2001, 2, 3, 4, 5, 6, 7000, time.UTC)
		switch file.Mode & fs.ModeType {
		case fs.ModeDir:
			file.Mode |= 0o755
		case fs.ModeSymlink:
			file.Mode |= 0o777
		default:
			file.Mode |= 0o644
			if path.Base(name) == "page" {
				file.Mode |= 0o111
			}
		}
	}
	return tree
}

// populate makes the tree in an FS that can be written to, without the links if
// it has none.
func (f *fixture) populate(tree fstest.MapFS) {
	f.Helper()
	objects := map[string]vfs.Object{".": f.root}
	for _, p := range slices.Sorted(maps.Keys(tree)) {
		file := tree[p]
		dir := objects[path.Dir(p)]
		var o vfs.Object
		var err error = vfs.ErrNotSupported
		switch file.Mode & fs.ModeType {
		case fs.ModeDir:
			o, _, _, err = f.mkdir(dir, path.Base(p))
		case fs.ModeSymlink:
			if f.caps.Symlink != nil {
				o, _, _, err = f.symlink(dir, path.Base(p), string(file.Data))
			}
		default:
			o, _, _, err = f.create(dir, path.Base(p), vfs.CreateGuarded, [8]byte{}, *mode(uint32(file.Mode.Perm())))
			if err == nil {
				f.mustWrite(o, file.Data, 0)
			}
		}
		if err == vfs.ErrNotSupported && file.Mode&fs.ModeSymlink != 0 {
			continue
		}
		f.must(err, "make %s", p)
		objects[p] = o
	}
}

// each calls do for all of the sample tree that is in the FS.
func (f *fixture) each(do func(p string, file *fstest.MapFile, o vfs.Object)) {
	f.Helper()
	tree := sampleTree()
	objects := map[string]vfs.Object{".": f.root}
	for _, p := range slices.Sorted(maps.Keys(tree)) {
		if tree[p].Mode&fs.ModeSymlink != 0 && !hasLinks(&f.caps, &f.config) {
			continue
		}
		o, err := f.lookup(objects[path.Dir(p)], path.Base(p))
		f.must(err, "lookup %s", p)
		objects[p] = o
		do(p, tree[p], o)
	}
}
