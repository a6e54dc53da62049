package xprt

import (
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"eddy.example/bufpool"
)

// lingerTime is how long a socket stays open after its end: for the peer to take what has been
// sent, or for notifications about zero-copy sends that a device is still busy with.
const lingerTime = time.Second

// sock is a TCP or Unix socket that is the worker's own: it reads and writes
// without blocking when epoll says so.
type sock struct {
	c    *Conn
	fd   int // -1 when closed
	tcp  bool
	slot int32 // in poller.slots

	readable bool // since the last edge nothing says otherwise
	hungUp   bool // the peer has sent all
	blocked  bool // the kernel takes nothing more for now
	zero     zeroCopy

	// At the gate.
	gated bool

	finishing bool      // nothing more will be sent
	since     time.Time // of finish or abort
	unacked   int       // bytes at the last tick
}

// adopt takes the socket of a connection over, and closes nc. It returns nil if it's not
// one that a worker can have.
func adopt(c *Conn, nc net.Conn) (link, error) {
	switch nc.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return nil, nil
	}
	fd, err := dup(nc.(syscall.Conn))
	if err != nil {
		return nil, fmt.Errorf("taking over a connection: %w", err)
	}
	c.describe(nc)
	nc.Close()
	s := &sock{c: c, fd: fd}
	c.kernel = true
	if _, s.tcp = nc.(*net.TCPConn); s.tcp {
		cfg := &c.w.t.cfg
		// Options that fail are those of a connection that is gone already.
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(cfg.SendTimeout.Milliseconds()))
		s.enableZeroCopy(cfg.ZeroCopy)
	}
	return s, nil
}

// dup returns a descriptor of the socket's own.
func dup(sc syscall.Conn) (fd int, err error) {
	rc, err := sc.SyscallConn()
	if err != nil {
		return -1, err
	}
	controlErr := rc.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0)
	})
	if controlErr != nil {
		return -1, controlErr
	}
	return fd, err
}

func (s *sock) open() {
	var err error
	if s.slot, err = s.c.w.poll.watch(s, s.fd); err != nil {
		s.c.fail(fmt.Errorf("watching a connection: %w", err))
	}
}

// event is called with what epoll says has changed.
func (s *sock) event(events uint32) {
	c := s.c
	if events&unix.EPOLLERR != 0 && !s.reap() {
		s.readable = true // reading says what is wrong
	}
	if events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP) != 0 {
		s.readable = true
		s.hungUp = s.hungUp || events&(unix.EPOLLRDHUP|unix.EPOLLHUP) != 0
	}
	switch {
	case c.dead:
		s.checkClosed()
		return
	case s.finishing:
		s.discard()
		return
	case s.readable:
		c.w.schedule(c)
	}
	if events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 && s.blocked {
		s.blocked = false
		c.flush()
		c.sent()
	}
}

func (s *sock) read() bool {
	c, w := s.c, s.c.w
	if !s.readable {
		c.rx.rest()
		return false
	}
	a, b := c.rx.want()
	w.sys.gather()
	w.sys.add(a)
	if len(b) > 0 {
		w.sys.add(b)
	}
	w.counters.sysReceive.Add(1)
	n, errno := w.sys.readv(s.fd)
	switch {
	case errno == unix.EINTR:
	case errno == unix.EAGAIN:
		s.readable = false
	case errno != 0:
		c.fail(errno)
		return false
	case n == 0:
		c.closedByPeer()
	default:
		c.rx.got(n)
		// Less than was asked for is all there was, but the end may be behind it.
		s.readable = n == len(a)+len(b) || s.hungUp
	}
	return true
}

