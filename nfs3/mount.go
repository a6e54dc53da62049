package nfs3

import (
	"eddy.example/rpc"
	"eddy.example/rpc/xdr"
	"eddy.example/vfs"
)

// maxMountReply is the longest answer to DUMP and EXPORT; what does not fit is
// left out.
const maxMountReply = 32 << 10

// mountVersions are the versions of MOUNT. 1 and 2 differ from 3 in the
// handle that MNT answers with: it has exactly FHSIZE bytes (RFC 1094 §A.4.1).
// 2 adds PATHCONF to 1, for NFS version 2, and is served without it.
const (
	mountLow  = MOUNT_V1
	mountHigh = MOUNT_V3
)

// mountProgram is a Server as the MOUNT program, RFC 1813 §5.
type mountProgram Server

func (*mountProgram) Program() (prog, low, high uint32) { return MOUNT_PROGRAM, mountLow, mountHigh }

func (*mountProgram) Proc(vers, proc uint32) (*rpc.Proc, bool) {
	if proc >= uint32(len(mountProcedures)) {
		return nil, false
	}
	return &mountProcedures[proc].Proc, true
}

func (*mountProgram) Place(*rpc.Header, []byte) (at int, offset uint64, ok bool) {
	return 0, 0, false
}

func (p *mountProgram) Serve(rc *rpc.Call) error {
	return (*Server)(p).serve(rc, &mountProcedures[rc.Proc])
}

// mountProcedures are those of RFC 1813 §5.2, by number; NULL is answered by rpc.
var mountProcedures = [...]procedure{
	MOUNTPROC3_MNT:     {rpc.Proc{Name: "MNT"}, (*call).mnt},
	MOUNTPROC3_DUMP:    {rpc.Proc{Name: "DUMP", ReadOnly: true}, (*call).dump},
	MOUNTPROC3_UMNT:    {rpc.Proc{Name: "UMNT"}, (*call).umnt},
	MOUNTPROC3_UMNTALL: {rpc.Proc{Name: "UMNTALL"}, (*call).umntall},
	MOUNTPROC3_EXPORT:  {rpc.Proc{Name: "EXPORT", ReadOnly: true}, (*call).export},
}

// mnt answers MNT, RFC 1813 §5.2.1.
func (c *call) mnt() error {
	var path Dirpath
	if _, err := path.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	e, o, err := c.srv.Exports.Mount(&c.vfs, string(path), &c.caller)
	if c.wouldBlock(err) {
		return rpc.ErrWouldBlock
	}
	status := mountStatus(err)
	if status != MNT3_OK {
		c.Failed(status.String())
	}
	var fh []byte
	if err == nil {
		fh = c.handle(file{e, o}).Data
	}
	if c.Vers < MOUNT_V3 {
		c.replyFhstatus(status, fh)
	} else {
		// AUTH_NONE is for clients that look for it; it makes them anonymous.
		res := Mountres3{FhsStatus: status, Mountinfo: Mountres3Ok{Fhandle: fh, AuthFlavors: mountFlavors[:]}}
		c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	}
	if err == nil {
		c.srv.mounts.add(c.clientName(), string(path), c.srv.MaxMounts)
	}
	return nil
}

var mountFlavors = [...]uint32{rpc.AUTH_SYS, rpc.AUTH_NONE}

// replyFhstatus answers version 1's and 2's MNT. A handle that has not exactly
// the length those versions know is refused with EINVAL: the client has to ask
// with version 3.
func (c *call) replyFhstatus(status Mountstat3, fh []byte) {
	res := Fhstatus{Status: uint32(status)}
	switch {
	case status != MNT3_OK:
	case len(fh) != FHSIZE:
		res.Status = uint32(MNT3ERR_INVAL)
	default:
		res.Directory = Fhandle(fh)
	}
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
}

// mountStatus is the status that says err.
func mountStatus(err error) Mountstat3 {
	switch vfs.Cause(err) {
	case nil:
		return MNT3_OK
	case vfs.ErrNotExist, vfs.ErrInvalid, vfs.ErrStale:
		return MNT3ERR_NOENT
	case vfs.ErrAccess, vfs.ErrPerm:
		return MNT3ERR_ACCES
	case vfs.ErrNotDir:
		return MNT3ERR_NOTDIR
	case vfs.ErrNameTooLong:
		return MNT3ERR_NAMETOOLONG
	}
	return MNT3ERR_IO
}

// dump answers DUMP, RFC 1813 §5.2.2.
func (c *call) dump() error {
	b := c.Results(maxMountReply)
	end := len(b) + maxMountReply - 4
	for _, m := range c.srv.mounts.list() {
		node := Mountbody{MlHostname: []byte(m.client), MlDirectory: Dirpath(m.path)}
		if len(b)+4+node.SizeXDR() > end {
			break
		}
		b = node.AppendXDR(xdr.AppendBool(b, true))
	}
	c.Reply(xdr.AppendBool(b, false))
	return nil
}

// umnt answers UMNT, RFC 1813 §5.2.3.
func (c *call) umnt() error {
	var path Dirpath
	if _, err := path.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	c.srv.mounts.remove(c.clientName(), string(path))
	return c.void()
}

// umntall answers UMNTALL, RFC 1813 §5.2.4.
func (c *call) umntall() error {
	c.srv.mounts.removeAll(c.clientName())
	return c.void()
}

// export answers EXPORT, RFC 1813 §5.2.5.
func (c *call) export() error {
	b := c.Results(maxMountReply)
	end := len(b) + maxMountReply - 4
	for _, e := range c.srv.Exports.Entries() {
		node := Exportnode{ExDir: Dirpath(e.Path), ExGroups: groups(e.Networks)}
		if len(b)+4+node.SizeXDR() > end {
			break
		}
		b = node.AppendXDR(xdr.AppendBool(b, true))
	}
	c.Reply(xdr.AppendBool(b, false))
	return nil
}
