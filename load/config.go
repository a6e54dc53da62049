package load

import (
	"context"
	"net"
	"slices"
	"time"

	"eddy.example/rpc"
)

// Op is what a request does.
type Op string

// The operations. Read and Write go through the file in order, RandRead and
// RandWrite pick blocks at random; writes are UNSTABLE.
const (
	Null         Op = "null"
	Getattr      Op = "getattr"       // of the file
	Lookup       Op = "lookup"        // of the file's name in the root
	CreateRemove Op = "create_remove" // a CREATE of a name that was never used and its REMOVE, counted as one
	Readdirplus  Op = "readdirplus"   // a whole listing of Dir, counted as one
	Read         Op = "read"
	RandRead     Op = "randread"
	Write        Op = "write"
	RandWrite    Op = "randwrite"
)

// HasPayload reports whether op moves data of the file.
func (op Op) HasPayload() bool {
	return slices.Contains([]Op{Read, RandRead, Write, RandWrite}, op)
}

// Config describes a load.
type Config struct {
	// Network and Addr are where the server answers NFS, as net.Dial has them. ""
	// is TCP.
	Network, Addr string

	// MountAddr is where it answers MOUNT. "" is the same connection as NFS.
	MountAddr string

	// Dial, if not nil, makes the connections instead of Network and Addr.
	Dial func(context.Context) (net.Conn, error)

	// Path is the export, File a file in its root and FileBytes that file's size,
	// at least Size. [Fill] makes it. Dir is a directory in the root, for Readdirplus and
	// CreateRemove; "" is the root.
	Path, File, Dir string
	FileBytes       int64

	// Op is done, with Size bytes where it has a payload, by Depth requests at a
	// time on each of Conns connections.
	Op           Op
	Size         int
	Conns, Depth int

	// Duration is for how long requests are sent. At least Conns × Depth are.
	Duration time.Duration

	// Cred is who the client says it is; nil: user 0, group 0.
	Cred *rpc.Cred
}

// Result is what came of a load.
type Result struct {
	// Ops were answered, with Bytes of payload.
	Ops, Bytes int64
	Elapsed    time.Duration

	// P50 and P99 are quantiles of the time from sending a request to its answer.
	P50, P99 time.Duration
}

// blocks is how many requests of Size the file holds.
func (c *Config) blocks() int64 {
	if c.Size == 0 {
		return 1
	}
	return max(1, c.FileBytes/int64(c.Size))
}

func (c *Config) cred() *rpc.Cred {
	if c.Cred != nil {
		return c.Cred
	}
	return &rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: []byte("load")}
}
