package namespace

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"eddy.example/nfs3"
)

// object is a file or directory, by its handle.
type object string

// tree is a file system: the entries of each directory that is not removed.
type tree struct {
	root object
	dirs map[object]map[string]object
}

func (t tree) clone() tree {
	c := tree{t.root, make(map[object]map[string]object, len(t.dirs))}
	for dir, entries := range t.dirs {
		c.dirs[dir] = maps.Clone(entries)
	}
	return c
}

// key is the same for equal trees only.
func (t tree) key() string {
	var b strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(t.dirs)) {
		fmt.Fprintf(&b, "%q:", dir)
		for _, name := range slices.Sorted(maps.Keys(t.dirs[dir])) {
			fmt.Fprintf(&b, "%q%q", name, t.dirs[dir][name])
		}
	}
	return b.String()
}

func (t tree) isDir(o object) bool { return t.dirs[o] != nil }

// links is the number of names of an object.
func (t tree) links(o object) (n int) {
	for _, entries := range t.dirs {
		for _, e := range entries {
			if e == o {
				n++
			}
		}
	}
	return n
}

// objects are all there are, in no order.
func (t tree) objects() []object {
	all := make(map[object]bool)
	for dir, entries := range t.dirs {
		all[dir] = true
		for _, o := range entries {
			all[o] = true
		}
	}
	return slices.Collect(maps.Keys(all))
}

func (t tree) parent(dir object) object {
	for d, entries := range t.dirs {
		for _, e := range entries {
			if e == dir {
				return d
			}
		}
	}
	return dir
}

// below reports whether dir is top or below it.
func (t tree) below(dir, top object) bool {
	for dir != top {
		if dir == t.root {
			return false
		}
		dir = t.parent(dir)
	}
	return true
}

// The statuses with which an operation may fail where there is a reason for it.
var (
	gone     = []nfs3.NFSStat3{nfs3.NFS3ERR_STALE, nfs3.NFS3ERR_NOENT}
	absent   = []nfs3.NFSStat3{nfs3.NFS3ERR_NOENT}
	exists   = []nfs3.NFSStat3{nfs3.NFS3ERR_EXIST}
	notEmpty = []nfs3.NFSStat3{nfs3.NFS3ERR_NOTEMPTY, nfs3.NFS3ERR_EXIST}
	isDir    = []nfs3.NFSStat3{nfs3.NFS3ERR_ISDIR, nfs3.NFS3ERR_PERM, nfs3.NFS3ERR_INVAL, nfs3.NFS3ERR_ACCES, nfs3.NFS3ERR_NOTEMPTY, nfs3.NFS3ERR_EXIST}
	notDir   = []nfs3.NFSStat3{nfs3.NFS3ERR_NOTDIR, nfs3.NFS3ERR_EXIST}
	loop     = []nfs3.NFSStat3{nfs3.NFS3ERR_INVAL}
)

// kind is what an operation does.
type kind int

const (
	create kind = iota // CREATE GUARDED
	open               // CREATE UNCHECKED
	mkdir
	remove
	rmdir
	rename
	link
	lookup
	kinds
)

func (k kind) String() string {
	return [...]string{"CREATE GUARDED", "CREATE UNCHECKED", "MKDIR", "REMOVE", "RMDIR", "RENAME", "LINK", "LOOKUP"}[k]
}

// operation is what a client asked for and was answered.
type operation struct {
	client int
	kind   kind
	dir    object
	name   string
	to     object // RENAME
	toName string
	target object // LINK

	sent, answered int64 // moments
	status         nfs3.NFSStat3
	found          object // of CREATE, MKDIR, LOOKUP
}

func (o *operation) String() string {
	s := fmt.Sprintf("%3d to %3d, client %d: %v %s/%s", o.sent, o.answered, o.client, o.kind, short(o.dir), o.name)
	switch o.kind {
	case rename:
		s += fmt.Sprintf(" %s/%s", short(o.to), o.toName)
	case link:
		s += " of " + short(o.target)
	}
	s += fmt.Sprint(": ", o.status)
	if o.found != "" {
		s += " " + short(o.found)
	}
	return s
}

// short is enough of a handle to tell it from others by eye.
func short(o object) string {
	sum := uint32(2166136261)
	for i := range len(o) {
		sum = (sum ^ uint32(o[i])) * 16777619
	}
	return fmt.Sprintf("%06x", sum>>8)
}

// apply does o to t, in place, and returns whether it could have been answered
// as it was.
func (o *operation) apply(t tree) bool {
	may := func(reasons ...[]nfs3.NFSStat3) bool {
		return slices.ContainsFunc(reasons, func(r []nfs3.NFSStat3) bool { return slices.Contains(r, o.status) })
	}
	entries := t.dirs[o.dir]
	old, there := entries[o.name]
	if entries == nil && o.kind != rename && o.kind != link {
		return may(gone)
	}
	done := o.status == nfs3.NFS3_OK
	switch o.kind {
	case create, mkdir:
		if there {
			return may(exists)
		}
		if !done || t.links(o.found) > 0 || t.isDir(o.found) {
			return false
		}
		entries[o.name] = o.found
		if o.kind == mkdir {
			t.dirs[o.found] = make(map[string]object)
		}
	case open:
		switch {
		case there && t.isDir(old):
			return may(exists, isDir)
		case there:
			return done && o.found == old
		case !done || t.links(o.found) > 0 || t.isDir(o.found):
			return false
		}
		entries[o.name] = o.found
	case lookup:
		if !there {
			return may(absent)
		}
		return done && o.found == old
	case remove:
		switch {
		case !there:
			return may(absent)
		case t.isDir(old):
			return may(isDir)
		case !done:
			return false
		}
		delete(entries, o.name)
	case rmdir:
		switch {
		case !there:
			return may(absent)
		case !t.isDir(old):
			return may(notDir)
		case len(t.dirs[old]) > 0:
			return may(notEmpty)
		case !done:
			return false
		}
		delete(entries, o.name)
		delete(t.dirs, old)
	case link:
		var reasons [][]nfs3.NFSStat3
		if entries == nil || !t.isDir(o.target) && t.links(o.target) == 0 {
			reasons = append(reasons, gone)
		}
		if there {
			reasons = append(reasons, exists)
		}
		if len(reasons) > 0 {
			return may(reasons...)
		}
		if !done {
			return false
		}
		entries[o.name] = o.target
	case rename:
		return o.rename(t, may)
	}
	return true
}

func (o *operation) rename(t tree, may func(...[]nfs3.NFSStat3) bool) bool {
	from, to := t.dirs[o.dir], t.dirs[o.to]
	if from == nil || to == nil {
		return may(gone)
	}
	old, there := from[o.name]
	if !there {
		return may(absent)
	}
	target, replaces := to[o.toName]
	if replaces && target == old {
		return o.status == nfs3.NFS3_OK
	}
	var reasons [][]nfs3.NFSStat3
	if t.isDir(old) && t.below(o.to, old) {
		reasons = append(reasons, loop)
	}
	if replaces {
		if t.isDir(target) && !t.isDir(old) {
			reasons = append(reasons, isDir)
		}
		if !t.isDir(target) && t.isDir(old) {
			reasons = append(reasons, notDir)
		}
		if len(t.dirs[target]) > 0 {
			reasons = append(reasons, notEmpty)
		}
	}
	if len(reasons) > 0 {
		return may(reasons...)
	}
	if o.status != nfs3.NFS3_OK {
		return false
	}
	delete(from, o.name)
	to[o.toName] = old
	if replaces {
		delete(t.dirs, target)
	}
	return true
}
