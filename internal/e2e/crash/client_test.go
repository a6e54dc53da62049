package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"eddy.example/nfs3"
)

var ctx = context.Background()

// client works at random on its own names, one operation after the other, and
// writes down what it was promised.
type client struct {
	name  string // own directory, and prefix of its names in the shared one
	nfs   *nfs3.Client
	rnd   *rand.Rand
	clock func() int
	// btrfs may leave halves of a RENAME that was not answered when it replays its
	// log: a file with both names, or the name that was to be replaced gone, if the
	// object had others.
	halves   bool
	unstable bool // write UNSTABLE only

	handles  map[int][]byte // by node
	model    *model         // with all operations done
	history  history
	nextID   int
	number   *atomic.Uint64   // of the last write of any client
	verifier *nfs3.Writeverf3 // of the server
}

const (
	maxFile  = 64 << 10
	maxWrite = 12 << 10
	maxNames = 40 // of a client's; beyond it names are removed rather than made
)

// run does that many operations.
func (c *client) run(steps int) error {
	for range steps {
		if err := c.step(); err != nil {
			return fmt.Errorf("%s: %w; history:\n%v", c.name, err, c.history)
		}
	}
	return nil
}

func (c *client) step() error {
	make, remove := 10, 5
	if len(c.names()) > maxNames {
		make, remove = remove, make
	}
	actions := []struct {
		weight int
		do     func() error
	}{
		{make, c.create}, {make / 2, c.mkdir}, {make / 3, c.symlink}, {make / 3, c.mknod},
		{remove, c.remove}, {remove, c.rmdir}, {12, c.rename}, {5, c.link},
		{30, c.write}, {8, c.commit}, {10, c.setattr},
	}
	sum := 0
	for _, a := range actions {
		sum += a.weight
	}
	at := c.rnd.IntN(sum)
	for _, a := range actions {
		if at -= a.weight; at < 0 {
			return a.do()
		}
	}
	panic("unreachable")
}