// gate lets a record through when enough of it has arrived.
func (s *sock) gate() bool {
	c, x := s.c, &s.c.rx
	if !x.marks.whole() {
		x.stage()
		return true
	}
	need, avail := x.need(), s.available()
	switch {
	case avail >= need:
	case !s.tcp:
		// It may be all that a Unix socket holds, which it does not say.
		x.stage()
		return true
	case s.hungUp:
		c.closedByPeer()
		c.drain()
		return false
	case s.gated && s.readable:
		// Woken below the mark: the kernel has no space for more.
	default:
		if !s.gated {
			s.lowWater(need)
		}
		s.gated, s.readable = true, false
		return false
	}
	if s.gated {
		s.lowWater(1)
	}
	s.gated, s.readable = false, true
	x.begin()
	return true
}

// available is how many bytes can be read.
func (s *sock) available() int {
	s.c.w.counters.sysAvailable.Add(1)
	n, _ := unix.IoctlGetInt(s.fd, unix.SIOCINQ)
	return n
}

// lowWater says from how many bytes on the socket is readable. TCP makes it
// readable before if its window is about to close.
func (s *sock) lowWater(n int) {
	s.c.w.counters.sysLowWater.Add(1)
	unix.SetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, n)
}

func (s *sock) transmit() {
	c := s.c
	for !s.blocked && !c.dead && !c.tx.empty() {
		if c.tx.pieces()[0].file != nil {
			s.sendFile()
		} else {
			s.sendMemory()
		}
	}
}

// sendMemory sends what memory is at the front of the queue.
func (s *sock) sendMemory() {
	c, w := s.c, s.c.w
	flags := unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
	_, zero := s.gatherZero()
	if zero {
		flags |= unix.MSG_ZEROCOPY
	} else if s.gather() {
		flags |= unix.MSG_MORE
	}
	w.counters.sysSend.Add(1)
	n, errno := w.sys.sendmsg(s.fd, flags)
	if zero && errno == unix.ENOBUFS {
		zero = false
		w.counters.noBuffers.Add(1)
		s.gather()
		w.counters.sysSend.Add(1)
		n, errno = w.sys.sendmsg(s.fd, flags&^unix.MSG_ZEROCOPY)
	}
	if !s.took(errno) {
		return
	}
	if zero {
		w.counters.sendZero.Add(1)
		s.zeroSent(n)
	} else {
		w.counters.sendCopy.Add(1)
	}
	w.counters.sent.Add(int64(n))
	c.tx.advance(n)
}

// gather collects the front of the queue for a copying send, and reports
// whether a file comes next. A payload that zero copy may be worth is left to a
// send of its own.
func (s *sock) gather() (more bool) {
	sys := &s.c.w.sys
	sys.gather()
	for i := range s.c.tx.pieces() {
		p := &s.c.tx.pieces()[i]
		if p.file != nil {
			return true
		}
		if sys.n == maxIovecs || sys.n > 0 && s.zero.on && p.large && p.run != nil {
			break
		}
		sys.add(p.mem)
	}
	return false
}

// took reports whether the kernel has taken something.
func (s *sock) took(errno unix.Errno) bool {
	switch errno {
	case 0:
		return true
	case unix.EAGAIN:
		s.blocked = true
	case unix.EINTR:
	default:
		s.c.fail(errno)
	}
	return false
}

// sendFile sends from the file at the front of the queue.
func (s *sock) sendFile() {
	c, w := s.c, s.c.w
	p := &c.tx.pieces()[0]
	off := p.off
	w.counters.sysSendFile.Add(1)
	n, err := unix.Sendfile(s.fd, int(p.file.Fd()), &off, p.left)
	switch errno, _ := err.(unix.Errno); {
	case errno == unix.EINVAL || errno == unix.EOPNOTSUPP || errno == unix.ENOSYS:
		s.readFile(p) // not a file that the kernel can send from
	case !s.took(errno):
	case n == 0:
		c.fail(errFileTooShort)
	default:
		w.counters.file.Add(1)
		w.counters.sent.Add(int64(n))
		c.tx.advance(n)
	}
}

