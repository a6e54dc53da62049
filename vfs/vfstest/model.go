package vfstest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"eddy.example/vfs"
)

var randomCases = []testCase{
	{"File", canSetattr, func(f *fixture) {
		for i := range uint64(4) {
			randomFile(f, rand.New(rand.NewPCG(f.config.Seed, i)), fmt.Sprintf("file-%d", i))
		}
	}},
	{"Namespace", both(canRename, both(canRemove, canRmdir)), func(f *fixture) {
		m := &model{fixture: f, rand: rand.New(rand.NewPCG(f.config.Seed, 0))}
		m.run()
	}},
}

// randomFile reads, writes and cuts a file and compares with a slice.
func randomFile(f *fixture, r *rand.Rand, name string) {
	const limit = 300000
	o := f.mustCreate(f.root, name, nil)
	var want []byte
	for step := range f.config.Steps / 4 {
		off, n := r.IntN(limit), r.IntN(20000)
		if r.IntN(2) == 0 {
			off, n = off&^4095, n&^511
		}
		switch r.IntN(8) {
		case 0:
			_, err := f.setattr(o, sizeTo(uint64(off)), nil)
			f.must(err, "step %d: set the size to %d", step, off)
			want = append(want[:min(off, len(want))], make([]byte, max(0, off-len(want)))...)
		case 1, 2, 3:
			data := pattern(n, byte(step))
			f.mustWrite(o, data, uint64(off))
			if n > 0 {
				want = append(want, make([]byte, max(0, off+n-len(want)))...)
				copy(want[off:], data)
			}
		default:
			got, eof, err := f.read(o, uint64(off), n)
			if expect := want[min(off, len(want)):min(off+n, len(want))]; err != nil || !bytes.Equal(got, expect) || eof != (off+n >= len(want)) {
				f.Fatalf("seed %d, step %d: read of %d at %d of %d: %d bytes, eof %v, %v, or others", f.config.Seed, step, n, off, len(want), len(got), eof, err)
			}
		}
		if size := f.mustGetattr(o).Size; size != uint64(len(want)) {
			f.Fatalf("seed %d, step %d: size %d, want %d", f.config.Seed, step, size, len(want))
		}
	}
	if !bytes.Equal(f.mustRead(o), want) {
		f.Fatalf("seed %d: other contents at the end", f.config.Seed)
	}
}

// model is what the FS should be, and a random walk through both.
type model struct {
	*fixture
	rand *rand.Rand
	root *node
	dead []*node
	log  []string
}

// node is an object that has a name, or had one.
type node struct {
	t       vfs.Type
	object  vfs.Object
	handle  []byte
	entries map[string]*node // of a directory
	parent  *node
	nlink   int // of everything else
	data    string
}

func (m *model) run() {
	m.root = &node{t: vfs.TypeDirectory, object: m.fixture.root, entries: map[string]*node{}}
	m.root.parent = m.root
	m.root.handle = m.handle(m.root.object)
	for range m.config.Steps {
		m.step()
		if m.Failed() {
			break
		}
	}
	if !m.Failed() {
		m.compare(m.root, "")
	}
	if m.Failed() {
		m.Logf("seed %d, the last steps:", m.config.Seed)
		for _, l := range m.log[max(0, len(m.log)-30):] {
			m.Log(l)
		}
	}
}

// pick returns a node that has a name, or the root.
func (m *model) pick(want func(n *node) bool) *node {
	var all []*node
	var walk func(n *node)
	walk = func(n *node) {
		if want(n) && !slices.Contains(all, n) {
			all = append(all, n)
		}
		for _, name := range slices.Sorted(maps.Keys(n.entries)) {
			walk(n.entries[name])
		}
	}
	walk(m.root)
	if len(all) == 0 {
		return nil
	}
	return all[m.rand.IntN(len(all))]
}

func isDir(n *node) bool  { return n.entries != nil }
func isFile(n *node) bool { return n.t == vfs.TypeRegular }
func isAny(*node) bool    { return true }

