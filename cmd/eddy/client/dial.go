package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
)

// Ports that only root may use, of which servers ask for one: those between
// these, which few services have for their own.
const (
	lowestReserved  = 665
	highestReserved = 1023
)

// dial connects by TCP, for root from a reserved port.
func dial(ctx context.Context, addr string) (net.Conn, error) {
	if os.Geteuid() == 0 {
		const n = highestReserved - lowestReserved + 1
		first := rand.IntN(n)
		for i := range n {
			d := net.Dialer{LocalAddr: &net.TCPAddr{Port: lowestReserved + (first+i)%n}}
			conn, err := d.DialContext(ctx, "tcp", addr)
			switch {
			case errors.Is(err, syscall.EADDRINUSE), errors.Is(err, syscall.EADDRNOTAVAIL):
				continue // taken
			case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
				// Root in a container may have no right to any.
			default:
				return conn, err
			}
			break
		}
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}
