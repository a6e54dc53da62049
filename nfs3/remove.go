package nfs3

import (
	"eddy.example/rpc"
	"eddy.example/vfs"
)

// remove answers REMOVE, RFC 1813 §3.3.12.
func (c *call) remove() error {
	var args REMOVE3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	dir, err := c.resolveToChange(args.Object.Dir)
	if err == nil {
		err = c.removeFile(dir, args.Object.Name)
	}
	return c.replyRemoved(dir, err)
}

func (c *call) removeFile(dir file, name []byte) error {
	s, err := dir.name(name)
	switch {
	case err != nil:
		return err
	case isDot(s):
		return vfs.ErrIsDir
	case dir.Caps.Remove == nil:
		return missing(&dir.Caps)
	}
	return dir.Caps.Remove.Remove(&c.vfs, dir.obj, s, &c.chg)
}

// rmdir answers RMDIR, RFC 1813 §3.3.13.
func (c *call) rmdir() error {
	var args RMDIR3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	dir, err := c.resolveToChange(args.Object.Dir)
	if err == nil {
		err = c.removeDir(dir, args.Object.Name)
	}
	return c.replyRemoved(dir, err)
}

func (c *call) removeDir(dir file, name []byte) error {
	s, err := dir.name(name)
	switch {
	case err != nil:
		return err
	case s == ".":
		return vfs.ErrInvalid
	case s == "..":
		return vfs.ErrExist
	case dir.Caps.Rmdir == nil:
		return missing(&dir.Caps)
	}
	return dir.Caps.Rmdir.Rmdir(&c.vfs, dir.obj, s, &c.chg)
}

// replyRemoved answers with what was done to dir. RMDIR3res is REMOVE3res by
// another name.
func (c *call) replyRemoved(dir file, err error) error {
	wcc := c.wcc(dir, &c.chg, err)
	var res REMOVE3res
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	res.Resok.DirWcc, res.Resfail.DirWcc = wcc, wcc
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

// rename answers RENAME, RFC 1813 §3.3.14.
func (c *call) rename() error {
	var args RENAME3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	var to file
	from, err := c.resolveToChange(args.From.Dir)
	if err == nil {
		to, err = c.resolveToChange(args.To.Dir)
	}
	if err == nil {
		err = c.renameEntry(from, to, args.From.Name, args.To.Name)
	}
	fromWcc, toWcc := c.wcc(from, &c.chg, err), c.wcc(to, &c.chg2, err)
	var res RENAME3res
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	res.Resok = RENAME3resok{FromdirWcc: fromWcc, TodirWcc: toWcc}
	res.Resfail = RENAME3resfail(res.Resok)
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

func (c *call) renameEntry(from, to file, fromName, toName []byte) error {
	if !from.Same(to.Entry) {
		return vfs.ErrCrossDevice
	}
	old, err := from.name(fromName)
	if err != nil {
		return err
	}
	name, err := to.name(toName)
	switch {
	case err != nil:
		return err
	case isDot(old) || isDot(name):
		return vfs.ErrInvalid
	case from.Caps.Rename == nil:
		return missing(&from.Caps)
	}
	return from.Caps.Rename.Rename(&c.vfs, from.obj, old, to.obj, name, &c.chg, &c.chg2)
}

// link answers LINK, RFC 1813 §3.3.15.
func (c *call) link() error {
	var args LINK3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	c.attr.Mask = 0
	var dir file
	f, err := c.resolveToChange(args.File)
	if err == nil {
		dir, err = c.resolveToChange(args.Link.Dir)
	}
	if err == nil {
		err = c.linkEntry(f, dir, args.Link.Name)
	}
	var attr PostOpAttr
	if f.obj != nil {
		attr = c.known(f, &c.attr, err)
	}
	wcc := c.wcc(dir, &c.chg, err)
	var res LINK3res
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	res.Resok = LINK3resok{FileAttributes: attr, LinkdirWcc: wcc}
	res.Resfail = LINK3resfail(res.Resok)
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

func (c *call) linkEntry(f, dir file, name []byte) error {
	if !f.Same(dir.Entry) {
		return vfs.ErrCrossDevice
	}
	s, err := dir.newName(name)
	switch {
	case err != nil:
		return err
	case dir.Caps.Link == nil:
		return missing(&dir.Caps)
	}
	return dir.Caps.Link.Link(&c.vfs, f.obj, dir.obj, s, &c.attr, &c.chg)
}