func (m *model) step() {
	dir := m.pick(isDir)
	name := fmt.Sprintf("n%d", m.rand.IntN(6))
	var expect []error
	exists := dir.entries[name] != nil
	if exists {
		expect = []error{vfs.ErrExist}
	}
	switch m.rand.IntN(14) {
	case 0, 1:
		o, _, _, err := m.create(dir.object, name, vfs.CreateGuarded, [8]byte{}, *mode(0o644))
		m.did(err, expect, "create", dir, name)
		m.born(err, o, &node{t: vfs.TypeRegular, nlink: 1}, dir, name)
	case 2, 3:
		o, _, _, err := m.mkdir(dir.object, name)
		m.did(err, expect, "mkdir", dir, name)
		m.born(err, o, &node{t: vfs.TypeDirectory, entries: map[string]*node{}}, dir, name)
	case 4:
		if !canSymlink(&m.caps, &m.config) {
			return
		}
		o, _, _, err := m.symlink(dir.object, name, "to "+name)
		m.did(err, expect, "symlink", dir, name)
		m.born(err, o, &node{t: vfs.TypeSymlink, nlink: 1, data: "to " + name}, dir, name)
	case 5:
		n := m.pick(isFile)
		if n == nil || m.caps.Link == nil {
			return
		}
		_, _, err := m.link(n.object, dir.object, name)
		m.did(err, expect, "link", dir, name)
		if err == nil {
			dir.entries[name] = n
			n.nlink++
		}
	case 6:
		m.removeStep(dir, name)
	case 7:
		m.rmdirStep(dir, name)
	case 8, 9, 10:
		m.renameStep(dir, name, m.pick(isDir), fmt.Sprintf("n%d", m.rand.IntN(6)))
	case 11:
		if n := m.pick(isFile); n != nil {
			data := fmt.Sprintf("step %d", len(m.log))
			m.mustWrite(n.object, []byte(data), 0)
			n.data = data + n.data[min(len(data), len(n.data)):]
			m.did(nil, nil, "write", n, "")
		}
	case 12:
		m.check(m.pick(isAny), "a look")
	case 13:
		m.checkDead()
	}
}

// did logs a step and checks its error: none if nothing is expected, else one
// of those.
func (m *model) did(err error, expect []error, what string, args ...any) {
	m.Helper()
	line := what
	for _, a := range args {
		if n, ok := a.(*node); ok {
			a = fmt.Sprintf("%p", n)
		}
		line += fmt.Sprint(" ", a)
	}
	m.log = append(m.log, fmt.Sprint(line, ": ", err))
	if err == nil && len(expect) > 0 || err != nil && !slices.Contains(expect, err) {
		m.Errorf("%s: %v, want one of %v", line, err, expect)
	}
}

// born puts a new node in its place.
func (m *model) born(err error, o vfs.Object, n *node, dir *node, name string) {
	if err != nil || dir.entries[name] != nil {
		return
	}
	n.object, n.handle, n.parent = o, m.handle(o), dir
	dir.entries[name] = n
}

// unlinked notes that a node has lost a name.
func (m *model) unlinked(n *node) {
	if n.nlink--; n.nlink <= 0 || isDir(n) {
		m.dead = append(m.dead, n)
	}
}

func (m *model) removeStep(dir *node, name string) {
	n := dir.entries[name]
	var expect []error
	switch {
	case n == nil:
		expect = []error{vfs.ErrNotExist}
	case isDir(n):
		expect = []error{vfs.ErrIsDir, vfs.ErrPerm, vfs.ErrInvalid, vfs.ErrAccess, vfs.ErrNotEmpty, vfs.ErrExist}
	}
	_, err := m.remove(dir.object, name)
	m.did(err, expect, "remove", dir, name)
	if err == nil && n != nil {
		delete(dir.entries, name)
		m.unlinked(n)
	}
}

