package nfs3

import (
	"eddy.example/rpc"
	"eddy.example/vfs"
)

// write answers WRITE, RFC 1813 §3.3.7. count says how much is to be written,
// the length of the data how much there is: a count beyond the data is
// INVAL, data beyond the count are left alone.
func (c *call) write() error {
	var args WRITE3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	f, err := c.resolveToChange(args.File)
	var ok WRITE3resok
	if err == nil {
		err = c.writeData(f, &args, &ok)
	}
	wcc := c.wcc(f, &c.chg, err)
	var res WRITE3res
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	ok.FileWcc, res.Resfail.FileWcc = wcc, wcc
	res.Resok = ok
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

// writeData writes what args say and fills in all of ok but the attributes.
func (c *call) writeData(f file, args *WRITE3args, ok *WRITE3resok) error {
	max := f.Caps.Limits.MaxFileSize
	switch n := uint64(args.Count); {
	case f.Caps.Write == nil:
		return missing(&f.Caps)
	case n > uint64(len(args.Data)):
		return vfs.ErrInvalid
	case n > 0 && (n > max || args.Offset > max-n):
		return vfs.ErrFileTooBig
	}
	data := args.Data[:min(int(args.Count), c.maxTransfer())]
	off := min(args.Offset, max) // nothing may be written anywhere
	how := vfs.Stability(args.Stable)
	need := how
	if f.Caps.Commit == nil {
		need = vfs.FileSync
	}
	n, did, verf, err := f.Caps.Write.Write(&c.vfs, f.obj, data, off, how, &c.chg)
	switch {
	case n < 0 || n > len(data):
		return errFault
	case n == 0 && err != nil:
		return err
	case n == 0 && len(data) > 0:
		return vfs.ErrIO
	case did < need || did > vfs.FileSync:
		// The data are not as safe as the client would have to be told.
		if err == nil {
			err = vfs.ErrIO
		}
		return err
	}
	if f.Caps.Commit == nil {
		verf = vfs.Verifier{}
	}
	// An error after a part shows again when the client writes the rest.
	ok.Count, ok.Committed, ok.Verf = uint32(n), StableHow(did), Writeverf3(verf)
	return nil
}

// commit answers COMMIT, RFC 1813 §3.3.21. A backend that is no
// vfs.Committer has no data that could be lost; its verifier is zero.
func (c *call) commit() error {
	var args COMMIT3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	f, err := c.resolve(args.File)
	var verf vfs.Verifier
	if err == nil {
		verf, err = c.commitData(f, args.Offset, uint64(args.Count))
	}
	wcc := c.wcc(f, &c.chg, err)
	var res COMMIT3res
	if res.Status, err = c.status(err); err != nil {
		return err
	}
	res.Resok = COMMIT3resok{FileWcc: wcc, Verf: Writeverf3(verf)}
	res.Resfail.FileWcc = wcc
	c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
	return nil
}

func (c *call) commitData(f file, off, n uint64) (vfs.Verifier, error) {
	if f.Caps.Commit != nil {
		if off+n < off {
			n = 0 // to the end
		}
		return f.Caps.Commit.Commit(&c.vfs, f.obj, off, n, &c.chg)
	}
	if err := f.getattr(c, &c.attr); err != nil {
		return vfs.Verifier{}, err
	}
	if c.attr.Type != vfs.TypeRegular {
		return vfs.Verifier{}, vfs.ErrInvalid
	}
	return vfs.Verifier{}, nil
}
