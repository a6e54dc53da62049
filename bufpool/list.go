package bufpool

// list is a doubly linked list through the runs themselves, so that moving
// one from list to list allocates nothing. A run is in at most one.
type list struct {
	front, back *Run
	n           int
}

func (l *list) pushFront(r *Run) {
	r.prev, r.next = nil, l.front
	if l.front != nil {
		l.front.prev = r
	} else {
		l.back = r
	}
	l.front = r
	l.n++
}

func (l *list) pushBack(r *Run) {
	r.prev, r.next = l.back, nil
	if l.back != nil {
		l.back.next = r
	} else {
		l.front = r
	}
	l.back = r
	l.n++
}

func (l *list) remove(r *Run) {
	if r.prev != nil {
		r.prev.next = r.next
	} else {
		l.front = r.next
	}
	if r.next != nil {
		r.next.prev = r.prev
	} else {
		l.back = r.prev
	}
	r.prev, r.next = nil, nil
	l.n--
}

// popFront and popBack return nil if the list is empty.
func (l *list) popFront() *Run {
	r := l.front
	if r != nil {
		l.remove(r)
	}
	return r
}

func (l *list) popBack() *Run {
	r := l.back
	if r != nil {
		l.remove(r)
	}
	return r
}
