//go:build darwin || freebsd

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
	rc.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, err = unix.GetsockoptXucred(int(fd), localLevel, unix.LOCAL_PEERCRED); err == nil {
			p, ok = Peer{UID: cred.Uid, GID: cred.Groups[0]}, true
		}
	})
	return p, ok
}

// localLevel is SOL_LOCAL, the level of options of Unix sockets.
const localLevel = 0
