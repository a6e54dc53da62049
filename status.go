package eddy

import (
	"cmp"
	"fmt"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/export"
	"eddy.example/xprt"
)

// State is what a Server is doing.
type State string

// The states of a Server, in their order.
const (
	StateNew      State = "new"      // nothing has been served yet
	StateServing  State = "serving"  // from the first Serve on
	StateDraining State = "draining" // Shutdown or Close has been called
	StateClosed   State = "closed"   // and has returned
)

// Stats are counters of what a Server has done and numbers of what it does now.
type Stats struct {
	State State `json:"state"`

	// Transport counts connections, calls, bytes and pages.
	Transport xprt.Stats `json:"transport"`

	// RPC counts calls that wait, and the reply cache.
	RPC rpc.Stats `json:"rpc"`
}

// Status is a snapshot of a Server for people to look at. Its parts are taken
// one after the other. The JSON names are stable; times are RFC 3339,
// addresses "host:port", or "" where there is none.
type Status struct {
	Now     time.Time `json:"now"`     // the Server's clock, to tell ages by
	Started time.Time `json:"started"` // the first Serve; zero before that
	Version string    `json:"version"` // of this module in the program

	Stats  Stats  `json:"stats"`
	Limits Limits `json:"limits"`

	Exports []ExportStatus  `json:"exports"` // by path
	Clients []ClientStatus  `json:"clients"` // by address
	Conns   []xprt.ConnInfo `json:"conns"`   // by network, client and time
	Calls   []rpc.CallInfo  `json:"calls"`   // that are not over at once, oldest first
}

// Limits are the bounds of what Stats tell, in bytes where nothing else is said.
type Limits struct {
	Workers      int   `json:"workers"`
	PoolBytes    int64 `json:"pool_bytes"` // each worker's
	ReceiveBytes int64 `json:"receive_bytes"`
	ReplyBytes   int64 `json:"reply_bytes"`
	CacheBytes   int64 `json:"cache_bytes"`
	Conns        int   `json:"conns"`   // connections
	Waiting      int   `json:"waiting"` // calls on waiting goroutines
}

// ExportStatus is an export and what its backend tells.
type ExportStatus struct {
	Path          string         `json:"path"`
	ID            uint32         `json:"id"` // in handles
	ReadOnly      bool           `json:"read_only"`
	Squash        string         `json:"squash"`   // "root", "none" or "all"
	Networks      []netip.Prefix `json:"networks"` // empty: this host
	InsecurePorts bool           `json:"insecure_ports"`

	// HasFS says that the backend is a [vfs.Statser], and FS what it tells.
	HasFS bool      `json:"has_fs"`
	FS    vfs.Stats `json:"fs"`
}

// ClientStatus is a client that is connected or has something mounted. Clients
// without an address, on Unix sockets or pipes, are one: "localhost". Those who
// only send datagrams are not known.
type ClientStatus struct {
	Address string `json:"address"` // without port

	// Sums over its connections of now.
	Connections   int   `json:"connections"`
	Calls         int   `json:"calls"` // now
	Records       int64 `json:"records"`
	BytesReceived int64 `json:"bytes_received"`
	BytesSent     int64 `json:"bytes_sent"`

	// Mounts are the paths that it has asked for by MOUNT and not given back.
	// They stay when a client is gone without a word.
	Mounts []string `json:"mounts"`
}

// Stats returns the counters; all are zero before the first Serve. It may be
// called as often as one likes.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	c, state := s.core, s.state()
	s.mu.Unlock()
	if c == nil {
		return Stats{State: state}
	}
	return Stats{State: state, Transport: c.xprt.Stats(), RPC: c.rpc.Stats()}
}

// state is called with s.mu held.
func (s *Server) state() State {
	switch {
	case s.ended:
		return StateClosed
	case s.closed:
		return StateDraining
	case s.core != nil:
		return StateServing
	}
	return StateNew
}

