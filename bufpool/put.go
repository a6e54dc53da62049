package bufpool

// MayGate reports whether a lent run may be sent in a way that keeps it in
// flight. It may if it is neither scratch nor detached, and if beside all that
// is in flight there will be room under the cap for one more run of its class:
// then one can always circle by copying sends. A yes holds until Put.
func (p *Pool) MayGate(r *Run) bool {
	p.check.owner()
	r.mustBeLent()
	if r.reserved {
		return true
	}
	_, _, flight := p.kept.load()
	if r.isOutside() || int(flight)+p.reserved+2*r.Pages() > p.cap {
		return false
	}
	r.reserved = true
	p.reserved += r.Pages()
	return true
}

// Put drops the owner's reference to a lent run. It is free if that was the
// last one, and in flight until the last one is released otherwise.
func (p *Pool) Put(r *Run) {
	p.check.owner()
	r.mustBeLent()
	p.unreserve(r)
	switch {
	case r.isOutside():
		r.state = inFlight
		r.Release()
	case r.refs.Load() == 1 || !Gated:
		// If nobody else has a reference, nobody can add one.
		r.refs.Add(-1)
		r.check.poison(r.mem)
		p.kept.move(lentPages, freePages, r.Pages())
		p.shelve(r)
		p.roomMade()
	default:
		r.state = inFlight
		r.since = p.now
		r.class.flight.pushBack(r)
		p.kept.move(lentPages, flightPages, r.Pages())
		r.Release()
	}
}

// Detach takes a run, lent or in flight, out of the account of the pool: it is
// given back to the system at its last reference, and until then does not
// count against the cap. If it is lent it still has to be put. If its last
// reference has just been released, or if it was given up, it is left as it is.
func (p *Pool) Detach(r *Run) {
	p.check.owner()
	if r.state == givenUp || r.isOutside() {
		return
	}
	r.mustBeOut()
	// Counted first: once the flag is set the last Release may take it off.
	p.detached.Add(int64(r.Pages()))
	if r.refs.Add(outside)&countMask == 0 {
		r.refs.Add(-outside)
		p.detached.Add(-int64(r.Pages()))
		return
	}
	p.forget(r)
}

// GiveUp takes a run, lent, in flight or detached, out of use for good, because
// a reference to it can never be known to be gone. Its memory goes back to the
// system but for the pages that the kernel still reads; the addresses stay
// valid and, on Linux, read as zeros. A lent run is not put any more; other
// references may be released, to no effect. If the last one has just been
// released the run is left as it is.
func (p *Pool) GiveUp(r *Run) {
	p.check.owner()
	if r.state == givenUp {
		return
	}
	r.mustBeOut()
	refs := r.refs.Add(gone)
	if refs&countMask == 0 {
		r.refs.Add(-gone)
		return
	}
	if refs&outside != 0 {
		p.detached.Add(-int64(r.Pages()))
	} else {
		p.forget(r)
	}
	r.state = givenUp
	p.gaveUp.Add(uint64(r.Pages()))
	giveUp(r.mem)
}

// forget strikes a run, lent or in flight, from what counts against the cap.
func (p *Pool) forget(r *Run) {
	p.unreserve(r)
	r.class.busy--
	if r.state == lent {
		p.kept.sub(lentPages, r.Pages())
	} else {
		r.class.flight.remove(r)
		p.kept.sub(flightPages, r.Pages())
	}
	p.roomMade()
}

func (p *Pool) unreserve(r *Run) {
	if r.reserved {
		r.reserved = false
		p.reserved -= r.Pages()
	}
}

// roomMade calls Wake if Get has returned nil since the last time.
func (p *Pool) roomMade() {
	if p.starved.Load() && p.starved.CompareAndSwap(true, false) && p.wake != nil {
		p.wake()
	}
}

func (r *Run) isOutside() bool { return r.refs.Load()&outside != 0 }

func (r *Run) mustBeLent() {
	if r.state != lent {
		panic("bufpool: the owner has no reference to this run")
	}
}

func (r *Run) mustBeOut() {
	if r.state != lent && r.state != inFlight {
		panic("bufpool: nobody has a reference to this run")
	}
}
