package memfs

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A model of 64 KiB that lies anywhere in the file.
func TestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const room = 64 << 10
		base := rapid.SampledFrom([]uint64{0, 4096, 4096*chunkPages - 8192, 1 << 40, math.MaxInt64 - room}).Draw(t, "base")
		s := &space{limit: math.MaxInt64}
		var d pages
		model := make([]byte, room)
		draw := func(t *rapid.T, name string) int { return rapid.IntRange(0, room).Draw(t, name) }
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				off := draw(t, "off")
				p := bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, draw(t, "n")%(room-off+1))
				if n := d.write(p, base+uint64(off), s); n != len(p) {
					t.Fatalf("wrote %d of %d", n, len(p))
				}
				copy(model[off:], p)
			},
			"truncate": func(t *rapid.T) {
				size := draw(t, "size")
				d.truncate(base+uint64(size), s)
				clear(model[size:])
			},
			"": func(t *rapid.T) {
				off := draw(t, "off")
				p := bytes.Repeat([]byte{0xa5}, draw(t, "n")%(room-off+1))
				if d.read(p, base+uint64(off)); !bytes.Equal(p, model[off:off+len(p)]) {
					t.Fatalf("other bytes at %d", off)
				}
				var held int64
				for _, c := range d.chunks {
					for _, pg := range c {
						if pg != nil {
							held++
						}
					}
				}
				if held != d.held || s.used.Load() != held*pageSize {
					t.Fatalf("%d pages, %d counted, %d bytes taken", held, d.held, s.used.Load())
				}
			},
		})
		if d.truncate(0, s); d.chunks != nil || s.used.Load() != 0 {
			t.Fatalf("after all was cut: %d chunks, %d bytes taken", len(d.chunks), s.used.Load())
		}
	})
}
