//go:build unix

package rpc

import (
	"net"
	"syscall"
)

// directWriter writes to a socket what it takes at once. It is used by one
// goroutine at a time.
type directWriter struct {
	conn syscall.RawConn
	try  func(fd uintptr) bool // d.tryWrite, bound once
	buf  []byte
	n    int
	err  error
}

// newDirectWriter returns nil for what is not a socket itself: a connection
// around one may have its own idea of what to write.
func newDirectWriter(conn net.Conn) *directWriter {
	var sc syscall.Conn
	switch conn := conn.(type) {
	case *net.TCPConn:
		sc = conn
	case *net.UnixConn:
		sc = conn
	default:
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	d := &directWriter{conn: raw}
	d.try = d.tryWrite
	return d
}

// write returns how much of b was taken, which may be nothing.
func (d *directWriter) write(b []byte) (n int, err error) {
	d.buf = b
	if err := d.conn.Write(d.try); err != nil {
		return 0, err
	}
	d.buf = nil
	return d.n, d.err
}

// tryWrite returns true in any case: to return false would be to wait.
func (d *directWriter) tryWrite(fd uintptr) bool {
	for {
		d.n, d.err = syscall.Write(int(fd), d.buf)
		d.n = max(d.n, 0)
		switch d.err {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			d.err = nil
		}
		return true
	}
}
