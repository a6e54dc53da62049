//go:build linux && (386 || arm || mips || mipsle)

package local

import "golang.org/x/sys/unix"

// The call that knows times of 64 bits, since Linux 5.1.
const sysUtimens = unix.SYS_UTIMENSAT_TIME64