func (m *model) rmdirStep(dir *node, name string) {
	n := dir.entries[name]
	var expect []error
	switch {
	case n == nil:
		expect = []error{vfs.ErrNotExist}
	case !isDir(n):
		expect = []error{vfs.ErrNotDir}
	case len(n.entries) > 0:
		expect = []error{vfs.ErrNotEmpty, vfs.ErrExist}
	}
	_, err := m.rmdir(dir.object, name)
	m.did(err, expect, "rmdir", dir, name)
	if err == nil && n != nil {
		delete(dir.entries, name)
		m.unlinked(n)
	}
}

func (m *model) renameStep(from *node, name string, to *node, toName string) {
	n, target := from.entries[name], to.entries[toName]
	var expect []error
	if n == nil {
		expect = append(expect, vfs.ErrNotExist)
	} else if target != n {
		if n.within(to) {
			expect = append(expect, vfs.ErrInvalid)
		}
		if target != nil {
			switch {
			case isDir(target) && !isDir(n):
				expect = append(expect, vfs.ErrIsDir, vfs.ErrExist)
			case !isDir(target) && isDir(n):
				expect = append(expect, vfs.ErrNotDir, vfs.ErrExist)
			}
			if isDir(target) && len(target.entries) > 0 {
				expect = append(expect, vfs.ErrNotEmpty, vfs.ErrExist)
			}
		}
	}
	_, _, err := m.rename(from.object, name, to.object, toName)
	m.did(err, expect, "rename", from, name, to, toName)
	if err != nil || n == nil || target == n {
		return
	}
	delete(from.entries, name)
	to.entries[toName] = n
	n.parent = to
	if target != nil {
		m.unlinked(target)
	}
}

// within reports whether dir is n or below it.
func (n *node) within(dir *node) bool {
	for ; dir != n; dir = dir.parent {
		if dir.parent == dir {
			return false
		}
	}
	return true
}

// check compares a node with its object, which is found by its handle.
func (m *model) check(n *node, path string) {
	m.Helper()
	o, err := m.resolve(n.handle)
	if o != n.object || err != nil {
		m.Errorf("%s: the handle is %v, %v, want %v", path, o, err, n.object)
		return
	}
	a := m.mustGetattr(o)
	if a.Type != n.t {
		m.Errorf("%s: type %d, want %d", path, a.Type, n.t)
	}
	switch n.t {
	case vfs.TypeDirectory:
		subdirs := uint32(0)
		for _, e := range n.entries {
			if isDir(e) {
				subdirs++
			}
		}
		m.linkCount(path, o, subdirs)
		names, err := m.names(o)
		if want := slices.Sorted(maps.Keys(n.entries)); err != nil || !slices.Equal(names, want) {
			m.Errorf("%s: has %q, %v, want %q", path, names, err, want)
		}
		if up, err := m.lookup(o, ".."); up != n.parent.object || err != nil {
			m.Errorf("%s: the parent is %v, %v, want %v", path, up, err, n.parent.object)
		}
	case vfs.TypeRegular:
		if got := m.mustRead(o); string(got) != n.data {
			m.Errorf("%s: has %q, want %q", path, got, n.data)
		}
	case vfs.TypeSymlink:
		if got, err := m.readlink(o); err != nil || got != n.data {
			m.Errorf("%s: points to %q, %v, want %q", path, got, err, n.data)
		}
	}
	if !isDir(n) && a.Has(vfs.AttrNlink) && int(a.Nlink) != n.nlink {
		m.Errorf("%s: %d links, want %d", path, a.Nlink, n.nlink)
	}
}

// compare compares everything.
func (m *model) compare(n *node, path string) {
	m.check(n, path)
	for name, e := range n.entries {
		if o, err := m.lookup(n.object, name); o != e.object || err != nil {
			m.Errorf("%s/%s: lookup: %v, %v, want %v", path, name, o, err, e.object)
		}
		m.compare(e, path+"/"+name)
	}
}

// checkDead looks at a node that has no name any more.
func (m *model) checkDead() {
	if len(m.dead) == 0 {
		return
	}
	n := m.dead[m.rand.IntN(len(m.dead))]
	m.staleOr(n.handle, n.object)
}
