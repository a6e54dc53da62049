package namespace

import (
	"encoding/binary"
	"testing"

	"eddy.example/nfs3"
)

// search looks for an order of operations that explains them.
type search struct {
	clients [][]*operation // each client's, in the order it did them
	after   string         // key of the tree at the end
	seen    map[string]bool
}

// explained reports whether operations that began with the tree before can have led
// to the tree after, each with the answer it got.
func explained(before, after tree, clients [][]*operation) bool {
	s := search{clients, after.key(), make(map[string]bool)}
	return s.from(before, make([]int, len(clients)))
}

// from reports whether the operations that are not done yet can have led from t to
// the end.
func (s *search) from(t tree, done []int) bool {
	var at []byte
	for _, n := range done {
		at = binary.AppendUvarint(at, uint64(n))
	}
	key := string(at) + t.key()
	if s.seen[key] {
		return false
	}
	s.seen[key] = true

	// One that was sent after another had been answered comes after it.
	answered, left := int64(1<<62), false
	for c, n := range done {
		if n < len(s.clients[c]) {
			left = true
			answered = min(answered, s.clients[c][n].answered)
		}
	}
	if !left {
		return t.key() == s.after
	}
	for c, n := range done {
		if n == len(s.clients[c]) || s.clients[c][n].sent > answered {
			continue
		}
		next := t.clone()
		if !s.clients[c][n].apply(next) {
			continue
		}
		done[c]++
		if s.from(next, done) {
			return true
		}
		done[c]--
	}
	return false
}

func TestExplained(t *testing.T) {
	start := tree{"root", map[object]map[string]object{"root": {"a": "file"}}}
	end := func(entries map[string]object) tree {
		return tree{"root", map[object]map[string]object{"root": entries}}
	}
	removed := &operation{kind: remove, dir: "root", name: "a", sent: 1, answered: 5}
	created := &operation{kind: create, dir: "root", name: "a", found: "new", sent: 2, answered: 6}
	refused := &operation{kind: create, dir: "root", name: "a", status: nfs3.NFS3ERR_EXIST, sent: 2, answered: 6}
	late := &operation{kind: create, dir: "root", name: "a", status: nfs3.NFS3ERR_EXIST, sent: 6, answered: 7}
	for _, c := range []struct {
		name  string
		ops   []*operation
		after map[string]object
		want  bool
	}{
		{"nothing", nil, map[string]object{"a": "file"}, true},
		{"nothing, and gone", nil, map[string]object{}, false},
		{"removed", []*operation{removed}, map[string]object{}, true},
		{"removed, and there", []*operation{removed}, map[string]object{"a": "file"}, false},
		{"removed, then created", []*operation{created, removed}, map[string]object{"a": "new"}, true},
		{"created over it", []*operation{created}, map[string]object{"a": "new"}, false},
		{"refused, then removed", []*operation{refused, removed}, map[string]object{}, true},
		{"removed, then refused", []*operation{late, removed}, map[string]object{}, false},
		{"removed twice", []*operation{removed, removed}, map[string]object{}, false},
	} {
		var clients [][]*operation
		for _, o := range c.ops {
			clients = append(clients, []*operation{o})
		}
		if got := explained(start, end(c.after), clients); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
