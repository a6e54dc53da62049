package bufpool

import "testing"

func TestClassOf(t *testing.T) {
	for _, c := range []struct{ n, size int }{
		{1, 4096}, {4095, 4096}, {4096, 4096}, {4097, 8192}, {8192, 8192},
		{8193, 16384}, {47008, 65536}, {65536, 65536}, {65537, 131072},
		{MaxPayload/2 + 1, MaxPayload}, {MaxPayload, MaxPayload},
	} {
		if got := layoutOf(classOf(c.n), PageSize).size; got != c.size {
			t.Errorf("%d bytes: class of %d, want %d", c.n, got, c.size)
		}
	}
	for _, n := range []int{-1, 0, MaxPayload + 1} {
		mustPanic(t, "size out of range", func() { classOf(n) })
	}
}

func TestLayout(t *testing.T) {
	const k = 1 << 10
	for _, c := range []struct {
		class, systemPage int
		want              layout
		pages             int
	}{
		{0, 4 * k, layout{size: 4 * k, start: 4 * k, whole: 12 * k}, 3},
		{4, 4 * k, layout{size: 64 * k, start: 4 * k, whole: 72 * k}, 18},
		{8, 4 * k, layout{size: 1024 * k, start: 4 * k, whole: 1032 * k}, 258},
		{0, 16 * k, layout{size: 4 * k, start: 16 * k, whole: 48 * k}, 12},
		{3, 16 * k, layout{size: 32 * k, start: 16 * k, whole: 64 * k}, 16},
		{0, 64 * k, layout{size: 4 * k, start: 64 * k, whole: 192 * k}, 48},
		{8, 64 * k, layout{size: 1024 * k, start: 64 * k, whole: 1152 * k}, 288},
	} {
		got := layoutOf(c.class, c.systemPage)
		if got != c.want || got.pages() != c.pages {
			t.Errorf("class %d on pages of %d: %+v of %d pages, want %+v of %d",
				c.class, c.systemPage, got, got.pages(), c.want, c.pages)
		}
	}
}
