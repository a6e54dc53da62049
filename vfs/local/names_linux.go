package local

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"
	"weak"

	"golang.org/x/sys/unix"
)

// names remembers what LOOKUP has found under a name, so that the next one need
// not open it to learn which object it is. An entry is only a hint. There is room
// for some in each set, which a name's hash selects; no locks are taken.
type names struct {
	seed maphash.Seed
	sets []nameSet
}

type nameSet [4]atomic.Pointer[named]

// named is an inode and a name that it had. It never changes.
type named struct {
	*place
	inode weak.Pointer[inode]
}

const maxNames = 1 << 20

// makeNames makes room for the names of so many open files, and some more: sets
// fill unevenly.
func makeNames(seed maphash.Seed, files int) names {
	sets := 1 << bits.Len(uint(min(files, maxNames/len(nameSet{}))-1))
	return names{seed: seed, sets: make([]nameSet, sets)}
}

func (n *names) set(dir *inode, name string) *nameSet {
	sum := maphash.String(n.seed, name) ^ dir.id*0x9e3779b97f4a7c15
	return &n.sets[sum&uint64(len(n.sets)-1)]
}

// get returns what is remembered, or nil.
func (n *names) get(dir *inode, name string) *named {
	s := n.set(dir, name)
	for k := range s {
		if e := s[k].Load(); e != nil && e.is(dir, name) {
			return e
		}
	}
	return nil
}

// put remembers that i is at p. In a full set it takes the room of one that could
// not be used now, or of any.
func (n *names) put(p *place, i *inode) {
	name := p.name.String()
	s := n.set(p.parent, name)
	at := int(i.id) & (len(s) - 1)
	for k := range s {
		e := s[k].Load()
		if e != nil && e.is(p.parent, name) {
			at = k
			break
		}
		if e == nil {
			at = k
		} else if old := e.inode.Value(); old == nil || old.file.Load() == nil {
			at = k
		}
	}
	e := &named{p, weak.Make(i)}
	if old := s[at].Load(); old == nil || old.inode != e.inode || *old.place != *p {
		s[at].Store(e)
	}
}

// recall returns what has a name in a directory, for which dirfd is open, and its
// attributes, if it is what had the name before; else nil. A descriptor that is
// open keeps an inode number from being used again: so what has this inode's is
// this inode, as in seen. Nor is there a wait that RESOLVE_CACHED would avoid: the
// descriptor keeps the name in the kernel's memory too, unless the file has
// several, or has got it behind the server's back.
func (f *FS) recall(dir *inode, dirfd int, name string, st *unix.Statx_t) *inode {
	e := f.names.get(dir, name)
	if e == nil {
		return nil
	}
	i := e.inode.Value()
	if i == nil || i.removed.Load() {
		return nil
	}
	h := i.held(gradePath)
	if h == nil {
		return nil
	}
	defer h.release()
	err := statx(dirfd, e.name.ptr(), unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, st)
	if err != nil || !i.is(st) || !dir.mount.has(st) {
		return nil
	}
	if i.place.Load() != e.place {
		f.note(i, e.place)
	}
	return i
}

// noted remembers that an inode has a name.
func (f *FS) noted(i, dir *inode, name string) *place {
	p := i.place.Load()
	if p == nil || !p.is(dir, name) {
		p = &place{dir, newCString(name)}
		f.note(i, p)
	}
	return p
}

// has reports whether st are of an object that is reached by this mount, and not by
// one on top of it.
func (m *mount) has(st *unix.Statx_t) bool {
	return st.Mask&unix.STATX_MNT_ID != 0 && st.Mnt_id == m.id
}
