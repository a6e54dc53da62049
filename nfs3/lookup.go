package nfs3

import (
	"eddy.example/rpc"
	"eddy.example/vfs"
)

// lookup answers LOOKUP, RFC 1813 §3.3.3.
func (c *call) lookup() error {
	var args LOOKUP3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	dir, err := c.resolve(args.What.Dir)
	found := file{Entry: dir.Entry}
	if err == nil {
		found.obj, err = c.find(dir, args.What.Name)
	}
	var res LOOKUP3res
	dirAttr := c.left(dir, err)
	if err == nil {
		res.Resok.ObjAttributes = c.known(found, &c.attr, err)
	}
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	res.Resok.DirAttributes, res.Resfail.DirAttributes = dirAttr, dirAttr
	if res.Status == NFS3_OK {
		res.Resok.Object = c.handle(found)
	}
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

// find looks name up in dir and fills c.attr with what the backend says about
// the object on the way.
func (c *call) find(dir file, name []byte) (vfs.Object, error) {
	s, err := dir.name(name)
	if err != nil {
		return nil, err
	}
	c.attr.Mask = 0
	return dir.FS.Lookup(&c.vfs, dir.obj, s, &c.attr)
}

// readlink answers READLINK, RFC 1813 §3.3.5.
func (c *call) readlink() error {
	var args READLINK3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	f, err := c.resolve(args.Symlink)
	var text string
	if err == nil {
		text, err = c.linkText(f)
	}
	var res READLINK3res
	attr := c.left(f, err)
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	res.Resok.SymlinkAttributes, res.Resfail.SymlinkAttributes = attr, attr
	res.Resok.Data = []byte(text)
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

// linkText is the text of the symbolic link f.
func (c *call) linkText(f file) (string, error) {
	if f.Caps.Readlink == nil {
		if err := f.getattr(c, &c.seen); err != nil {
			return "", err
		}
		if c.seen.Type != vfs.TypeSymlink {
			return "", vfs.ErrInvalid
		}
		return "", vfs.ErrNotSupported
	}
	text, err := f.Caps.Readlink.Readlink(&c.vfs, f.obj)
	if len(text) > maxLink {
		return "", errFault
	}
	return text, err
}
