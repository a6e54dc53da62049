package main

import (
	"fmt"
	"net/netip"
	"strings"
)

// banner says what is served where, and how to mount it: lines that can be
// pasted as they are.
func banner(at netip.AddrPort) string {
	host, port := at.Addr().Unmap(), at.Port()
	if host.IsUnspecified() {
		host = netip.MustParseAddr("127.0.0.1")
	}
	name := host.String()
	if host.Is6() {
		name = "[" + name + "]"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "eddy serves NFSv3 on %s (TCP and UDP; MOUNT on the same port)\n", at)
	fmt.Fprintf(&b, "the tree is in memory: it and its file handles end with this process\n\n")
	fmt.Fprintf(&b, "Linux   sudo mount -t nfs -o vers=3,proto=tcp,nolock,port=%[2]d,mountport=%[2]d,mountproto=tcp %[1]s:/ /mnt\n", name, port)
	fmt.Fprintf(&b, "macOS   sudo mount -t nfs -o vers=3,tcp,locallocks,resvport,port=%[2]d,mountport=%[2]d %[1]s:/ /private/mnt\n", name, port)
	fmt.Fprintf(&b, "libnfs  nfs-ls 'nfs://%[1]s/?version=3&nfsport=%[2]d&mountport=%[2]d'\n", name, port)
	return b.String()
}
