package xprt

import (
	"golang.org/x/sys/unix"

	"eddy.example/bufpool"
)

const (
	// zeroCopyMin is from how many bytes on a send is worth a notification.
	zeroCopyMin = 32 << 10

	// maxZeroRuns is how many runs one zero-copy send touches at most.
	maxZeroRuns = 16
)

// zeroCopy keeps account of a socket's MSG_ZEROCOPY sends. The kernel numbers
// them from 0 and tells by the error queue which of them it looks at no longer, in
// ranges and in any order; till then their runs stay referenced.
type zeroCopy struct {
	on     bool // use it
	always bool

	sends []zeroSend // those of which some are out; the first has the number base
	base  uint32
	moved bool // some have ended since the last tick
}

// zeroSend is one send, and the runs that it touches until it has ended.
type zeroSend struct {
	runs [maxZeroRuns]*bufpool.Run
	n    int
	over bool
}

// out reports whether the kernel still looks at runs.
func (z *zeroCopy) out() bool { return len(z.sends) > 0 }

// begin is told of a send, and gives the place for its runs.
func (z *zeroCopy) begin() *zeroSend {
	z.sends = append(z.sends, zeroSend{})
	return &z.sends[len(z.sends)-1]
}

// add keeps a reference to a run that the send touches.
func (s *zeroSend) add(r *bufpool.Run) {
	if s.n > 0 && s.runs[s.n-1] == r {
		return
	}
	r.Retain()
	s.runs[s.n] = r
	s.n++
}

// end is told that the sends lo to hi are over.
func (z *zeroCopy) end(lo, hi uint32) {
	for id := lo; ; id++ {
		if i := id - z.base; i < uint32(len(z.sends)) && !z.sends[i].over {
			s := &z.sends[i]
			for _, r := range s.runs[:s.n] {
				r.Release()
			}
			*s = zeroSend{over: true}
			z.moved = true
		}
		if id == hi {
			break
		}
	}
	n := 0
	for n < len(z.sends) && z.sends[n].over {
		n++
	}
	z.base += uint32(n)
	z.sends = z.sends[:copy(z.sends, z.sends[n:])]
}

// runs calls f once for each run that a send is out for.
func (z *zeroCopy) runs(f func(*bufpool.Run)) {
	seen := make(map[*bufpool.Run]bool)
	for i := range z.sends {
		s := &z.sends[i]
		for _, r := range s.runs[:s.n] {
			if !seen[r] {
				seen[r] = true
				f(r)
			}
		}
	}
}

// enable asks the kernel for zero-copy sends. MPTCP would ignore them silently.
func (s *sock) enableZeroCopy(mode ZeroCopy) {
	r := s.c.remote.Addr()
	local := r.IsLoopback() || r == s.c.local.Addr()
	if mode == ZeroCopyNever || mode == ZeroCopyAuto && local {
		return
	}
	proto, err := unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	if err != nil || proto != unix.IPPROTO_TCP {
		return
	}
	s.zero.on = unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_ZEROCOPY, 1) == nil
	s.zero.always = mode == ZeroCopyAlways
}

// gatherZero collects the front of the queue for a zero-copy send, if it is
// worth one and lies in runs that may stay in flight.
func (s *sock) gatherZero() (total int, ok bool) {
	if !s.zero.on {
		return 0, false
	}
	w := s.c.w
	w.sys.gather()
	runs := 0
	var last *bufpool.Run
	for i := range s.c.tx.pieces() {
		p := &s.c.tx.pieces()[i]
		if p.run == nil || p.file != nil || total >= flushSize || w.sys.n == maxIovecs {
			break
		}
		if p.run != last {
			if runs == maxZeroRuns || !w.pool.MayGate(p.run) {
				break
			}
			last = p.run
			runs++
		}
		w.sys.add(p.mem)
		total += len(p.mem)
	}
	return total, total >= zeroCopyMin || s.zero.always && total > 0
}

// zeroSent keeps the runs of the n bytes that a zero-copy send has taken.
func (s *sock) zeroSent(n int) {
	send := s.zero.begin()
	for i := 0; n > 0; i++ {
		p := &s.c.tx.pieces()[i]
		send.add(p.run)
		n -= len(p.mem)
	}
	s.c.w.owe(0)
}

// reap reads what the error queue says, and reports whether it said anything. A Unix
// socket has none: there the flag is ignored, and data or their end would be read.
func (s *sock) reap() (any bool) {
	if !s.tcp {
		return false
	}
	w := s.c.w
	for {
		w.counters.sysErrorQueue.Add(1)
		lo, hi, copied, ok, errno := w.sys.errorQueue(s.fd)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return any
		}
		any = true
		if !ok {
			continue
		}
		s.zero.end(lo, hi)
		if copied {
			w.counters.zeroCopied.Add(int64(hi - lo + 1))
			if !s.zero.always {
				s.zero.on = false
			}
		}
	}
}
