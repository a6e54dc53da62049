package iofs

import (
	"testing"

	"pgregory.net/rapid"
)

// What is in the cache is what was put there last, within the limit, and each
// value is dropped once.
func TestCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(2, 20).Draw(t, "limit")
		last := map[int]int{}
		alive := map[int]bool{}
		weights := map[int]int{}
		c := cache[int, int]{limit: limit, dropped: func(v int) {
			if !alive[v] {
				t.Fatalf("%d was dropped and was not there", v)
			}
			delete(alive, v)
		}}
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, w := rapid.IntRange(0, 20).Draw(t, "k"), rapid.IntRange(1, limit/2).Draw(t, "w")
				next++
				last[k], alive[next], weights[next] = next, true, w
				c.put(k, next, w)
			},
			"get": func(t *rapid.T) {
				k := rapid.IntRange(0, 20).Draw(t, "k")
				if v, ok := c.get(k); ok && (v != last[k] || !alive[v]) {
					t.Fatalf("%d is %d, want %d", k, v, last[k])
				}
			},
			"remove": func(t *rapid.T) {
				k := rapid.IntRange(0, 20).Draw(t, "k")
				c.remove(k)
				if _, ok := c.get(k); ok {
					t.Fatal("it is there after it was removed")
				}
			},
			"clear": func(t *rapid.T) {
				c.clear()
				if len(alive) != 0 {
					t.Fatalf("%d values were not dropped", len(alive))
				}
			},
			"": func(t *rapid.T) {
				sum := 0
				for v := range alive {
					sum += weights[v]
				}
				if sum > limit {
					t.Fatalf("weight %d, limit %d", sum, limit)
				}
			},
		})
	})
}
