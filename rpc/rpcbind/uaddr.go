package rpcbind

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
)

// ErrAddress is the error of text or bytes that are no address.
var ErrAddress = errors.New("rpcbind: no such address")

// AppendUaddr appends a as a universal address (RFC 5665 §5.2.3): the IP
// address and the two bytes of the port in decimal, all joined by dots. A zone
// is left out: it means nothing to others.
func AppendUaddr(b []byte, a netip.AddrPort) []byte {
	b = a.Addr().WithZone("").AppendTo(b)
	b = append(b, '.')
	b = strconv.AppendUint(b, uint64(a.Port()>>8), 10)
	b = append(b, '.')
	return strconv.AppendUint(b, uint64(a.Port()&0xff), 10)
}

// ParseUaddr is the reverse of [AppendUaddr]. The error is [ErrAddress].
func ParseUaddr(s string) (netip.AddrPort, error) {
	ip, low, ok := cutLast(s)
	ip, high, ok2 := cutLast(ip)
	if !ok || !ok2 {
		return netip.AddrPort{}, ErrAddress
	}
	a, err := netip.ParseAddr(ip)
	if err != nil || a.Zone() != "" {
		return netip.AddrPort{}, ErrAddress
	}
	return netip.AddrPortFrom(a, uint16(high)<<8|uint16(low)), nil
}

// cutLast takes a byte in decimal, and the dot before it, from the end of s.
func cutLast(s string) (rest string, b byte, ok bool) {
	i := strings.LastIndexByte(s, '.')
	n, err := strconv.ParseUint(s[i+1:], 10, 8)
	if i < 0 || err != nil {
		return "", 0, false
	}
	return s[:i], byte(n), true
}

// Sizes of a sockaddr_in and a sockaddr_in6.
const (
	taddr4 = 16
	taddr6 = 28
)

// appendTaddr appends a as a sockaddr: the family in the machine's byte order,
// then what it has in that of the network. What a caller on another system
// makes of it is its own affair (RFC 1833 §2.2.1).
func appendTaddr(b []byte, a netip.AddrPort) []byte {
	ip := a.Addr()
	if ip.Is4() {
		b = binary.NativeEndian.AppendUint16(b, syscall.AF_INET)
		b = binary.BigEndian.AppendUint16(b, a.Port())
		b = append(b, ip.AsSlice()...)
		return append(b, make([]byte, taddr4-8)...)
	}
	b = binary.NativeEndian.AppendUint16(b, syscall.AF_INET6)
	b = binary.BigEndian.AppendUint16(b, a.Port())
	b = append(b, 0, 0, 0, 0) // flow information
	b = append(b, ip.AsSlice()...)
	return append(b, 0, 0, 0, 0) // scope
}

// parseTaddr is the reverse of appendTaddr.
func parseTaddr(b []byte) (netip.AddrPort, error) {
	if len(b) < taddr4 {
		return netip.AddrPort{}, ErrAddress
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b); {
	case family == syscall.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:])), port), nil
	case family == syscall.AF_INET6 && len(b) >= taddr6:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:])), port), nil
	}
	return netip.AddrPort{}, ErrAddress
}
