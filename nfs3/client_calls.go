package nfs3

import "context"

// Null calls NULL, RFC 1813 §3.3.0.
func (c *Client) Null(ctx context.Context) error {
	return c.rpc.Call(ctx, NFS_PROGRAM, NFS_V3, NFSPROC3_NULL, nil, nil, nil)
}

// Getattr calls GETATTR, RFC 1813 §3.3.1.
func (c *Client) Getattr(ctx context.Context, fh []byte) (GETATTR3res, error) {
	x := open[GETATTR3args, GETATTR3res](c, NFSPROC3_GETATTR)
	x.args.Object.Data = fh
	return x.do(ctx)
}

// Setattr calls SETATTR, RFC 1813 §3.3.2. If guard is not nil the object's
// ctime must be *guard.
func (c *Client) Setattr(ctx context.Context, fh []byte, attrs *Sattr3, guard *NFSTime3) (SETATTR3res, error) {
	x := open[SETATTR3args, SETATTR3res](c, NFSPROC3_SETATTR)
	x.args.Object.Data = fh
	x.args.NewAttributes = *attrs
	if guard != nil {
		x.args.Guard = Sattrguard3{Check: true, ObjCtime: *guard}
	}
	return x.do(ctx)
}

// Lookup calls LOOKUP, RFC 1813 §3.3.3.
func (c *Client) Lookup(ctx context.Context, dir []byte, name string) (LOOKUP3res, error) {
	x := open[LOOKUP3args, LOOKUP3res](c, NFSPROC3_LOOKUP)
	x.args.What = Diropargs3{NFSFh3{dir}, x.name(0, name)}
	return x.do(ctx)
}

// Access calls ACCESS, RFC 1813 §3.3.4. want is made of the ACCESS3 bits.
func (c *Client) Access(ctx context.Context, fh []byte, want uint32) (ACCESS3res, error) {
	x := open[ACCESS3args, ACCESS3res](c, NFSPROC3_ACCESS)
	x.args = ACCESS3args{NFSFh3{fh}, want}
	return x.do(ctx)
}

// Readlink calls READLINK, RFC 1813 §3.3.5.
func (c *Client) Readlink(ctx context.Context, fh []byte) (READLINK3res, error) {
	x := open[READLINK3args, READLINK3res](c, NFSPROC3_READLINK)
	x.args.Symlink.Data = fh
	return x.do(ctx)
}

// Create calls CREATE, RFC 1813 §3.3.8.
func (c *Client) Create(ctx context.Context, dir []byte, name string, how *Createhow3) (CREATE3res, error) {
	x := open[CREATE3args, CREATE3res](c, NFSPROC3_CREATE)
	x.args = CREATE3args{Diropargs3{NFSFh3{dir}, x.name(0, name)}, *how}
	return x.do(ctx)
}

// Mkdir calls MKDIR, RFC 1813 §3.3.9.
func (c *Client) Mkdir(ctx context.Context, dir []byte, name string, attrs *Sattr3) (MKDIR3res, error) {
	x := open[MKDIR3args, MKDIR3res](c, NFSPROC3_MKDIR)
	x.args = MKDIR3args{Diropargs3{NFSFh3{dir}, x.name(0, name)}, *attrs}
	return x.do(ctx)
}

// Symlink calls SYMLINK, RFC 1813 §3.3.10.
func (c *Client) Symlink(ctx context.Context, dir []byte, name, text string, attrs *Sattr3) (SYMLINK3res, error) {
	x := open[SYMLINK3args, SYMLINK3res](c, NFSPROC3_SYMLINK)
	x.args.Where = Diropargs3{NFSFh3{dir}, x.name(0, name)}
	x.args.Symlink = Symlinkdata3{*attrs, NFSPath3(x.name(1, text))}
	return x.do(ctx)
}

// Mknod calls MKNOD, RFC 1813 §3.3.11.
func (c *Client) Mknod(ctx context.Context, dir []byte, name string, what *Mknoddata3) (MKNOD3res, error) {
	x := open[MKNOD3args, MKNOD3res](c, NFSPROC3_MKNOD)
	x.args = MKNOD3args{Diropargs3{NFSFh3{dir}, x.name(0, name)}, *what}
	return x.do(ctx)
}

