package handlemap

import (
	"fmt"
	"maps"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A map does what a Go map does, but for rows that had to go: those are absent,
// never wrong. Closing, dying and opening change nothing.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := ""
		if rapid.Bool().Draw(rt, "persistent") {
			dir = t.TempDir()
		}
		max := rapid.IntRange(1, 40).Draw(rt, "max")
		m := open(t, dir, max)
		model := make(map[Key]place)
		keys := rapid.Map(rapid.IntRange(0, 50), key)
		names := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) })
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				k, p := keys.Draw(rt, "key"), place{keys.Draw(rt, "parent"), names.Draw(rt, "name")}
				m.Put(k, p.parent, p.name)
				model[k] = p
				if parent, name, ok := m.Get(k); !ok || parent != p.parent || name != p.name {
					rt.Fatalf("put %v, got %v %q %v", p, parent, name, ok)
				}
			},
			"delete": func(rt *rapid.T) {
				k := keys.Draw(rt, "key")
				m.Delete(k)
				delete(model, k)
			},
			"get": func(rt *rapid.T) { m.Get(keys.Draw(rt, "key")) },
			"copy": func(rt *rapid.T) {
				if dir == "" {
					return
				}
				if err := m.copy(); err != nil {
					rt.Fatal(err)
				}
			},
			"reopen": func(rt *rapid.T) {
				if dir == "" {
					return
				}
				before := contents(m)
				if rapid.Bool().Draw(rt, "die") {
					die(m)
				} else {
					closeMap(t, m)
				}
				m = open(t, dir, max)
				if after := contents(m); !maps.Equal(before, after) {
					rt.Fatalf("before %v, after %v", before, after)
				}
			},
			"": func(rt *rapid.T) {
				got := contents(m)
				if len(got) > max || m.Len() != len(got) {
					rt.Fatalf("%d rows, Len %d, of at most %d", len(got), m.Len(), max)
				}
				var live int64
				for k, p := range got {
					if model[k] != p {
						rt.Fatalf("%v is %v, want %v", k, p, model[k])
					}
					live += recordSize(p.name)
				}
				if live != m.live {
					rt.Fatalf("%d bytes are live, counted %d", live, m.live)
				}
				for k := range model {
					if _, ok := got[k]; !ok {
						if len(model) <= max {
							rt.Fatalf("%v is missing", k)
						}
						delete(model, k) // evicted
					}
				}
			},
		})
		if m.log != nil {
			die(m)
		}
	})
}

func TestEvictionSparesWhatIsUsed(t *testing.T) {
	const max = 100
	m := open(t, "", max)
	for n := range 100 * max {
		m.Put(key(n), key(0), "name")
		for hot := range 10 {
			if _, _, ok := m.Get(key(hot)); !ok && hot <= n {
				t.Fatalf("%d has gone after %d, though used all the time", hot, n)
			}
		}
	}
	if m.Len() != max {
		t.Errorf("%d rows, want %d", m.Len(), max)
	}
}

func TestConcurrent(t *testing.T) {
	const goroutines, keys, rounds = 4, 200, 20
	dir := t.TempDir()
	m := open(t, dir, goroutines*keys)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for round := range rounds {
				for n := range keys {
					k := key(g*keys + n)
					m.Put(k, key(round), fmt.Sprint(round))
					if parent, name, ok := m.Get(k); !ok || parent != key(round) || name != fmt.Sprint(round) {
						t.Errorf("got %v %q %v in round %d", parent, name, ok, round)
					}
				}
			}
		})
	}
	wg.Go(func() {
		for range rounds {
			if err := m.copy(); err != nil {
				t.Error(err)
			}
			if err := m.Sync(); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	closeMap(t, m)
	m = open(t, dir, 0)
	defer closeMap(t, m)
	for n := range goroutines * keys {
		if _, name, _ := m.Get(key(n)); name != fmt.Sprint(rounds-1) {
			t.Errorf("%d is %q", n, name)
		}
	}
}
