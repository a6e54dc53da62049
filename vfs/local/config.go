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
	// made if need be, with mode 0700. "": nothing outlives the process.
	State string

	// CrossMounts serves the file systems mounted below Root too, each with a
	// number of its own. Without it they are ErrAccess.
	CrossMounts bool

	// AsyncMetadata lets CREATE, REMOVE, RENAME and the like answer before
	// the change is on stable storage. A crash may then undo what was
	// answered.
	AsyncMetadata bool

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
	Handles  Handles // HandlesKernel or HandlesMap
	Identity Identity
	Durable  bool   // namespace changes are on stable storage when they are answered
	FSType   string // "ext4", "xfs", ..., or its magic number in hex
}
