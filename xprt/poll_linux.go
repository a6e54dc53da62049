package xprt

import (
	"encoding/binary"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// poller is where a worker waits: for the sockets that are its own, and for other
// goroutines. Events are edge-triggered and the set of them never changes, so a socket costs
// one epoll_ctl in its life.
type poller struct {
	w      *worker
	epoll  int
	wakeup int // an eventfd
	parked atomic.Bool
	events [128]unix.EpollEvent

	slots     []watcher // by EpollEvent.Fd; 0 is the eventfd
	freeSlots []int32
}

func (p *poller) init(w *worker) (err error) {
	p.w = w
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if p.wakeup, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(p.epoll)
		return err
	}
	p.slots = []watcher{nil}
	return p.add(p.wakeup, 0, unix.EPOLLIN)
}

func (p *poller) add(fd int, slot int32, events uint32) error {
	return unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, fd,
		&unix.EpollEvent{Events: events | unix.EPOLLET, Fd: slot})
}

// watcher is told what epoll says of its socket.
type watcher interface{ event(events uint32) }

// watch gives events on fd to s.
func (p *poller) watch(s watcher, fd int) (slot int32, err error) {
	slot = int32(len(p.slots))
	if n := len(p.freeSlots); n > 0 {
		slot = p.freeSlots[n-1]
		p.freeSlots = p.freeSlots[:n-1]
	} else {
		p.slots = append(p.slots, nil)
	}
	p.slots[slot] = s
	return slot, p.add(fd, slot, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP)
}

// unwatch is called when the socket has been closed, which took it out of the set.
func (p *poller) unwatch(slot int32) {
	p.slots[slot] = nil
	p.freeSlots = append(p.freeSlots, slot)
}

// wait hands events to the sockets. If block is set it returns only when there is
// something to do.
func (p *poller) wait(block bool) {
	timeout := 0
	if block {
		// Parked before looking for the last time, so that a wake that comes too late
		// to be seen writes to the eventfd.
		p.parked.Store(true)
		if !p.w.hasNews() {
			timeout = -1
		}
	}
	n := p.poll(timeout)
	p.parked.Store(false)
	for i := range p.events[:max(n, 0)] {
		e := &p.events[i]
		if s := p.slots[e.Fd]; s != nil {
			s.event(e.Events)
		}
	}
}

func (p *poller) poll(timeout int) int {
	for {
		p.w.counters.sysPoll.Add(1)
		n, err := unix.EpollWait(p.epoll, p.events[:], timeout)
		if err != unix.EINTR {
			return n
		}
	}
}

// wake ends wait. Any goroutine may call it.
func (p *poller) wake() {
	if p.parked.Load() && p.parked.CompareAndSwap(true, false) {
		p.w.counters.sysWake.Add(1)
		// The eventfd is never read: each write is an edge.
		var b [8]byte
		binary.NativeEndian.PutUint64(b[:], 1)
		unix.Write(p.wakeup, b[:])
	}
}

func (p *poller) close() {
	unix.Close(p.epoll)
	unix.Close(p.wakeup)
}
