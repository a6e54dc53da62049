package nfs3

import (
	"eddy.example/rpc"
	"eddy.example/vfs"
)

// create answers CREATE, RFC 1813 §3.3.8.
func (c *call) create() error {
	var args CREATE3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	dir, name, err := c.resolveNew(&args.Where)
	made := file{Entry: dir.Entry}
	if err == nil {
		made.obj, err = c.createFile(dir, name, &args.How)
	}
	return c.replyMade(dir, made, err)
}

func (c *call) createFile(dir file, name string, how *Createhow3) (vfs.Object, error) {
	if dir.Caps.Create == nil {
		return nil, missing(&dir.Caps)
	}
	if err := setAttr(&c.set, &how.ObjAttributes, dir.Caps.Limits.MaxFileSize); err != nil {
		return nil, err
	}
	return dir.Caps.Create.Create(&c.vfs, dir.obj, name, vfs.CreateMode(how.Mode), how.Verf, &c.set, &c.attr, &c.chg)
}

// mkdir answers MKDIR, RFC 1813 §3.3.9.
func (c *call) mkdir() error {
	var args MKDIR3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	dir, name, err := c.resolveNew(&args.Where)
	made := file{Entry: dir.Entry}
	if err == nil {
		made.obj, err = c.makeDir(dir, name, &args.Attributes)
	}
	return c.replyMade(dir, made, err)
}

func (c *call) makeDir(dir file, name string, attrs *Sattr3) (vfs.Object, error) {
	if dir.Caps.Mkdir == nil {
		return nil, missing(&dir.Caps)
	}
	if err := setAttr(&c.set, attrs, dir.Caps.Limits.MaxFileSize); err != nil {
		return nil, err
	}
	return dir.Caps.Mkdir.Mkdir(&c.vfs, dir.obj, name, &c.set, &c.attr, &c.chg)
}

// symlink answers SYMLINK, RFC 1813 §3.3.10.
func (c *call) symlink() error {
	var args SYMLINK3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	dir, name, err := c.resolveNew(&args.Where)
	made := file{Entry: dir.Entry}
	if err == nil {
		made.obj, err = c.makeLink(dir, name, &args.Symlink)
	}
	return c.replyMade(dir, made, err)
}

func (c *call) makeLink(dir file, name string, l *Symlinkdata3) (vfs.Object, error) {
	switch {
	case dir.Caps.Symlink == nil:
		return nil, missing(&dir.Caps)
	case len(l.SymlinkData) > maxLink:
		return nil, vfs.ErrNameTooLong
	}
	if err := setAttr(&c.set, &l.SymlinkAttributes, dir.Caps.Limits.MaxFileSize); err != nil {
		return nil, err
	}
	return dir.Caps.Symlink.Symlink(&c.vfs, dir.obj, name, string(l.SymlinkData), &c.set, &c.attr, &c.chg)
}

// mknod answers MKNOD, RFC 1813 §3.3.11.
func (c *call) mknod() error {
	var args MKNOD3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	dir, name, err := c.resolveNew(&args.Where)
	made := file{Entry: dir.Entry}
	if err == nil {
		made.obj, err = c.makeNode(dir, name, &args.What)
	}
	return c.replyMade(dir, made, err)
}

func (c *call) makeNode(dir file, name string, what *Mknoddata3) (vfs.Object, error) {
	if dir.Caps.Mknod == nil {
		return nil, missing(&dir.Caps)
	}
	attrs, dev := &what.PipeAttributes, Specdata3{}
	switch what.Type {
	case NF3CHR, NF3BLK:
		attrs, dev = &what.Device.DevAttributes, what.Device.Spec
	case NF3SOCK, NF3FIFO:
	default:
		return nil, vfs.ErrBadType
	}
	if err := setAttr(&c.set, attrs, dir.Caps.Limits.MaxFileSize); err != nil {
		return nil, err
	}
	return dir.Caps.Mknod.Mknod(&c.vfs, dir.obj, name, vfs.Type(what.Type), dev.Specdata1, dev.Specdata2, &c.set, &c.attr, &c.chg)
}

// resolveNew finds the directory and checks the name of something that is to be made.
func (c *call) resolveNew(where *Diropargs3) (dir file, name string, err error) {
	if dir, err = c.resolveToChange(where.Dir); err != nil {
		return dir, "", err
	}
	c.attr.Mask = 0
	name, err = dir.newName(where.Name)
	return dir, name, err
}

// replyMade answers with what was made in dir, whose attributes are in c.attr
// and whose change of dir in c.chg. MKDIR3res, SYMLINK3res and MKNOD3res are
// CREATE3res by other names.
func (c *call) replyMade(dir, made file, err error) error {
	wcc := c.wcc(dir, &c.chg, err)
	var res CREATE3res
	if err == nil {
		res.Resok.Obj = PostOpFh3{HandleFollows: true, Handle: c.handle(made)}
		res.Resok.ObjAttributes = c.known(made, &c.attr, err)
	}
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	res.Resok.DirWcc, res.Resfail.DirWcc = wcc, wcc
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}
