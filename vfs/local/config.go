package local

import (
	"time"

	"go.uber.org/zap"
)

// Config says what is served and how. Only Root has to be set.
type Config struct {
	// Root is the directory that is served. It is opened once: what is served
	// stays that directory when it is renamed.
	Root string

	// State is a directory for what has to outlive the process: where objects
	// were last seen, so that their handles are found again at once. It is
	// made if need be, with mode 0700. Inside Root, also by way of a link, it is
	// ErrStateInRoot: see Contains. "": nothing outlives the process.
	State string

	// CrossMounts serves the file systems mounted below Root too, each with a
	// number of its own. Without it they are ErrAccess.
	CrossMounts bool

	// AsyncMetadata lets CREATE, REMOVE, RENAME and the like answer before
	// the change is on stable storage. A crash may then undo what was
	// answered.
	AsyncMetadata bool

	// ReadSource is where large READs are answered from. It is a hint: a READ
	// that can't be answered that way is answered from pages.
	ReadSource ReadSource

	// MaxOpenFiles bounds the descriptors that are kept for calls to come.
	// 0: a quarter of RLIMIT_NOFILE, at most 4096.
	MaxOpenFiles int

	// MaxHandles bounds the places that are remembered, one for each object.
	// 0: 1<<20.
	MaxHandles int

	// Handles is how objects are named.
	Handles Handles

	// Log gets what an operator should know. nil: nobody does.
	Log *zap.Logger

	// Clock is the time by which attributes count as settled. nil: the
	// system's.
	Clock Clock
}

// Clock tells the time.
type Clock interface{ Now() time.Time }

// Handles is a way to name objects.
type Handles int

// HandlesAuto is HandlesKernel where that works, else HandlesMap.
// HandlesKernel are the file system's own handles (open_by_handle_at(2)), for
// a server with CAP_DAC_READ_SEARCH. HandlesMap are found by what is remembered
// of where their objects were, and by a search.
const (
	HandlesAuto Handles = iota
	HandlesKernel
	HandlesMap
)

func (h Handles) String() string {
	switch h {
	case HandlesKernel:
		return "kernel"
	case HandlesMap:
		return "map"
	}
	return "auto"
}

// ReadSource is where the bytes of a READ are when they are sent.
type ReadSource int32

// ReadPages reads them into reply pages. ReadMapped sends from a mapping of the
// file, ReadSpliced from the page cache itself: both save a copy and need
// what is asked for to be in memory, a connection that the kernel sends on (vfs.Call.KernelSends) and one of
// the usual local file systems. With them a READ may show a later WRITE, also in bytes that
// TCP sends again; and a file that is cut while it is sent ends the connection.
const (
	ReadPages ReadSource = iota
	ReadMapped
	ReadSpliced
)

func (s ReadSource) String() string {
	switch s {
	case ReadMapped:
		return "mmap"
	case ReadSpliced:
		return "splice"
	}
	return "pages"
}

// Identity says under whose rights calls are carried out.
type Identity int

// IdentityServer does everything with the rights of the server's own user,
// who then owns what is created. IdentityClients gives each call the rights of
// its caller.
const (
	IdentityServer Identity = iota
	IdentityClients
)

func (i Identity) String() string {
	if i == IdentityClients {
		return "clients"
	}
	return "server"
}

// Description is what an operator is told about an FS.
type Description struct {
	Handles    Handles // HandlesKernel or HandlesMap
	Identity   Identity
	Durable    bool // namespace changes are on stable storage when they are answered
	ReadSource ReadSource
	FSType     string // "ext4", "xfs", ..., or its magic number in hex
}
