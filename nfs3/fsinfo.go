package nfs3

import (
	"math"

	"eddy.example/rpc"
	"eddy.example/vfs"
)

// fsstat answers FSSTAT, RFC 1813 §3.3.18. A backend that does not tell its size
// is reported as full if nothing can be written there anyway, else as
// boundless, so that no client refuses to try.
func (c *call) fsstat() error {
	var args FSSTAT3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	f, err := c.resolve(args.Fsroot)
	c.stat = vfs.Statfs{}
	switch {
	case err != nil:
	case f.Caps.Statfs != nil:
		err = f.Caps.Statfs.Statfs(&c.vfs, f.obj, &c.stat)
	case f.Caps.Write != nil && !f.ReadOnly:
		const most = math.MaxInt64
		c.stat = vfs.Statfs{TotalBytes: most, FreeBytes: most, AvailBytes: most, TotalFiles: most, FreeFiles: most, AvailFiles: most}
	}
	attr := c.postOp(f, &c.attr, err)
	var res FSSTAT3res
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	res.Resok = FSSTAT3resok{
		ObjAttributes: attr,
		Tbytes:        c.stat.TotalBytes,
		Fbytes:        c.stat.FreeBytes,
		Abytes:        c.stat.AvailBytes,
		Tfiles:        c.stat.TotalFiles,
		Ffiles:        c.stat.FreeFiles,
		Afiles:        c.stat.AvailFiles,
	}
	res.Resfail.ObjAttributes = attr
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

// fsinfo answers FSINFO, RFC 1813 §3.3.19.
func (c *call) fsinfo() error {
	var args FSINFO3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	f, err := c.resolve(args.Fsroot)
	attr := c.postOp(f, &c.attr, err)
	var res FSINFO3res
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	if res.Status == NFS3_OK {
		most, page := uint32(c.maxTransfer()), uint32(4096)
		res.Resok = FSINFO3resok{
			ObjAttributes: attr,
			Rtmax:         most, Rtpref: most, Rtmult: page,
			Wtmax: most, Wtpref: most, Wtmult: page,
			Dtpref:      uint32(c.maxListing()),
			Maxfilesize: f.Caps.Limits.MaxFileSize,
			TimeDelta:   nfstime3(delta(f.Caps.Limits.TimeDelta)),
			Properties:  properties(&f.Caps),
		}
	}
	res.Resfail.ObjAttributes = attr
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

// delta is ns nanoseconds.
func delta(ns uint32) vfs.Time {
	return vfs.Time{Sec: int64(ns / 1e9), Nsec: ns % 1e9}
}

func properties(k *vfs.Capabilities) uint32 {
	p := uint32(FSF3_HOMOGENEOUS)
	if k.Link != nil {
		p |= FSF3_LINK
	}
	if k.Symlink != nil || k.Readlink != nil {
		p |= FSF3_SYMLINK
	}
	if k.Setattr != nil {
		p |= FSF3_CANSETTIME
	}
	return p
}

// pathconf answers PATHCONF, RFC 1813 §3.3.20.
func (c *call) pathconf() error {
	var args PATHCONF3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	f, err := c.resolve(args.Object)
	attr := c.postOp(f, &c.attr, err)
	var res PATHCONF3res
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	if res.Status == NFS3_OK {
		l := &f.Caps.Limits
		res.Resok = PATHCONF3resok{
			ObjAttributes:   attr,
			Linkmax:         l.MaxLink,
			NameMax:         min(l.MaxName, vfs.MaxName),
			NoTrunc:         l.NoTrunc,
			ChownRestricted: l.ChownRestricted,
			CaseInsensitive: l.CaseInsensitive,
			CasePreserving:  l.CasePreserving,
		}
	}
	res.Resfail.ObjAttributes = attr
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}