// Remove calls REMOVE, RFC 1813 §3.3.12.
func (c *Client) Remove(ctx context.Context, dir []byte, name string) (REMOVE3res, error) {
	x := open[REMOVE3args, REMOVE3res](c, NFSPROC3_REMOVE)
	x.args.Object = Diropargs3{NFSFh3{dir}, x.name(0, name)}
	return x.do(ctx)
}

// Rmdir calls RMDIR, RFC 1813 §3.3.13.
func (c *Client) Rmdir(ctx context.Context, dir []byte, name string) (RMDIR3res, error) {
	x := open[RMDIR3args, RMDIR3res](c, NFSPROC3_RMDIR)
	x.args.Object = Diropargs3{NFSFh3{dir}, x.name(0, name)}
	return x.do(ctx)
}

// Rename calls RENAME, RFC 1813 §3.3.14.
func (c *Client) Rename(ctx context.Context, from []byte, fromName string, to []byte, toName string) (RENAME3res, error) {
	x := open[RENAME3args, RENAME3res](c, NFSPROC3_RENAME)
	x.args.From = Diropargs3{NFSFh3{from}, x.name(0, fromName)}
	x.args.To = Diropargs3{NFSFh3{to}, x.name(1, toName)}
	return x.do(ctx)
}

// Link calls LINK, RFC 1813 §3.3.15.
func (c *Client) Link(ctx context.Context, fh, dir []byte, name string) (LINK3res, error) {
	x := open[LINK3args, LINK3res](c, NFSPROC3_LINK)
	x.args = LINK3args{NFSFh3{fh}, Diropargs3{NFSFh3{dir}, x.name(0, name)}}
	return x.do(ctx)
}

// Readdir calls READDIR, RFC 1813 §3.3.16: the page after cookie, which came
// with verf, in at most count bytes. Both are zero at the beginning.
func (c *Client) Readdir(ctx context.Context, dir []byte, cookie uint64, verf Cookieverf3, count uint32) (READDIR3res, error) {
	x := open[READDIR3args, READDIR3res](c, NFSPROC3_READDIR)
	x.args = READDIR3args{NFSFh3{dir}, cookie, verf, count}
	return x.do(ctx)
}

// Readdirplus calls READDIRPLUS, RFC 1813 §3.3.17: the page after cookie, which
// came with verf, in at most maxcount bytes, dircount of which are names,
// fileids and cookies.
func (c *Client) Readdirplus(ctx context.Context, dir []byte, cookie uint64, verf Cookieverf3, dircount, maxcount uint32) (READDIRPLUS3res, error) {
	x := open[READDIRPLUS3args, READDIRPLUS3res](c, NFSPROC3_READDIRPLUS)
	x.args = READDIRPLUS3args{NFSFh3{dir}, cookie, verf, dircount, maxcount}
	return x.do(ctx)
}

// Fsstat calls FSSTAT, RFC 1813 §3.3.18.
func (c *Client) Fsstat(ctx context.Context, fh []byte) (FSSTAT3res, error) {
	x := open[FSSTAT3args, FSSTAT3res](c, NFSPROC3_FSSTAT)
	x.args.Fsroot.Data = fh
	return x.do(ctx)
}

// Fsinfo calls FSINFO, RFC 1813 §3.3.19.
func (c *Client) Fsinfo(ctx context.Context, fh []byte) (FSINFO3res, error) {
	x := open[FSINFO3args, FSINFO3res](c, NFSPROC3_FSINFO)
	x.args.Fsroot.Data = fh
	return x.do(ctx)
}

// Pathconf calls PATHCONF, RFC 1813 §3.3.20.
func (c *Client) Pathconf(ctx context.Context, fh []byte) (PATHCONF3res, error) {
	x := open[PATHCONF3args, PATHCONF3res](c, NFSPROC3_PATHCONF)
	x.args.Object.Data = fh
	return x.do(ctx)
}

// Commit calls COMMIT, RFC 1813 §3.3.21, for count bytes at off; 0: to the end.
func (c *Client) Commit(ctx context.Context, fh []byte, off uint64, count uint32) (COMMIT3res, error) {
	x := open[COMMIT3args, COMMIT3res](c, NFSPROC3_COMMIT)
	x.args = COMMIT3args{NFSFh3{fh}, off, count}
	return x.do(ctx)
}
