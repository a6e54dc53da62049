package nfs3

import (
	"eddy.example/rpc"
	"eddy.example/vfs"
)

// getattr answers GETATTR, RFC 1813 §3.3.1.
func (c *call) getattr() error {
	var args GETATTR3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	f, err := c.resolve(args.Object)
	if err == nil {
		err = f.getattr(c, &c.attr)
	}
	var res GETATTR3res
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	if res.Status == NFS3_OK {
		res.Resok.ObjAttributes = fattr3(f.Entry, &c.attr)
	}
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

// setattr answers SETATTR, RFC 1813 §3.3.2.
func (c *call) setattr() error {
	var args SETATTR3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	f, err := c.resolveToChange(args.Object)
	if err == nil {
		err = c.setAttributes(f, &args)
	}
	wcc := c.wcc(f, &c.chg, err)
	var res SETATTR3res
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	res.Resok.ObjWcc, res.Resfail.ObjWcc = wcc, wcc
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

func (c *call) setAttributes(f file, args *SETATTR3args) (err error) {
	if err := setAttr(&c.set, &args.NewAttributes, f.Caps.Limits.MaxFileSize); err != nil {
		return err
	}
	var guard *vfs.Time
	if args.Guard.Check {
		if c.guard, err = vfsTime(args.Guard.ObjCtime); err != nil {
			return err
		}
		guard = &c.guard
	}
	switch {
	case c.set.IsZero() && guard == nil:
		return nil
	case f.Caps.Setattr == nil:
		return missing(&f.Caps)
	}
	return f.Caps.Setattr.Setattr(&c.vfs, f.obj, &c.set, guard, &c.chg)
}

// access answers ACCESS, RFC 1813 §3.3.4. What a read-only export refuses is
// not granted.
func (c *call) access() error {
	var args ACCESS3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	f, err := c.resolve(args.Object)
	var have vfs.Access
	if err == nil {
		have, err = c.allowed(f, vfs.Access(args.Access))
	}
	var res ACCESS3res
	attr := c.left(f, err)
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	res.Resok.ObjAttributes, res.Resfail.ObjAttributes = attr, attr
	res.Resok.Access = uint32(have)
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

// allowed is what of want the caller may do with f.
func (c *call) allowed(f file, want vfs.Access) (have vfs.Access, err error) {
	if f.ReadOnly {
		want &^= vfs.AccessModify | vfs.AccessExtend | vfs.AccessDelete
	}
	if f.Caps.Access != nil {
		have, err = f.Caps.Access.Access(&c.vfs, f.obj, want)
		return have & want, err
	}
	if err := f.getattr(c, &c.seen); err != nil {
		return 0, err
	}
	return f.Caps.DefaultAccess(&c.vfs.Cred, &c.seen, want), nil
}

// missing is what a call is answered that the backend has no method for:
// ErrReadOnly if it can change nothing at all.
func missing(k *vfs.Capabilities) error {
	if k.Write == nil && k.Setattr == nil && k.Create == nil && k.Mkdir == nil && k.Symlink == nil && k.Mknod == nil &&
		k.Remove == nil && k.Rmdir == nil && k.Rename == nil && k.Link == nil {
		return vfs.ErrReadOnly
	}
	return vfs.ErrNotSupported
}
