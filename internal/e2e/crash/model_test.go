package crash

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"eddy.example/nfs3"
)

// op is an operation of a client and its moments on the device's clock.
type op struct {
	sent, acked int // acked is never until it is
	what        string
	// apply does it to a model. If it is in doubt it may have been done, or not, or
	// in part; but names are changed all or not at all.
	apply func(m *model, doubt bool)
	names bool
	// halves do to names what a file system that is known for it may leave of an
	// operation in doubt.
	halves []func(m *model)
}

const never = math.MaxInt

// history is what one client did, one operation after the other.
type history []op

// at returns the models of what may be there after a power cut: there are several if
// the cut hits an operation on names.
func (h history) at(cut int) (models []*model) {
	done := h.until(cut)
	last := len(done) - 1
	if last < 0 || done[last].acked <= cut || !done[last].names {
		return []*model{done.model(cut)}
	}
	without := done[:last].model(cut)
	models = []*model{done.model(cut), without}
	for _, half := range done[last].halves {
		m := done[:last].model(cut)
		half(m)
		models = append(models, m)
	}
	return models
}

// until is what had been sent before a moment.
func (h history) until(moment int) history {
	i := slices.IndexFunc(h, func(o op) bool { return o.sent >= moment })
	if i < 0 {
		return h
	}
	return h[:i]
}

// model is what all of h, as promised at a moment, makes.
func (h history) model(moment int) *model {
	m := newModel()
	for _, o := range h {
		o.apply(m, o.acked > moment)
	}
	return m
}

// model is the part of the tree that is a client's own.
type model struct {
	nodes map[int]*node
}

// The nodes that are there from the beginning: the client's own directory and the
// shared one, of which the model has the client's names only.
const (
	own = iota
	shared
	firstID
)

func newModel() *model {
	return &model{nodes: map[int]*node{
		own:    {kind: nfs3.NF3DIR, links: 1, entries: map[string]int{}},
		shared: {kind: nfs3.NF3DIR, links: 1, entries: map[string]int{}},
	}}
}

// node is an object that has a name, or had one.
type node struct {
	kind           nfs3.Ftype3
	links          int            // names
	entries        map[string]int // of a directory
	parent         int
	target         string
	rdev           nfs3.Specdata3
	mode, uid, gid field
	atime, mtime   field
	data           contents
	verifier       *nfs3.Createverf3 // of EXCLUSIVE, until the first SETATTR or WRITE
	doubtful       bool              // made by an operation in doubt: nothing but the kind is known
}

// field is an attribute: any of the values. None: unknown.
type field []int64

func (f *field) set(v int64, doubt bool) {
	switch {
	case !doubt:
		*f = field{v}
	case len(*f) > 0:
		*f = append(slices.Clone(*f), v)
	}
}

func (f field) allows(v int64) bool { return len(f) == 0 || slices.Contains(f, v) }

// make adds a node and its name.
func (m *model) make(id, dir int, name string, n *node) {
	n.links = 1
	n.parent = dir
	if n.kind == nfs3.NF3DIR {
		n.entries = make(map[string]int)
	}
	m.nodes[id] = n
	m.nodes[dir].set(name, id)
}

// set and clear change a directory, and so its mtime.

func (n *node) set(name string, id int) {
	n.entries[name] = id
	n.mtime = nil
}

func (n *node) clear(name string) {
	delete(n.entries, name)
	n.mtime = nil
}

func (m *model) link(id, dir int, name string) {
	m.nodes[id].links++
	m.nodes[dir].set(name, id)
}

func (m *model) unlink(dir int, name string) {
	id, ok := m.nodes[dir].entries[name]
	if !ok {
		return
	}
	m.nodes[dir].clear(name)
	if n := m.nodes[id]; n.links > 1 {
		n.links--
	} else {
		delete(m.nodes, id)
	}
}

func (m *model) rename(from int, fromName string, to int, toName string) {
	id := m.nodes[from].entries[fromName]
	if m.nodes[to].entries[toName] == id {
		return // two names of one object stay, RFC 1813 §3.3.14
	}
	m.unlink(to, toName)
	m.nodes[from].clear(fromName)
	m.nodes[to].set(toName, id)
	m.nodes[id].parent = to
}

// below reports whether dir is id or below it.
func (m *model) below(dir, id int) bool {
	for ; dir != id; dir = m.nodes[dir].parent {
		if dir < firstID {
			return false
		}
	}
	return true
}

// ids are those of the nodes that satisfy want, in order.
func (m *model) ids(want func(id int, n *node) bool) (ids []int) {
	for _, id := range slices.Sorted(maps.Keys(m.nodes)) {
		if want(id, m.nodes[id]) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (h history) String() string {
	var b strings.Builder
	for _, o := range h {
		fmt.Fprintf(&b, "%d to %d: %s\n", o.sent, o.acked, o.what)
	}
	return b.String()
}

func TestHistoryAt(t *testing.T) {
	create := func(sent, acked, id int, name string) op {
		return op{sent, acked, "create " + name, func(m *model, doubt bool) {
			m.make(id, own, name, &node{kind: nfs3.NF3REG, doubtful: doubt})
		}, true, nil}
	}
	h := history{create(10, 20, 5, "a"), create(20, 30, 6, "b"), create(35, never, 7, "c")}
	for cut, want := range map[int][]string{
		10: {""}, 11: {"a", ""}, 19: {"a", ""}, 20: {"a"}, 25: {"a b", "a"}, 30: {"a b"}, 35: {"a b"}, 40: {"a b c", "a b"},
	} {
		var got []string
		for _, m := range h.at(cut) {
			got = append(got, strings.Join(slices.Sorted(maps.Keys(m.nodes[own].entries)), " "))
		}
		if !slices.Equal(got, want) {
			t.Errorf("cut at %d: %q, want %q", cut, got, want)
		}
	}
}
