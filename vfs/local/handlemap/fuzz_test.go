package handlemap

import (
	"bytes"
	"maps"
	"testing"
)

// FuzzFile reads any file. What it is understood to say does not depend on what
// comes behind the good part, and is written again as such.
func FuzzFile(f *testing.F) {
	b := appendHeader(nil)
	f.Add(byte(0), b)
	b = appendPut(b, key(1), key(2), "name")
	b = appendPut(b, key(3), key(1), "")
	f.Add(byte(0), b)
	b = appendDelete(b, key(1))
	f.Add(byte(0), b)
	f.Add(byte(0), b[:len(b)-1])
	f.Fuzz(func(t *testing.T, _ byte, file []byte) {
		m := open(t, "", 0)
		good, err := m.replay(bytes.NewReader(file), "file")
		if err != nil || good == 0 {
			return
		}
		rows := contents(m)
		if again, n := read(t, file[:good]); n != good || !maps.Equal(again, rows) {
			t.Fatalf("the good %d bytes say %v, with what follows %v", n, again, rows)
		}
		b := appendHeader(nil)
		for k, p := range rows {
			b = appendPut(b, k, p.parent, p.name)
		}
		if again, n := read(t, b); n != int64(len(b)) || !maps.Equal(again, rows) {
			t.Fatalf("wrote %v, read %v", rows, again)
		}
	})
}
