package export

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"path"
	"reflect"
	"slices"
	"strings"

	"eddy.example/vfs"
)

// Nobody is the user and group that squashed callers get by default.
const Nobody = 65534

// MaxPath is the longest path of an export, RFC 1813 §5.1.4 MNTPATHLEN.
const MaxPath = 1024

// Export is a file system and the terms on which clients may use it.
type Export struct {
	// Path is what clients mount, absolute: "/", "/data".
	Path string

	// FS is the backend.
	FS vfs.FS

	// FSID tells the export apart in handles and, where the backend has no
	// fsid of its own, in attributes. 0 derives it from Path; then a handle
	// survives a restart as long as Path stays the same.
	FSID uint32

	// ReadOnly refuses all changes.
	ReadOnly bool

	// Squash says which callers lose their identity to AnonUID and AnonGID
	// (0: Nobody). Callers without one (AUTH_NONE) are always anonymous.
	Squash           Squash
	AnonUID, AnonGID uint32

	// Networks are the clients that may use the export. Empty: only those on
	// this host, by its loopback addresses.
	Networks []netip.Prefix

	// InsecurePorts admits clients on source ports from 1024 on, which every
	// user of a client host can use. Without it those on loopback addresses are admitted
	// whose socket belongs to root or to the user who runs the server.
	InsecurePorts bool
}

// Squash is a rule for which callers become anonymous.
type Squash uint8

// SquashRoot takes user 0 and group 0 away, SquashNone believes everybody,
// SquashAll nobody.
const (
	SquashRoot Squash = iota
	SquashNone
	SquashAll
)

// Entry is an Export in the table. Nothing in it changes.
type Entry struct {
	Export                  // with defaults filled in and Path cleaned
	ID     uint32           // FSID, or what Path gave
	Caps   vfs.Capabilities // of FS

	backend *backend
}

// backend stands for an FS in comparisons: an FS need not be comparable.
type backend struct{ fs vfs.FS }

// Same reports whether objects of e and o belong to the same file system, so
// that one call may use both. It holds across a Reload that kept the FS.
func (e *Entry) Same(o *Entry) bool { return e.ID == o.ID && e.backend == o.backend }

// newEntry checks x and fills in its defaults.
func newEntry(x Export) (*Entry, error) {
	p, err := cleanPath(x.Path)
	if err != nil {
		return nil, err
	}
	x.Path = p
	if x.FS == nil {
		return nil, fmt.Errorf("export %s: no FS", x.Path)
	}
	if x.Squash > SquashAll {
		return nil, fmt.Errorf("export %s: unknown squash rule %d", x.Path, x.Squash)
	}
	if x.AnonUID == 0 {
		x.AnonUID = Nobody
	}
	if x.AnonGID == 0 {
		x.AnonGID = Nobody
	}
	networks := make([]netip.Prefix, len(x.Networks))
	for i, n := range x.Networks {
		if networks[i], err = cleanPrefix(n); err != nil {
			return nil, fmt.Errorf("export %s: %w", x.Path, err)
		}
	}
	x.Networks = networks
	id := x.FSID
	if id == 0 {
		id = pathID(x.Path)
	}
	return &Entry{Export: x, ID: id, Caps: vfs.CapabilitiesOf(x.FS), backend: &backend{x.FS}}, nil
}

// adopt takes over old's backend if both entries stand for the same FS.
func (e *Entry) adopt(old *Entry) {
	if old != nil && isComparable(e.FS) && isComparable(old.FS) && e.FS == old.FS {
		e.backend = old.backend
	}
}

// isComparable reports whether == on fs does not panic: what an interface inside
// it holds counts too.
func isComparable(fs vfs.FS) bool { return reflect.ValueOf(fs).Comparable() }

// cleanPath normalises a path as clients may spell it: "/a//b/" is "/a/b".
func cleanPath(p string) (string, error) {
	if !strings.HasPrefix(p, "/") || len(p) > MaxPath || strings.IndexByte(p, 0) >= 0 {
		return "", fmt.Errorf("export path %.64q: %w", p, vfs.ErrInvalid)
	}
	// ".." is refused rather than resolved: below an export it is the
	// backend's to say what it means.
	if slices.Contains(strings.Split(p, "/"), "..") {
		return "", fmt.Errorf("export path %.64q: %w", p, vfs.ErrInvalid)
	}
	return path.Clean(p), nil
}

// cleanPrefix makes n fit the addresses that admit compares it with: no IPv4
// in IPv6, no zone.
func cleanPrefix(n netip.Prefix) (netip.Prefix, error) {
	if !n.IsValid() {
		return n, fmt.Errorf("network %v is no prefix: %w", n, vfs.ErrInvalid)
	}
	addr, length := n.Addr(), n.Bits()
	if addr.Is4In6() {
		if length < 96 {
			return n, fmt.Errorf("network %v holds more than IPv4 addresses: %w", n, vfs.ErrInvalid)
		}
		addr, length = addr.Unmap(), length-96
	}
	return addr.Prefix(length)
}

// pathID derives an export id, never 0, from a path.
func pathID(p string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(p))
	if id := h.Sum32(); id != 0 {
		return id
	}
	return 1
}
