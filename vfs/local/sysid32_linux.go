//go:build linux && (386 || arm)

package local

import "golang.org/x/sys/unix"

// The calls that know ids of 32 bits.
const (
	sysSetFSUID  = unix.SYS_SETFSUID32
	sysSetFSGID  = unix.SYS_SETFSGID32
	sysSetGroups = unix.SYS_SETGROUPS32
)
