package handlemap

import (
	"sync"
)

// Key names an object for as long as it lives: a removed object's inode number is
// used again with another generation.
type Key struct {
	Dev, Ino uint64
	Gen      uint32
}

// Map is a bounded persistent map from objects to their names. All methods may be
// called concurrently. One lock serialises the table; no file is written under it.
type Map struct {
	mu    sync.Mutex
	rows  []row // a clock's face; grows up to max
	index map[Key]uint32
	free  []uint32 // rows without a key
	hand  uint32
	max   int
	live  int64 // bytes of the records of all rows
	// Records of changes that no file has yet, oldest first.
	pending []byte

	log *log // nil: memory only
}

type row struct {
	key, parent Key
	name        string
	taken, used bool
}

// sweep bounds how many rows an eviction looks at. If all were used lately, the last
// one goes.
const sweep = 64

// defaultRows is the bound of a Map that was opened without one.
const defaultRows = 1 << 20

// Open reads the map in dir, which it creates if need be, or makes an empty one
// that ends with the process if dir is "". The map holds at most maxRows rows; 0 is
// 1<<20. A file of an unknown version is an error and left alone.
func Open(dir string, maxRows int) (*Map, error) {
	if maxRows <= 0 {
		maxRows = defaultRows
	}
	m := &Map{index: make(map[Key]uint32), max: maxRows}
	if dir == "" {
		return m, nil
	}
	if err := m.openLog(dir); err != nil {
		return nil, err
	}
	return m, nil
}

// Get returns where k was last seen.
func (m *Map) Get(k Key) (parent Key, name string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, ok := m.index[k]
	if !ok {
		return Key{}, "", false
	}
	r := &m.rows[i]
	r.used = true
	return r.parent, r.name, true
}

// Put notes that k is in parent under name, which has at most 65535 bytes. A row of
// k's is replaced; if there are too many, another object's goes.
func (m *Map) Put(k, parent Key, name string) {
	if len(name) > maxName {
		return
	}
	m.mu.Lock()
	changed := m.put(k, parent, name)
	m.mu.Unlock()
	if changed {
		m.flush()
	}
}

// Delete forgets k.
func (m *Map) Delete(k Key) {
	m.mu.Lock()
	i, ok := m.index[k]
	if ok {
		m.remove(i)
	}
	m.mu.Unlock()
	if ok {
		m.flush()
	}
}

// Len is the number of rows.
func (m *Map) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.index)
}

// put tells whether there was anything to change. The caller holds m.mu, as for
// all below.
func (m *Map) put(k, parent Key, name string) bool {
	i, ok := m.index[k]
	if ok {
		r := &m.rows[i]
		r.used = true
		if r.parent == parent && r.name == name {
			return false
		}
		m.live -= recordSize(r.name)
	} else {
		i = m.place()
		m.index[k] = i
	}
	m.rows[i] = row{k, parent, name, true, true}
	m.live += recordSize(name)
	if m.log != nil {
		m.pending = appendPut(m.pending, k, parent, name)
	}
	return true
}

// place returns a row without a key.
func (m *Map) place() uint32 {
	if n := len(m.free); n > 0 {
		i := m.free[n-1]
		m.free = m.free[:n-1]
		return i
	}
	if len(m.rows) < m.max {
		m.rows = append(m.rows, row{})
		return uint32(len(m.rows) - 1)
	}
	// No row is free, so all are taken.
	i := m.hand
	for range sweep {
		i = m.hand
		m.hand = (m.hand + 1) % uint32(len(m.rows))
		if !m.rows[i].used {
			break
		}
		m.rows[i].used = false
	}
	m.remove(i)
	return m.place()
}

func (m *Map) remove(i uint32) {
	r := &m.rows[i]
	delete(m.index, r.key)
	m.live -= recordSize(r.name)
	if m.log != nil {
		m.pending = appendDelete(m.pending, r.key)
	}
	*r = row{}
	m.free = append(m.free, i)
}