// Status describes what the server does. It visits every worker, and takes 5
// seconds if one is held up; what is not known then is left out.
func (s *Server) Status() Status {
	now := s.now()
	st := Status{
		Now:     now,
		Version: version(),
		Exports: []ExportStatus{},
		Clients: []ClientStatus{},
		Conns:   []xprt.ConnInfo{},
		Calls:   []rpc.CallInfo{},
	}
	s.mu.Lock()
	c := s.core
	s.mu.Unlock()
	if c == nil {
		st.Stats = s.Stats()
		return st
	}
	st.Started = c.started
	st.Limits = c.limits()
	for _, e := range c.table.Entries() {
		st.Exports = append(st.Exports, exportStatus(e))
	}
	st.Calls = append(st.Calls, c.rpc.Calls()...)
	st.Conns = append(st.Conns, c.xprt.Conns()...)
	slices.SortFunc(st.Conns, func(a, b xprt.ConnInfo) int {
		return cmp.Or(strings.Compare(a.Network, b.Network), a.Remote.Compare(b.Remote),
			a.Since.Compare(b.Since), a.Local.Compare(b.Local))
	})
	st.Clients = append(st.Clients, clients(st.Conns, c.nfs.Mounts())...)
	st.Stats = s.Stats()
	return st
}

func (s *Server) now() time.Time {
	if s.Clock != nil {
		return s.Clock.Now()
	}
	return time.Now()
}

// modulePath is what this package's module is called in build information.
const modulePath = "eddy.example"

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	if info.Main.Path == modulePath {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == modulePath {
			return m.Version
		}
	}
	return ""
}

func (c *core) limits() Limits {
	cfg := c.xprt.Config()
	return Limits{
		Workers:      cfg.Workers,
		PoolBytes:    int64(cfg.PoolCap),
		ReceiveBytes: int64(cfg.RecvBudget),
		ReplyBytes:   int64(cfg.ReplyBudget),
		CacheBytes:   rpc.DefaultCacheBytes,
		Conns:        cfg.MaxConns,
		Waiting:      rpc.DefaultWaiters,
	}
}

func exportStatus(e *export.Entry) ExportStatus {
	x := ExportStatus{
		Path:          e.Path,
		ID:            e.ID,
		ReadOnly:      e.ReadOnly,
		Squash:        squashName(e.Squash),
		Networks:      e.Networks,
		InsecurePorts: e.InsecurePorts,
	}
	if f, ok := e.FS.(vfs.Statser); ok {
		x.HasFS, x.FS = true, f.Stats()
	}
	return x
}

func squashName(q export.Squash) string {
	switch q {
	case export.SquashNone:
		return "none"
	case export.SquashAll:
		return "all"
	}
	return "root"
}

// clients sums up connections and mounts by address.
func clients(conns []xprt.ConnInfo, mounts []nfs3.MountEntry) []ClientStatus {
	byAddr := make(map[string]*ClientStatus)
	client := func(addr string) *ClientStatus {
		c := byAddr[addr]
		if c == nil {
			c = &ClientStatus{Address: addr, Mounts: []string{}}
			byAddr[addr] = c
		}
		return c
	}
	for i := range conns {
		x := &conns[i]
		addr := nfs3.LocalClient
		switch {
		case x.Remote.IsValid():
			addr = x.Remote.Addr().WithZone("").String()
		case x.Datagram:
			continue
		}
		c := client(addr)
		c.Connections++
		c.Calls += x.Calls
		c.Records += x.Records
		c.BytesReceived += x.BytesReceived
		c.BytesSent += x.BytesSent
	}
	for _, m := range mounts {
		c := client(m.Client)
		c.Mounts = append(c.Mounts, m.Path)
	}
	list := make([]ClientStatus, 0, len(byAddr))
	for _, c := range byAddr {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b ClientStatus) int { return strings.Compare(a.Address, b.Address) })
	return list
}

// Reload serves exports in the place of those before, in one step, or changes
// nothing if it returns an error. Calls that are being worked on end as they
// began, connections stay, and so do the handles of exports that keep their
// path or FSID; those of the others are stale. An export that keeps its FS goes
// on with it. Whoever opened an FS that is no longer served closes it: when
// Reload has returned no call begins to use it, but one may still do so.
//
// Before the first Serve it sets Exports. After Shutdown or Close it returns
// ErrServerClosed.
func (s *Server) Reload(exports []Export) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrServerClosed
	case s.core != nil:
		if err := s.core.table.Reload(exports...); err != nil {
			return fmt.Errorf("eddy: %w", err)
		}
		return nil
	}
	if _, err := export.NewTable(Key{}, exports...); err != nil {
		return fmt.Errorf("eddy: %w", err)
	}
	s.Exports = slices.Clone(exports)
	return nil
}
