package nfs3

import (
	"net/netip"
	"slices"
	"sync"
)

// defaultMaxMounts is Server.MaxMounts for 0.
const defaultMaxMounts = 1024

// mountList remembers who has mounted what, oldest first. It is what RFC 1813
// §5.2.2 has in mind: clients that crash stay in it and nothing depends on it.
type mountList struct {
	mu     sync.Mutex
	mounts []mount
}

// mount is a client, by its address without the port, and a path.
type mount struct{ client, path string }

func (l *mountList) add(client, path string, max int) {
	if max <= 0 {
		max = defaultMaxMounts
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m := mount{client, path}
	if slices.Contains(l.mounts, m) {
		return
	}
	if over := len(l.mounts) + 1 - max; over > 0 {
		l.mounts = slices.Delete(l.mounts, 0, over)
	}
	l.mounts = append(l.mounts, m)
}

func (l *mountList) remove(client, path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mounts = slices.DeleteFunc(l.mounts, func(m mount) bool { return m == mount{client, path} })
}

func (l *mountList) removeAll(client string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mounts = slices.DeleteFunc(l.mounts, func(m mount) bool { return m.client == client })
}

func (l *mountList) list() []mount {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.mounts)
}

// LocalClient stands for clients without an address in the list of mounts.
const LocalClient = "localhost"

// MountEntry says that a client has mounted a path.
type MountEntry struct {
	Client string // its address without port and zone, or LocalClient
	Path   string // as the client has written it
}

// Mounts returns who has mounted what, oldest first, as MOUNT's DUMP shows it.
// Any goroutine may call it.
func (s *Server) Mounts() []MountEntry {
	list := s.mounts.list()
	entries := make([]MountEntry, len(list))
	for i, m := range list {
		entries[i] = MountEntry{Client: m.client, Path: m.path}
	}
	return entries
}

// clientName is how the client of c stands in the list.
func (c *call) clientName() string {
	if c.caller.Local {
		return LocalClient
	}
	return c.caller.Addr.Addr().Unmap().WithZone("").String()
}

// groups are the names that EXPORT shows for networks.
func groups(networks []netip.Prefix) Groups {
	if len(networks) == 0 {
		return Groups{{GrName: []byte("localhost")}}
	}
	g := make(Groups, len(networks))
	for i, n := range networks {
		g[i].GrName = []byte(n.String())
	}
	return g
}
