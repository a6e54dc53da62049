package main

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"eddy.example/vfs/local"
)

// banner says what is served where, what becomes of it, and how to mount it.
func (d *daemon) banner() string {
	var b strings.Builder
	fmt.Fprintf(&b, "eddy serves NFSv3 on %s (MOUNT on the same port)\n", strings.Join(d.sockets.names(), ", "))
	list := d.exports.describe()
	for i := range list {
		b.WriteString(describe(&list[i]))
	}
	switch {
	case len(list) == 0:
		fmt.Fprintln(&b, "the tree is in memory: it and its file handles end with this process")
	case d.state == nil:
		fmt.Fprintln(&b, "there is no state directory: file handles end with this process, and clients have to mount again")
	default:
		fmt.Fprintf(&b, "file handles hold over a restart: their key is in %s\n", d.state.dir)
	}
	if d.control != nil {
		fmt.Fprintf(&b, "eddy status, reload and set use %s\n", d.control.l.Addr())
	}
	if d.metrics != nil {
		fmt.Fprintf(&b, "metrics and a status page are at http://%s/\n", d.metrics.l.Addr())
	}
	path := "/"
	if len(list) > 0 {
		path = list[0].Path
	}
	for _, l := range d.sockets.streams {
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			b.WriteString("\n" + mountLines(a.AddrPort(), path))
			break
		}
	}
	return b.String()
}

// describe is what becomes of an export's clients, calls and handles.
func describe(x *described) string {
	var b strings.Builder
	networks := make([]netip.Prefix, len(x.Network))
	for i, n := range x.Network {
		networks[i] = n.Prefix
	}
	fmt.Fprintf(&b, "  %s is %s (%s): %s\n", x.Path, x.Dir, x.FSType,
		terms(x.ReadOnly, x.Squash, networks, x.InsecurePorts, x.AsyncMetadata))
	if x.Identity == local.IdentityServer {
		fmt.Fprintf(&b, "    without CAP_SETUID every call has the rights of this process's own user, whoever makes it\n")
	}
	if x.Description.Handles == local.HandlesMap {
		fmt.Fprintf(&b, "    handles are rows of a map: after a restart, files that others have renamed are searched for\n")
	}
	if x.AsyncMetadata {
		fmt.Fprintf(&b, "    async-metadata: a crash or power cut can undo creations, removals and renames that clients were told are done\n")
	}
	return b.String()
}

// mountLines can be pasted as they are.
func mountLines(at netip.AddrPort, path string) string {
	host, port := at.Addr().Unmap(), at.Port()
	if host.IsUnspecified() {
		host = netip.MustParseAddr("127.0.0.1")
	}
	name := host.String()
	if host.Is6() {
		name = "[" + name + "]"
	}
	return fmt.Sprintf(`Linux   sudo mount -t nfs -o vers=3,proto=tcp,nolock,port=%[2]d,mountport=%[2]d,mountproto=tcp %[1]s:%[3]s /mnt
macOS   sudo mount -t nfs -o vers=3,tcp,locallocks,resvport,port=%[2]d,mountport=%[2]d %[1]s:%[3]s /private/mnt
libnfs  nfs-ls 'nfs://%[1]s%[3]s?version=3&nfsport=%[2]d&mountport=%[2]d'
`, name, port, path)
}