// do makes a call and then applies it to the model. Whatever the call finds out
// has to be known to apply by then.
func (c *client) do(what string, names bool, call func() error, apply func(m *model, doubt bool)) error {
	i := len(c.history)
	c.history = append(c.history, op{sent: c.clock(), acked: never, what: what, apply: apply, names: names})
	if err := call(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	c.history[i].acked = c.clock()
	apply(c.model, false)
	return nil
}

// place is a name in a directory.
type place struct {
	dir  int
	name string
}

func (p place) String() string { return fmt.Sprintf("%d/%s", p.dir, p.name) }

// names are all places that have something in them.
func (c *client) names() (all []place) {
	for _, dir := range c.dirs() {
		entries := c.model.nodes[dir].entries
		var names []string
		for name := range entries {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			all = append(all, place{dir, name})
		}
	}
	return all
}

func (c *client) at(p place) (id int, n *node) {
	id, ok := c.model.nodes[p.dir].entries[p.name]
	if !ok {
		return -1, nil
	}
	return id, c.model.nodes[id]
}

func (c *client) dirs() []int {
	return c.model.ids(func(_ int, n *node) bool { return n.kind == nfs3.NF3DIR })
}

func (c *client) files() []int {
	return c.model.ids(func(_ int, n *node) bool { return n.kind == nfs3.NF3REG })
}

// pick returns one of s, or false if there is none.
func pick[T any](c *client, s []T) (v T, ok bool) {
	if len(s) == 0 {
		return v, false
	}
	return s[c.rnd.IntN(len(s))], true
}

// somewhere is a place, mostly an empty one.
func (c *client) somewhere() place {
	dir, _ := pick(c, c.dirs())
	return place{dir, fmt.Sprintf("%s-%d", c.name, c.rnd.IntN(12))}
}

// vacant is a place that is empty.
func (c *client) vacant() (place, bool) {
	for range 20 {
		if p := c.somewhere(); c.model.nodes[p.dir].entries[p.name] == 0 {
			return p, true
		}
	}
	return place{}, false
}

// attrs are what to make a new object with, and note writes them down.
func (c *client) attrs() (s nfs3.Sattr3, note func(n *node)) {
	mode := 0o600 | c.rnd.IntN(0o200)
	s.Mode = nfs3.SetMode3{SetIt: true, Mode: nfs3.Mode3(mode)}
	return s, func(n *node) { n.mode = field{int64(mode)} }
}

// made is the part of an operation that makes an object.
func (c *client) made(what string, p place, n node, note func(*node), call func() (nfs3.PostOpFh3, error)) error {
	id := c.nextID
	c.nextID++
	return c.do(fmt.Sprintf("%s %v, node %d", what, p, id), true, func() error {
		fh, err := call()
		if err != nil {
			return err
		}
		if !fh.HandleFollows {
			return fmt.Errorf("no handle")
		}
		c.handles[id] = fh.Handle.Data
		return nil
	}, func(m *model, doubt bool) {
		n := n
		if n.doubtful = doubt; !doubt && note != nil {
			note(&n)
		}
		m.make(id, p.dir, p.name, &n)
	})
}

func (c *client) create() error {
	how := nfs3.Createhow3{Mode: nfs3.Createmode3(c.rnd.IntN(3))}
	p, ok := c.vacant()
	if !ok {
		return nil
	}
	var note func(n *node)
	if how.Mode == nfs3.EXCLUSIVE {
		how.Verf = nfs3.Createverf3{byte(c.nextID), byte(c.nextID >> 8), c.name[0], 4, 5, 6, 7, 8}
	} else {
		how.ObjAttributes, note = c.attrs()
	}
	if how.Mode == nfs3.UNCHECKED && c.rnd.IntN(2) == 0 {
		if id, ok := pick(c, c.files()); ok {
			return c.recreate(id)
		}
	}
	n := node{kind: nfs3.NF3REG}
	if how.Mode == nfs3.EXCLUSIVE {
		n.verifier = &how.Verf
	}
	return c.made(fmt.Sprint("CREATE ", how.Mode), p, n, note, func() (nfs3.PostOpFh3, error) {
		res, err := c.nfs.Create(ctx, c.handles[p.dir], p.name, &how)
		return res.Resok.Obj, err
	})
}

// recreate opens a file with UNCHECKED, which empties it.
func (c *client) recreate(id int) error {
	for _, p := range c.names() {
		if at, _ := c.at(p); at != id {
			continue
		}
		how := nfs3.Createhow3{Mode: nfs3.UNCHECKED, ObjAttributes: nfs3.Sattr3{Size: nfs3.SetSize3{SetIt: true}}}
		return c.do(fmt.Sprintf("CREATE UNCHECKED %v, node %d", p, id), false, func() error {
			_, err := c.nfs.Create(ctx, c.handles[p.dir], p.name, &how)
			return err
		}, func(m *model, doubt bool) { m.nodes[id].resize(0, doubt) })
	}
	return nil
}

func (n *node) resize(size int64, doubt bool) {
	n.data = append(n.data, change{off: size, end: size, cut: true, required: !doubt})
	n.mtime, n.verifier = nil, nil
}

func (c *client) mkdir() error {
	p, ok := c.vacant()
	if !ok {
		return nil
	}
	attrs, note := c.attrs()
	return c.made("MKDIR", p, node{kind: nfs3.NF3DIR}, note, func() (nfs3.PostOpFh3, error) {
		res, err := c.nfs.Mkdir(ctx, c.handles[p.dir], p.name, &attrs)
		return res.Resok.Obj, err
	})
}

func (c *client) symlink() error {
	p, ok := c.vacant()
	if !ok {
		return nil
	}
	target := fmt.Sprintf("to/%d/%0*d", c.nextID, 1+c.rnd.IntN(500), c.nextID)
	return c.made("SYMLINK", p, node{kind: nfs3.NF3LNK, target: target}, nil, func() (nfs3.PostOpFh3, error) {
		res, err := c.nfs.Symlink(ctx, c.handles[p.dir], p.name, target, new(nfs3.Sattr3))
		return res.Resok.Obj, err
	})
}

func (c *client) mknod() error {
	p, ok := c.vacant()
	if !ok {
		return nil
	}
	attrs, note := c.attrs()
	n := node{kind: nfs3.NF3FIFO}
	what := nfs3.Mknoddata3{Type: nfs3.NF3FIFO, PipeAttributes: attrs}
	if c.rnd.IntN(2) == 0 {
		n = node{kind: nfs3.NF3CHR, rdev: nfs3.Specdata3{Specdata1: uint32(c.rnd.IntN(256)), Specdata2: uint32(c.nextID)}}
		what = nfs3.Mknoddata3{Type: nfs3.NF3CHR, Device: nfs3.Devicedata3{DevAttributes: attrs, Spec: n.rdev}}
	}
	return c.made("MKNOD", p, n, note, func() (nfs3.PostOpFh3, error) {
		res, err := c.nfs.Mknod(ctx, c.handles[p.dir], p.name, &what)
		return res.Resok.Obj, err
	})
}

func (c *client) remove() error {
	p, ok := pick(c, c.which(func(n *node) bool { return n.kind != nfs3.NF3DIR }))
	if !ok {
		return nil
	}
	return c.do(fmt.Sprint("REMOVE ", p), true, func() error {
		_, err := c.nfs.Remove(ctx, c.handles[p.dir], p.name)
		return err
	}, func(m *model, _ bool) { m.unlink(p.dir, p.name) })
}

func (c *client) rmdir() error {
	p, ok := pick(c, c.which(func(n *node) bool { return n.kind == nfs3.NF3DIR && len(n.entries) == 0 }))
	if !ok {
		return nil
	}
	return c.do(fmt.Sprint("RMDIR ", p), true, func() error {
		_, err := c.nfs.Rmdir(ctx, c.handles[p.dir], p.name)
		return err
	}, func(m *model, _ bool) { m.unlink(p.dir, p.name) })
}

// which are the places of objects that satisfy want.
func (c *client) which(want func(n *node) bool) []place {
	return slices.DeleteFunc(c.names(), func(p place) bool {
		_, n := c.at(p)
		return !want(n)
	})
}

func (c *client) rename() error {
	from, ok := pick(c, c.names())
	if !ok {
		return nil
	}
	to := c.somewhere()
	id, n := c.at(from)
	_, target := c.at(to)
	switch {
	case n.kind == nfs3.NF3DIR && c.model.below(to.dir, id),
		target != nil && (n.kind == nfs3.NF3DIR) != (target.kind == nfs3.NF3DIR),
		target != nil && len(target.entries) > 0:
		return nil // an error, which is another test's matter
	}
	linked := target != nil && target.links > 1
	err := c.do(fmt.Sprintf("RENAME %v %v", from, to), true, func() error {
		_, err := c.nfs.Rename(ctx, c.handles[from.dir], from.name, c.handles[to.dir], to.name)
		return err
	}, func(m *model, _ bool) { m.rename(from.dir, from.name, to.dir, to.name) })
	last := &c.history[len(c.history)-1]
	if c.halves && n.kind != nfs3.NF3DIR && from.dir != to.dir {
		last.halves = append(last.halves, func(m *model) {
			m.unlink(to.dir, to.name)
			m.link(id, to.dir, to.name)
		})
	}
	if c.halves && linked {
		last.halves = append(last.halves, func(m *model) { m.unlink(to.dir, to.name) })
	}
	return err
}

func (c *client) link() error {
	id, ok := pick(c, c.model.ids(func(_ int, n *node) bool { return n.kind != nfs3.NF3DIR }))
	p, vacant := c.vacant()
	if !ok || !vacant {
		return nil
	}
	return c.do(fmt.Sprintf("LINK node %d %v", id, p), true, func() error {
		_, err := c.nfs.Link(ctx, c.handles[id], c.handles[p.dir], p.name)
		return err
	}, func(m *model, _ bool) { m.link(id, p.dir, p.name) })
}

func (c *client) write() error {
	id, ok := pick(c, c.files())
	if !ok {
		return nil
	}
	how := nfs3.StableHow(c.rnd.IntN(3))
	if c.unstable {
		how = nfs3.UNSTABLE
	}
	data := make([]byte, 1+c.rnd.IntN(maxWrite))
	off := int64(c.rnd.IntN(maxFile))
	number := c.number.Add(1)
	fill(data, number, off)
	w := change{number: number, off: off, end: off + int64(len(data))}
	return c.do(fmt.Sprintf("WRITE %v node %d, %d at %d", how, id, len(data), off), false, func() error {
		res, err := c.nfs.Write(ctx, c.handles[id], data, uint64(off), how)
		switch {
		case err != nil:
			return err
		case int(res.Resok.Count) != len(data):
			return fmt.Errorf("%d bytes were written", res.Resok.Count)
		case res.Resok.Committed < how:
			return fmt.Errorf("is only %v", res.Resok.Committed)
		}
		w.required = res.Resok.Committed != nfs3.UNSTABLE
		return c.verify(res.Resok.Verf)
	}, func(m *model, doubt bool) {
		n := m.nodes[id]
		e := w
		e.required = e.required && !doubt
		n.data = append(n.data, e)
		n.mtime, n.verifier = nil, nil
	})
}

// verify checks that the server has not lost what it has not promised to keep:
// it runs all the time.
func (c *client) verify(v nfs3.Writeverf3) error {
	if c.verifier == nil {
		c.verifier = &v
	}
	if *c.verifier != v {
		return fmt.Errorf("the write verifier has changed")
	}
	return nil
}

func (c *client) commit() error {
	id, ok := pick(c, c.files())
	if !ok {
		return nil
	}
	return c.do(fmt.Sprintf("COMMIT node %d", id), false, func() error {
		res, err := c.nfs.Commit(ctx, c.handles[id], 0, 0)
		if err != nil {
			return err
		}
		return c.verify(res.Resok.Verf)
	}, func(m *model, doubt bool) {
		if !doubt {
			m.nodes[id].data.commit()
		}
	})
}

func (c *client) setattr() error {
	id, ok := pick(c, c.model.ids(func(id int, n *node) bool { return id >= firstID && n.kind != nfs3.NF3LNK }))
	if !ok {
		return nil
	}
	var s nfs3.Sattr3
	var notes []func(n *node, doubt bool)
	what := fmt.Sprintf("SETATTR node %d", id)
	set := func(name string, v int64, note func(n *node, doubt bool)) {
		what += fmt.Sprintf(" %s %o", name, v)
		notes = append(notes, note)
	}
	if kind := c.model.nodes[id].kind; kind == nfs3.NF3REG && c.rnd.IntN(3) == 0 {
		size := int64(c.rnd.IntN(maxFile))
		s.Size = nfs3.SetSize3{SetIt: true, Size: nfs3.Size3(size)}
		set("size", size, func(n *node, doubt bool) { n.resize(size, doubt) })
	}
	if c.rnd.IntN(3) == 0 {
		mode := int64(0o600 | c.rnd.IntN(0o200))
		s.Mode = nfs3.SetMode3{SetIt: true, Mode: nfs3.Mode3(mode)}
		set("mode", mode, func(n *node, doubt bool) { n.mode.set(mode, doubt) })
	}
	if c.rnd.IntN(4) == 0 {
		uid, gid := int64(c.rnd.IntN(1000)), int64(c.rnd.IntN(1000))
		s.UID, s.GID = nfs3.SetUID3{SetIt: true, UID: nfs3.UID3(uid)}, nfs3.SetGID3{SetIt: true, GID: nfs3.GID3(gid)}
		set("uid", uid, func(n *node, doubt bool) { n.uid.set(uid, doubt) })
		set("gid", gid, func(n *node, doubt bool) { n.gid.set(gid, doubt) })
	}
	if c.rnd.IntN(3) == 0 || len(notes) == 0 {
		at := nfs3.NFSTime3{Seconds: uint32(c.rnd.Int64N(1 << 31)), Nseconds: uint32(c.rnd.IntN(1e9))}
		s.Atime = nfs3.SetAtime{SetIt: nfs3.SET_TO_CLIENT_TIME, Atime: at}
		s.Mtime = nfs3.SetMtime{SetIt: nfs3.SET_TO_CLIENT_TIME, Mtime: at}
		ns := int64(at.Seconds)*1e9 + int64(at.Nseconds)
		set("times", ns, func(n *node, doubt bool) {
			n.atime.set(ns, doubt)
			n.mtime.set(ns, doubt)
		})
	}
	return c.do(what, false, func() error {
		_, err := c.nfs.Setattr(ctx, c.handles[id], &s, nil)
		return err
	}, func(m *model, doubt bool) {
		m.nodes[id].verifier = nil
		for _, note := range notes {
			note(m.nodes[id], doubt)
		}
	})
}
