package xprt

import (
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The wrappers of x/sys allocate for messages of several buffers, and know no way to
// receive an address without. These here use memory of the worker, to which the
// kernel is given pointers: hence unsafe.

// maxIovecs is how many buffers one system call takes.
const maxIovecs = 64

// syscalls is the memory for a worker's system calls.
type syscalls struct {
	iov     [maxIovecs]unix.Iovec
	n       int // of iov in use
	hdr     unix.Msghdr
	control [128]byte
	name    unix.RawSockaddrInet6 // large enough for both

	fail func(flags int) unix.Errno // of sendmsg, in tests
}

// gather begins a list of buffers.
func (k *syscalls) gather() { k.n = 0 }

// add appends a buffer, which must not be empty.
func (k *syscalls) add(b []byte) {
	k.iov[k.n].Base = unsafe.SliceData(b)
	k.iov[k.n].SetLen(len(b))
	k.n++
}

// forget lets the garbage collector have the buffers.
func (k *syscalls) forget() { clear(k.iov[:k.n]) }

// readv reads into the buffers.
func (k *syscalls) readv(fd int) (int, unix.Errno) {
	n, _, errno := unix.Syscall(unix.SYS_READV, uintptr(fd), uintptr(unsafe.Pointer(&k.iov[0])), uintptr(k.n))
	k.forget()
	if errno == 0 {
		orderReceive(fd)
	}
	return int(n), errno
}

// sendmsg sends the buffers on a connected socket.
func (k *syscalls) sendmsg(fd, flags int) (int, unix.Errno) {
	if k.fail != nil {
		if errno := k.fail(flags); errno != 0 {
			return 0, errno
		}
	}
	k.hdr = unix.Msghdr{Iov: &k.iov[0]}
	k.hdr.SetIovlen(k.n)
	orderSend()
	n, errno := k.message(unix.SYS_SENDMSG, fd, flags)
	k.forget()
	return n, errno
}

// errorQueue reads a notification about zero-copy sends lo to hi.
func (k *syscalls) errorQueue(fd int) (lo, hi uint32, copied, ok bool, errno unix.Errno) {
	k.hdr = unix.Msghdr{Control: &k.control[0]}
	k.hdr.SetControllen(len(k.control))
	if _, errno = k.message(unix.SYS_RECVMSG, fd, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT); errno != 0 {
		return 0, 0, false, false, errno
	}
	// An emulated kernel may ignore the flag and report the end of the data, again and again.
	if k.hdr.Flags&unix.MSG_ERRQUEUE == 0 {
		return 0, 0, false, false, unix.EAGAIN
	}
	for b := k.controls(); ; {
		level, kind, data, rest := nextControl(b)
		if data == nil {
			return 0, 0, false, false, 0
		}
		if isRecvErr(level, kind) && len(data) >= int(unsafe.Sizeof(unix.SockExtendedErr{})) {
			e := (*unix.SockExtendedErr)(unsafe.Pointer(&data[0]))
			if e.Errno == 0 && e.Origin == unix.SO_EE_ORIGIN_ZEROCOPY {
				return e.Info, e.Data, e.Code&unix.SO_EE_CODE_ZEROCOPY_COPIED != 0, true, 0
			}
		}
		b = rest
	}
}

func isRecvErr(level, kind int32) bool {
	return level == unix.SOL_IP && kind == unix.IP_RECVERR || level == unix.SOL_IPV6 && kind == unix.IPV6_RECVERR
}

// controls is what the last message has brought besides its data.
func (k *syscalls) controls() []byte { return k.control[:k.hdr.Controllen] }

// nextControl returns the first control message in b and what is behind it.
func nextControl(b []byte) (level, kind int32, data, rest []byte) {
	if len(b) < unix.CmsgLen(0) {
		return 0, 0, nil, nil
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	n := int(h.Len)
	if n < unix.CmsgLen(0) || n > len(b) {
		return 0, 0, nil, nil
	}
	data = b[unix.CmsgLen(0):n:n]
	rest = b[min(unix.CmsgSpace(n-unix.CmsgLen(0)), len(b)):]
	return h.Level, h.Type, data, rest
}

// recvfrom receives a datagram into b, with its peer's address and, in
// controls, the address it was sent to.
func (k *syscalls) recvfrom(fd int, b []byte) (n int, from netip.AddrPort, errno unix.Errno) {
	k.gather()
	k.add(b)
	k.hdr = unix.Msghdr{
		Name: (*byte)(unsafe.Pointer(&k.name)), Namelen: uint32(unsafe.Sizeof(k.name)),
		Iov: &k.iov[0], Control: &k.control[0],
	}
	k.hdr.SetIovlen(1)
	k.hdr.SetControllen(len(k.control))
	n, errno = k.message(unix.SYS_RECVMSG, fd, unix.MSG_DONTWAIT)
	k.forget()
	if errno != 0 {
		return 0, netip.AddrPort{}, errno
	}
	return n, k.sockaddr(), 0
}

// sockaddr is the address in name.
func (k *syscalls) sockaddr() netip.AddrPort {
	switch k.name.Family {
	case unix.AF_INET:
		a := (*unix.RawSockaddrInet4)(unsafe.Pointer(&k.name))
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), ntohs(a.Port))
	case unix.AF_INET6:
		return netip.AddrPortFrom(netip.AddrFrom16(k.name.Addr).Unmap(), ntohs(k.name.Port))
	}
	return netip.AddrPort{}
}

// sendto sends the buffers as a datagram to where one came from: name and control
// are as they were received.
func (k *syscalls) sendto(fd int, name *unix.RawSockaddrInet6, control []byte) unix.Errno {
	k.name = *name
	k.hdr = unix.Msghdr{
		Name: (*byte)(unsafe.Pointer(&k.name)), Namelen: uint32(unsafe.Sizeof(k.name)), Iov: &k.iov[0],
	}
	if name.Family == unix.AF_INET {
		k.hdr.Namelen = uint32(unsafe.Sizeof(unix.RawSockaddrInet4{}))
	}
	k.hdr.SetIovlen(k.n)
	if n := copy(k.control[:], control); n > 0 {
		k.hdr.Control = &k.control[0]
		k.hdr.SetControllen(n)
	}
	_, errno := k.message(unix.SYS_SENDMSG, fd, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	k.forget()
	return errno
}

// message is sendmsg and recvmsg.
func (k *syscalls) message(trap uintptr, fd, flags int) (int, unix.Errno) {
	n, _, errno := unix.Syscall(trap, uintptr(fd), uintptr(unsafe.Pointer(&k.hdr)), uintptr(flags))
	return int(n), errno
}

// disconnect drops a TCP connection and all that it was about to send, while
// its socket stays.
func disconnect(fd int) {
	sa := unix.RawSockaddr{Family: unix.AF_UNSPEC}
	unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&sa)), unsafe.Sizeof(sa))
}

// ntohs returns a port that the kernel has written.
func ntohs(port uint16) uint16 {
	b := (*[2]byte)(unsafe.Pointer(&port))
	return uint16(b[0])<<8 | uint16(b[1])
}
