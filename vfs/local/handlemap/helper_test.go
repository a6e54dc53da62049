package handlemap

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// place is what a row says.
type place struct {
	parent Key
	name   string
}

func open(t testing.TB, dir string, max int) *Map {
	t.Helper()
	m, err := Open(dir, max)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func closeMap(t testing.TB, m *Map) {
	t.Helper()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// contents are all rows of m.
func contents(m *Map) map[Key]place {
	all := make(map[Key]place)
	for _, r := range m.rows {
		if r.taken {
			all[r.key] = place{r.parent, r.name}
		}
	}
	return all
}

// read is what a file says, as Open would see it.
func read(t testing.TB, file []byte) (map[Key]place, int64) {
	t.Helper()
	m := open(t, "", 0)
	good, err := m.replay(bytes.NewReader(file), "file")
	if err != nil {
		t.Fatal(err)
	}
	return contents(m), good
}

// die is what becomes of m when its process is killed.
func die(m *Map) {
	m.log.copies.Wait()
	m.log.file.Close()
	m.log.lock.Close()
}

// key has no zeros at its end, which a file cut within it could have got back.
func key(n int) Key { return Key{Dev: 7, Ino: uint64(n), Gen: 1<<24 | uint32(n)} }

func fileOf(t testing.TB, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
