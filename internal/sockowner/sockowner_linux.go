package sockowner

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Sizes and offsets of linux/netlink.h and linux/inet_diag.h: a request is
// nlmsghdr and inet_diag_req_v2, an answer nlmsghdr and inet_diag_msg.
const (
	sockDiagByFamily = 20
	headerLen        = 16
	requestLen       = headerLen + 56
	sockIDOffset     = headerLen + 8
	answerUIDOffset  = headerLen + 4 + 48 + 12
	answerLen        = answerUIDOffset + 8
)

// Of returns the user that owns the socket at peer, connected to local.
// network is "tcp" or "udp"; both addresses are of this machine. The question
// is asked in the network namespace of the calling thread.
func Of(network string, peer, local netip.AddrPort) (uid uint32, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	defer unix.Close(fd)

	var req [requestLen]byte
	encode(&req, network, peer, local)
	if err := unix.Sendto(fd, req[:], 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	var answer [512]byte
	n, _, err := unix.Recvfrom(fd, answer[:], 0)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if n < answerLen || binary.NativeEndian.Uint16(answer[4:]) != sockDiagByFamily {
		return 0, ErrUnknown
	}
	return binary.NativeEndian.Uint32(answer[answerUIDOffset:]), nil
}

func encode(req *[requestLen]byte, network string, peer, local netip.AddrPort) {
	ne := binary.NativeEndian
	ne.PutUint32(req[0:], requestLen)
	ne.PutUint16(req[4:], sockDiagByFamily)
	ne.PutUint16(req[6:], unix.NLM_F_REQUEST)

	src, dst := peer, local
	proto := byte(unix.IPPROTO_TCP)
	if network == "udp" {
		// The exact look-up of UDP sockets takes the pair the other way round.
		proto, src, dst = unix.IPPROTO_UDP, local, peer
	}
	family := byte(unix.AF_INET6)
	if peer.Addr().Unmap().Is4() {
		family = unix.AF_INET
	}
	req[headerLen], req[headerLen+1] = family, proto
	ne.PutUint32(req[headerLen+4:], 0xffffffff) // any state

	id := req[sockIDOffset:]
	binary.BigEndian.PutUint16(id[0:], src.Port())
	binary.BigEndian.PutUint16(id[2:], dst.Port())
	putAddr(id[4:20], src.Addr())
	putAddr(id[20:36], dst.Addr())
	ne.PutUint64(id[40:], ^uint64(0)) // no cookie
}

func putAddr(b []byte, a netip.Addr) {
	if a = a.Unmap(); a.Is4() {
		v4 := a.As4()
		copy(b, v4[:])
		return
	}
	v6 := a.As16()
	copy(b, v6[:])
}
