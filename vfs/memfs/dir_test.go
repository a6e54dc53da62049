package memfs

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"eddy.example/vfs"
)

// check checks what always holds for a directory.
func (d *directory) check(t interface{ Fatalf(string, ...any) }) {
	last := vfs.FirstCookie - 1
	n := 0
	for _, b := range d.blocks {
		if len(b) == 0 || len(b) > blockSize {
			t.Fatalf("a block of %d entries", len(b))
		}
		for _, e := range b {
			if e.cookie <= last {
				t.Fatalf("cookie %d follows %d", e.cookie, last)
			}
			if d.names[e.name] != e {
				t.Fatalf("%s is another entry by name", e.name)
			}
			last = e.cookie
			n++
		}
	}
	if n != len(d.names) {
		t.Fatalf("%d entries and %d names", n, len(d.names))
	}
	// Pairs of neighbours that would fit into half a block are joined.
	if most := 2 + 4*n/blockSize; len(d.blocks) > most {
		t.Fatalf("%d blocks for %d entries", len(d.blocks), n)
	}
}

func TestDirectory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDirectory()
		var model []entry // in the order of cookies
		next := 0
		adds := rapid.IntRange(1, 10).Draw(t, "adds")
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				for range rapid.IntRange(1, 40*adds).Draw(t, "n") {
					name := fmt.Sprint(next)
					next++
					d.add(name, nil)
					model = append(model, *d.names[name])
				}
			},
			"remove": func(t *rapid.T) {
				for range rapid.IntRange(1, 200).Draw(t, "n") {
					if len(model) == 0 {
						return
					}
					i := rapid.IntRange(0, len(model)-1).Draw(t, "i")
					d.remove(d.names[model[i].name])
					model = slices.Delete(model, i, i+1)
				}
			},
			"removeRun": func(t *rapid.T) {
				if len(model) == 0 {
					return
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "from")
				k := rapid.IntRange(i, len(model)).Draw(t, "to")
				for _, e := range model[i:k] {
					d.remove(d.names[e.name])
				}
				model = slices.Delete(model, i, k)
			},
			"": func(t *rapid.T) {
				d.check(t)
				after := vfs.Cookie(rapid.Uint64Range(0, uint64(d.last)+2).Draw(t, "after"))
				list := make([]entry, rapid.IntRange(0, 300).Draw(t, "room"))
				n := d.copyFrom(after, list)
				i, _ := slices.BinarySearchFunc(model, after+1, func(e entry, c vfs.Cookie) int { return int(e.cookie) - int(c) })
				if want := model[i:min(i+len(list), len(model))]; !slices.Equal(list[:n], want) {
					t.Fatalf("%d entries after %d, want %d, or others", n, after, len(want))
				}
			},
		})
	})
}
