//go:build !linux

package sockowner

import "net/netip"

// Of cannot be answered on this system.
func Of(network string, peer, local netip.AddrPort) (uid uint32, err error) {
	return 0, ErrUnknown
}
