package xprt

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel who is at the other end.
func peerOf(u *net.UnixConn) (p Peer, ok bool) {
	rc, err := u.SyscallConn()
	if err != nil {
		return Peer{}, false
	}
	rc.Control(func(fd uintptr) { p, ok = peerOfFD(int(fd)) })
	return p, ok
}

func peerOfFD(fd int) (Peer, bool) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return Peer{}, false
	}
	return Peer{UID: cred.Uid, GID: cred.Gid, PID: int(cred.Pid)}, true
}