// readFile puts memory with the next bytes of the file in front of it, or in its place.
func (s *sock) readFile(p *piece) {
	c := s.c
	n := min(p.left, bufpool.MaxPayload)
	run := c.w.pool.GetScratch(n)
	if k, _ := p.file.ReadAt(run.Bytes()[:n], p.off); k < n {
		c.w.pool.Put(run)
		c.fail(errFileTooShort)
		return
	}
	if p.left == n {
		p.file, p.left = nil, 0
		p.mem, p.run, p.put = run.Bytes()[:n], run, true
		return
	}
	p.off += int64(n)
	p.left -= n
	c.tx.pushFront(piece{mem: run.Bytes()[:n], run: run, put: true, large: true})
}

// finish says to the peer that nothing more comes, and gives it time to close.
func (s *sock) finish() {
	s.finishing, s.since = true, s.c.w.now
	if !s.zero.out() && s.unsent() == 0 && s.available() == 0 {
		s.c.fail(nil) // the peer has all, and nothing of it is unheard
		return
	}
	unix.Shutdown(s.fd, unix.SHUT_WR)
	s.readable = true
	s.discard()
}

// unsent is how many bytes the peer has not acknowledged.
func (s *sock) unsent() int {
	n, _ := unix.IoctlGetInt(s.fd, unix.SIOCOUTQ)
	return n
}

// discard reads what the peer sends although nobody listens, so that the end
// is no reset.
func (s *sock) discard() {
	w := s.c.w
	b := w.store.get(headSize)
	defer w.store.put(b)
	for i := 0; s.readable && !s.c.eof && i < 64; i++ {
		n, err := unix.Read(s.fd, b.mem)
		switch {
		case n > 0 || err == unix.EINTR:
		case err == unix.EAGAIN:
			s.readable = false
		default:
			s.c.closedByPeer()
		}
	}
	if s.c.eof && !s.zero.out() {
		s.c.fail(nil)
	}
}

func (s *sock) abort() {
	c := s.c
	c.gone()
	s.since = c.w.now
	switch {
	case s.zero.out():
		disconnect(s.fd)
		s.reap()
	case !s.finishing:
		// What the kernel still has to send is of no use to anybody.
		unix.SetsockoptLinger(s.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	s.checkClosed()
}

// checkClosed closes the socket of a dead connection when nothing is out any more.
func (s *sock) checkClosed() {
	if s.fd >= 0 && !s.zero.out() {
		unix.Close(s.fd)
		s.fd = -1
		s.c.w.poll.unwatch(s.slot)
		s.c.touch()
	}
}

func (s *sock) runs(f func(*bufpool.Run)) { s.zero.runs(f) }

// roundTrip is TCP's smoothed round-trip time.
func (s *sock) roundTrip() time.Duration {
	if !s.tcp || s.fd < 0 {
		return 0
	}
	info, err := unix.GetsockoptTCPInfo(s.fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0
	}
	return time.Duration(info.Rtt) * time.Microsecond
}

func (s *sock) tick() (owed, moved bool) {
	c, now := s.c, s.c.w.now
	owed, moved = s.zero.out(), s.zero.moved
	s.zero.moved = false
	switch {
	case c.dead:
		// It may have died in this very round, and is aborted at the end of it.
		if c.buried && s.fd >= 0 && now.Sub(s.since) >= lingerTime {
			s.giveUp()
		}
	case s.finishing:
		n := s.unsent()
		owed, moved = owed || n > 0, moved || n != s.unacked
		s.unacked = n
		if !owed && now.Sub(s.since) >= lingerTime {
			c.fail(nil)
		}
	}
	return owed, moved
}

// giveUp leaves the runs alone that the kernel has not said to be free.
func (s *sock) giveUp() {
	w := s.c.w
	s.reap()
	if s.zero.out() {
		w.counters.givenUp.Add(1)
		if bufpool.Gated {
			s.zero.runs(w.pool.GiveUp)
		}
		s.zero.sends = nil
	}
	s.checkClosed()
}

func (s *sock) closed() bool { return s.fd < 0 }
