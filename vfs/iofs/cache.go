package iofs

// cache keeps values up to a limit on the sum of their weights, in two
// generations: a value that was used since the last change of generation
// survives the next. One value alone may be heavier than the limit. The cache
// has no lock.
type cache[K comparable, V any] struct {
	limit      int
	dropped    func(V) // hears of each value that leaves; may be nil
	young, old map[K]weighed[V]
	weight     int // of young
}

type weighed[V any] struct {
	value  V
	weight int
}

func (c *cache[K, V]) get(k K) (v V, ok bool) {
	if w, ok := c.young[k]; ok {
		return w.value, true
	}
	if w, ok := c.old[k]; ok {
		delete(c.old, k)
		c.add(k, w)
		return w.value, true
	}
	return v, false
}

func (c *cache[K, V]) put(k K, v V, weight int) {
	c.remove(k)
	c.add(k, weighed[V]{v, weight})
}

func (c *cache[K, V]) add(k K, w weighed[V]) {
	if c.weight+w.weight > c.limit/2 && len(c.young) > 0 {
		c.dropAll(c.old)
		c.old, c.young, c.weight = c.young, nil, 0
	}
	if c.young == nil {
		c.young = make(map[K]weighed[V])
	}
	c.young[k] = w
	c.weight += w.weight
}

func (c *cache[K, V]) remove(k K) {
	w, ok := c.young[k]
	if ok {
		delete(c.young, k)
		c.weight -= w.weight
	} else if w, ok = c.old[k]; ok {
		delete(c.old, k)
	}
	if ok && c.dropped != nil {
		c.dropped(w.value)
	}
}

func (c *cache[K, V]) clear() {
	c.dropAll(c.young)
	c.dropAll(c.old)
	c.young, c.old, c.weight = nil, nil, 0
}

func (c *cache[K, V]) dropAll(generation map[K]weighed[V]) {
	if c.dropped == nil {
		return
	}
	for _, w := range generation {
		c.dropped(w.value)
	}
}
