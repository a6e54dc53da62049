package nfs3

import (
	"errors"
	"strings"

	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/export"
)

// headSize is the longest result of READ and READDIR in front of the pages.
const headSize = 128

// call is what one request is worked on with. It holds all that a backend
// gets pointers to, so that a request costs no allocation, and goes from
// request to request through Server.calls.
type call struct {
	*rpc.Call
	srv    *Server
	vfs    vfs.Call
	caller export.Caller

	attr, dirAttr vfs.Attr
	seen          vfs.Attr // vfs.Call.Attr
	set           vfs.SetAttr
	guard         vfs.Time
	stat          vfs.Statfs
	chg, chg2     vfs.Change
	pager         pager
	fh            [NFS3_FHSIZE]byte

	readOnly bool // the procedure changes nothing
	again    bool // attributes for the reply were not to be had without waiting
	lost     bool // the backend said that an object is gone
}

// file is an object and the export it belongs to. The zero file is one that
// was not found.
type file struct {
	*export.Entry
	obj vfs.Object
}

func (s *Server) begin(rc *rpc.Call, p *rpc.Proc) *call {
	c, _ := s.calls.Get().(*call)
	if c == nil {
		c = &call{srv: s}
		c.vfs.Attr = &c.seen
		c.pager.fill = c.pager.add
	}
	c.Call = rc
	c.vfs.Context = rc.Context()
	c.vfs.MayWait = rc.MayWait
	c.vfs.KernelSends = rc.Conn.KernelSends()
	c.caller = export.Caller{
		Anonymous: rc.Cred.Flavor == rpc.AUTH_NONE,
		Cred:      vfs.Cred{UID: rc.Cred.UID, GID: rc.Cred.GID, Groups: rc.Cred.GIDs},
	}
	switch rc.Conn.Network() {
	case "unix", "pipe":
		c.caller.Local = true
	default:
		c.caller.Addr, c.caller.Owner = rc.Conn.RemoteAddr(), rc.Conn
	}
	c.chg.Reset()
	c.chg2.Reset()
	c.seen.Mask = 0
	c.readOnly, c.again, c.lost = p.ReadOnly, false, false
	return c
}

// end gives c back, without what belongs to the request.
func (s *Server) end(c *call) {
	c.Call = nil
	c.vfs.Context = nil
	c.caller = export.Caller{}
	if c.pager.c != nil {
		c.pager.reset()
	}
	s.calls.Put(c)
}

// resolve finds the object of a handle. Where only the object is missing the
// file still knows its export.
func (c *call) resolve(fh NFSFh3) (file, error) {
	e, o, err := c.srv.Exports.Resolve(&c.vfs, fh.Data, &c.caller)
	if e == nil {
		c.Undone() // it has not even come to the backend
	}
	return file{e, o}, err
}

// resolveToChange is resolve for a call that changes the object.
func (c *call) resolveToChange(fh NFSFh3) (file, error) {
	f, err := c.resolve(fh)
	if err == nil && f.ReadOnly {
		err = vfs.ErrReadOnly
	}
	return f, err
}

// status is what the reply says about err, or the error with which Serve has
// to end instead of replying. It comes after the attributes for the reply were
// gathered: if those of a call that changes nothing and went well were not to be
// had without waiting, it is worth while to come again.
func (c *call) status(err error) (NFSStat3, error) {
	if errors.Is(err, vfs.ErrBrief) {
		return 0, rpc.ErrBrief
	}
	if c.wouldBlock(err) || err == nil && c.again && c.readOnly {
		return 0, rpc.ErrWouldBlock
	}
	if err == nil {
		return NFS3_OK, nil
	}
	status := answerable(c.Proc, statusOf(err))
	c.Failed(status.String())
	return status, nil
}

// wouldBlock reports whether err means that the call has to come again: when there
// are pages, or on a goroutine that may wait.
func (c *call) wouldBlock(err error) bool {
	return errors.Is(err, rpc.ErrWouldBlock) || !c.MayWait && errors.Is(err, vfs.ErrWouldBlock)
}

// getattr fills a with the attributes of f, or answers errFault if the
// backend does not know those every file has.
func (f file) getattr(c *call, a *vfs.Attr) error {
	a.Mask = 0
	if err := f.FS.Getattr(&c.vfs, f.obj, wanted, a); err != nil {
		return err
	}
	if !a.Has(vfs.AttrBasic) {
		return errFault
	}
	return nil
}

// isLost reports whether err, what the backend answered last, or an error before
// it says that an object is gone. Which of two it is nobody tells, and a backend
// may have to search for what is gone: so the call looks at none any more.
func (c *call) isLost(err error) bool {
	switch vfs.Cause(err) {
	case vfs.ErrStale, vfs.ErrBadHandle:
		c.lost = true
	}
	return c.lost
}

// postOp is f's attributes now, if there is an f and they are to be had after
// the call came to err; a is scratch. With a failure they come only if that takes no
// wait: the backend is not to start something, as a search for f, of which
// nobody asks for the end. A call that comes again does not need them yet.
func (c *call) postOp(f file, a *vfs.Attr, err error) PostOpAttr {
	if f.obj == nil || c.wouldBlock(err) || c.isLost(err) {
		return PostOpAttr{}
	}
	c.vfs.MayWait = c.MayWait && err == nil
	if err := f.getattr(c, a); err != nil {
		c.isLost(err)
		c.again = c.again || c.wouldBlock(err)
		return PostOpAttr{}
	}
	return postOp(f.Entry, a)
}

// known is postOp for an f whose attributes the backend may have filled in
// already.
func (c *call) known(f file, a *vfs.Attr, err error) PostOpAttr {
	if p := postOp(f.Entry, a); p.AttributesFollow {
		return p
	}
	return c.postOp(f, a, err)
}

// left is postOp for an f whose attributes the backend may have left while it came
// to err.
func (c *call) left(f file, err error) PostOpAttr {
	if err == nil || vfs.Cause(err) == vfs.ErrNotExist {
		return c.known(f, &c.seen, err)
	}
	return c.postOp(f, &c.seen, err)
}

// wcc is what chg says about f. The attributes after are asked for if the
// backend did not give them; those before nobody can tell any more.
func (c *call) wcc(f file, chg *vfs.Change, err error) WccData {
	if f.obj == nil {
		return WccData{}
	}
	return WccData{Before: preOp(&chg.Pre), After: c.known(f, &chg.Post, err)}
}

// handle is f's handle. It is valid until the next call of handle.
func (c *call) handle(f file) NFSFh3 {
	return NFSFh3{Data: c.srv.Exports.AppendHandle(c.fh[:0], f.Entry, f.obj)}
}

// name is a name from the wire as it goes to f's backend (RFC 1813 §3.2).
func (f file) name(b []byte) (string, error) {
	name := string(b)
	switch {
	case name == "", strings.ContainsAny(name, "/\x00"):
		return "", vfs.ErrAccess
	case uint32(len(name)) > min(vfs.MaxName, f.Caps.Limits.MaxName):
		return "", vfs.ErrNameTooLong
	}
	return name, nil
}

// newName is name for an entry that is to be made: "." and ".." exist.
func (f file) newName(b []byte) (string, error) {
	name, err := f.name(b)
	if err == nil && isDot(name) {
		err = vfs.ErrExist
	}
	return name, err
}

func isDot(name string) bool { return name == "." || name == ".." }

// void replies without results.
func (c *call) void() error {
	c.Reply(c.Results(0))
	return nil
}
