package export

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"eddy.example/internal/siphash"
	"eddy.example/vfs"
)

// Table is a set of exports.
type Table struct {
	mac siphash.Key

	mu      sync.Mutex // held by who makes a new snapshot
	current atomic.Pointer[snapshot]
}

// snapshot is the table at one time. It never changes.
type snapshot struct {
	byID   map[uint32]*Entry
	byPath []*Entry // sorted
}

// NewTable makes a table of exports. Two exports with one path or one id are
// an error.
func NewTable(key Key, exports ...Export) (*Table, error) {
	t := &Table{mac: siphash.NewKey(key)}
	t.current.Store(&snapshot{})
	if err := t.Reload(exports...); err != nil {
		return nil, err
	}
	return t, nil
}

// Add adds an export.
func (t *Table) Add(x Export) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, err := newEntry(x)
	if err != nil {
		return err
	}
	return t.replace(append(slices.Clone(t.current.Load().byPath), e))
}

// Remove takes away the export with this path. Its handles are stale from
// then on, and good again if it is added with the same path or FSID.
func (t *Table) Remove(path string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := cleanPath(path)
	if err != nil {
		return err
	}
	old := t.current.Load().byPath
	rest := slices.DeleteFunc(slices.Clone(old), func(e *Entry) bool { return e.Path == p })
	if len(rest) == len(old) {
		return fmt.Errorf("export %s: %w", p, vfs.ErrNotExist)
	}
	return t.replace(rest)
}

// Reload puts exports in the place of all that the table has, in one step, or
// changes nothing if there is an error. Handles of exports that keep their
// path (or FSID) stay good.
func (t *Table) Reload(exports ...Export) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.current.Load()
	entries := make([]*Entry, 0, len(exports))
	for _, x := range exports {
		e, err := newEntry(x)
		if err != nil {
			return err
		}
		e.adopt(old.byID[e.ID])
		entries = append(entries, e)
	}
	return t.replace(entries)
}

// replace makes entries the current snapshot. The caller holds t.mu and gives
// entries away.
func (t *Table) replace(entries []*Entry) error {
	slices.SortFunc(entries, func(a, b *Entry) int { return strings.Compare(a.Path, b.Path) })
	s := &snapshot{byID: make(map[uint32]*Entry, len(entries)), byPath: entries}
	for i, e := range entries {
		if i > 0 && entries[i-1].Path == e.Path {
			return fmt.Errorf("export %s: there are two: %w", e.Path, vfs.ErrExist)
		}
		if o := s.byID[e.ID]; o != nil {
			return fmt.Errorf("exports %s and %s have the same id %#x: give one another FSID: %w", o.Path, e.Path, e.ID, vfs.ErrExist)
		}
		s.byID[e.ID] = e
	}
	t.current.Store(s)
	return nil
}

// Entries returns all exports, sorted by path. The slice is not to be
// changed.
func (t *Table) Entries() []*Entry { return t.current.Load().byPath }

// AppendHandle appends the handle of o, an object of e, to b: MinHandle to
// MaxHandle bytes, a multiple of 4. Like append it allocates only if b is too
// short.
func (t *Table) AppendHandle(b []byte, e *Entry, o vfs.Object) []byte {
	return appendHandle(b, t.mac, e.ID, e.FS, o)
}

// Resolve finds the object that the handle fh names and decides whether who
// may use its export; c.Cred becomes who's identity there. c.Cred.Groups is
// overwritten in place and grows only if it is too short, so a Call that is
// used again costs no allocation.
//
// Errors: vfs.ErrBadHandle if this table did not make fh, vfs.ErrStale if the
// export or the object is gone, vfs.ErrAccess if the caller is not admitted,
// vfs.ErrWouldBlock if c.MayWait is false and the backend can't tell whether
// it would wait; and what else the backend answers. The Entry is not nil once
// the caller is admitted, whatever comes after.
func (t *Table) Resolve(c *vfs.Call, fh []byte, who *Caller) (*Entry, vfs.Object, error) {
	id, part, ok := parseHandle(fh, t.mac)
	if !ok {
		return nil, nil, vfs.ErrBadHandle
	}
	e := t.current.Load().byID[id]
	if e == nil {
		return nil, nil, vfs.ErrStale
	}
	if err := e.admit(c, who); err != nil {
		return nil, nil, err
	}
	if !c.MayWait && !e.Caps.MayWait {
		return e, nil, vfs.ErrWouldBlock
	}
	o, err := e.FS.Resolve(c, part)
	return e, o, err
}

// Mount finds what a client means by path: an export, or a directory below
// one, which is walked to with the caller's rights and without following
// symbolic links. Of nested exports the longest path wins. c.Cred is set as by
// Resolve.
//
// Errors, beside the backend's: vfs.ErrInvalid for a path that is not
// absolute, too long or has "..", vfs.ErrNotExist, vfs.ErrNotDir,
// vfs.ErrAccess, vfs.ErrWouldBlock.
func (t *Table) Mount(c *vfs.Call, path string, who *Caller) (*Entry, vfs.Object, error) {
	if path == "" {
		path = "/" // libnfs's way of saying the root
	}
	p, err := cleanPath(path)
	if err != nil {
		return nil, nil, err
	}
	e, below := t.current.Load().find(p)
	if e == nil {
		return nil, nil, vfs.ErrNotExist
	}
	if err := e.admit(c, who); err != nil {
		return nil, nil, err
	}
	if !c.MayWait && !e.Caps.MayWait {
		return e, nil, vfs.ErrWouldBlock
	}
	o, err := e.FS.Resolve(c, nil)
	if err != nil {
		return e, nil, err
	}
	for name := range strings.SplitSeq(below, "/") {
		if name == "" {
			continue
		}
		if len(name) > vfs.MaxName {
			return e, nil, vfs.ErrNameTooLong
		}
		var a vfs.Attr
		if o, err = e.FS.Lookup(c, o, name, &a); err != nil {
			return e, nil, err
		}
		if a.Type != vfs.TypeDirectory {
			return e, nil, vfs.ErrNotDir
		}
	}
	return e, o, nil
}

// find returns the entry whose path is p or the nearest directory above it,
// and the rest of p below that.
func (s *snapshot) find(p string) (e *Entry, below string) {
	best := -1
	for i, x := range s.byPath {
		inside := x.Path == "/" || p == x.Path || strings.HasPrefix(p, x.Path) && p[len(x.Path)] == '/'
		if inside && (best < 0 || len(x.Path) > len(s.byPath[best].Path)) {
			best = i
		}
	}
	if best < 0 {
		return nil, ""
	}
	return s.byPath[best], p[len(s.byPath[best].Path):]
}
