package nfs3

import (
	"sync"

	"eddy.example/bufpool"
	"eddy.example/rpc"
	"eddy.example/vfs/export"
)

// Sizes of transfers, in bytes.
const (
	// MaxTransfer is the longest READ and WRITE over a stream.
	MaxTransfer = bufpool.MaxPayload
	// MaxDatagramTransfer is the longest over UDP.
	MaxDatagramTransfer = 32 << 10
	// MaxListing is the longest answer to READDIR and READDIRPLUS.
	MaxListing = 64 << 10
)

// maxLink is the longest text of a symbolic link.
const maxLink = 4096

// Server answers NFS version 3 and MOUNT for a table of exports. Set the
// fields before the programs are used, and do not copy it after that.
type Server struct {
	// Exports is what is served.
	Exports *export.Table

	// MaxMounts bounds the list of who has mounted what, which MOUNT's DUMP
	// shows: beyond it the oldest entry is forgotten. 0: 1024.
	MaxMounts int

	calls  sync.Pool // of *call
	mounts mountList
}

// NFS returns the NFS program: 100003, version 3.
func (s *Server) NFS() rpc.Program { return (*nfsProgram)(s) }

// Mount returns the MOUNT program: 100005, versions 1 to 3.
func (s *Server) Mount() rpc.Program { return (*mountProgram)(s) }

// nfsProgram is a Server as the NFS program.
type nfsProgram Server

func (*nfsProgram) Program() (prog, low, high uint32) { return NFS_PROGRAM, NFS_V3, NFS_V3 }

func (*nfsProgram) Proc(vers, proc uint32) (*rpc.Proc, bool) {
	if proc >= uint32(len(procedures)) {
		return nil, false
	}
	return &procedures[proc].Proc, true
}

func (p *nfsProgram) Serve(rc *rpc.Call) error {
	return (*Server)(p).serve(rc, &procedures[rc.Proc])
}

func (s *Server) serve(rc *rpc.Call, p *procedure) error {
	c := s.begin(rc, &p.Proc)
	err := p.serve(c)
	s.end(c)
	return err
}

// procedure is one of the protocol's.
type procedure struct {
	rpc.Proc
	serve func(*call) error
}

// procedures are those of RFC 1813 §3.3, by number; NULL is answered by rpc.
// Cached are the ones that do not come to the same if they run twice.
var procedures = [...]procedure{
	NFSPROC3_GETATTR:     {rpc.Proc{Name: "GETATTR", ReadOnly: true}, (*call).getattr},
	NFSPROC3_SETATTR:     {rpc.Proc{Name: "SETATTR", Cached: true}, (*call).setattr},
	NFSPROC3_LOOKUP:      {rpc.Proc{Name: "LOOKUP", ReadOnly: true}, (*call).lookup},
	NFSPROC3_ACCESS:      {rpc.Proc{Name: "ACCESS", ReadOnly: true}, (*call).access},
	NFSPROC3_READLINK:    {rpc.Proc{Name: "READLINK", ReadOnly: true}, (*call).readlink},
	NFSPROC3_READ:        {rpc.Proc{Name: "READ", ReadOnly: true}, (*call).read},
	NFSPROC3_WRITE:       {rpc.Proc{Name: "WRITE"}, (*call).write},
	NFSPROC3_CREATE:      {rpc.Proc{Name: "CREATE", Cached: true}, (*call).create},
	NFSPROC3_MKDIR:       {rpc.Proc{Name: "MKDIR", Cached: true}, (*call).mkdir},
	NFSPROC3_SYMLINK:     {rpc.Proc{Name: "SYMLINK", Cached: true}, (*call).symlink},
	NFSPROC3_MKNOD:       {rpc.Proc{Name: "MKNOD", Cached: true}, (*call).mknod},
	NFSPROC3_REMOVE:      {rpc.Proc{Name: "REMOVE", Cached: true}, (*call).remove},
	NFSPROC3_RMDIR:       {rpc.Proc{Name: "RMDIR", Cached: true}, (*call).rmdir},
	NFSPROC3_RENAME:      {rpc.Proc{Name: "RENAME", Cached: true}, (*call).rename},
	NFSPROC3_LINK:        {rpc.Proc{Name: "LINK", Cached: true}, (*call).link},
	NFSPROC3_READDIR:     {rpc.Proc{Name: "READDIR", ReadOnly: true}, (*call).readdir},
	NFSPROC3_READDIRPLUS: {rpc.Proc{Name: "READDIRPLUS", ReadOnly: true}, (*call).readdirplus},
	NFSPROC3_FSSTAT:      {rpc.Proc{Name: "FSSTAT", ReadOnly: true}, (*call).fsstat},
	NFSPROC3_FSINFO:      {rpc.Proc{Name: "FSINFO", ReadOnly: true}, (*call).fsinfo},
	NFSPROC3_PATHCONF:    {rpc.Proc{Name: "PATHCONF", ReadOnly: true}, (*call).pathconf},
	NFSPROC3_COMMIT:      {rpc.Proc{Name: "COMMIT"}, (*call).commit},
}
