package xprt

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// Listen is net.Listen without Multipath TCP, which cannot send without copying.
func Listen(ctx context.Context, network, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	lc.SetMultipathTCP(false)
	return lc.Listen(ctx, network, addr)
}

// isTransient reports whether accepting may succeed later.
func isTransient(err error) bool {
	for _, e := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
		syscall.ECONNABORTED, syscall.ECONNRESET, syscall.EPROTO, syscall.EINTR,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
