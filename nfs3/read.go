package nfs3

import (
	"errors"
	"math"

	"eddy.example/bufpool"
	"eddy.example/rpc"
	"eddy.example/rpc/xdr"
	"eddy.example/vfs"
)

// read answers READ, RFC 1813 §3.3.6. The data are read into pages that the
// transport lends, or are memory or a file of the backend's own; they are
// copied nowhere.
func (c *call) read() error {
	var args READ3args
	if _, err := args.ConsumeXDR(c.Args); err != nil {
		return rpc.ErrGarbageArgs
	}
	n := int(min(args.Count, uint32(c.maxTransfer())))
	if left := math.MaxUint64 - args.Offset; uint64(n) > left {
		n = int(left)
	}
	f, err := c.resolve(args.File)
	var d data
	if err == nil {
		d, err = c.readData(f, args.Offset, n)
	}
	if c.wouldBlock(err) {
		return c.comeAgain(n)
	}
	var res READ3res
	attr := c.left(f, err)
	if res.Status, err = c.status(err); err != nil {
		d.release()
		return err
	}
	if res.Status != NFS3_OK {
		res.Resfail.FileAttributes = attr
		c.Reply(res.AppendXDR(c.Results(res.SizeXDR())))
		return nil
	}
	res.Resok = READ3resok{FileAttributes: attr, Count: uint32(d.n), Eof: d.eof}
	head := xdr.AppendUint32(c.Results(headSize), uint32(NFS3_OK))
	head = res.Resok.AppendXDRHead(head, uint32(d.n))
	switch {
	case d.n == 0:
		d.release()
		c.Reply(head)
	case d.own:
		c.ReplySegments(head, d.seg)
	default:
		c.ReplyPages(head, d.n)
	}
	return nil
}

// data are what a READ found: n bytes in the call's pages, or in seg if they
// are the backend's own.
type data struct {
	n   int
	eof bool
	own bool
	seg bufpool.Segment
}

// release lets go of a segment that is not sent.
func (d *data) release() {
	if d.own && d.seg.Owner != nil {
		d.seg.Owner.Release()
	}
	d.own = false
}

// readData reads n bytes at off.
func (c *call) readData(f file, off uint64, n int) (d data, err error) {
	if f.Caps.Segment != nil && n > 0 {
		d.seg, d.eof, err = f.Caps.Segment.ReadSegment(&c.vfs, f.obj, off, n)
		if err == nil {
			d.n, d.own = d.seg.Size(), true
			if d.n > n {
				d.release()
				return data{}, errFault
			}
			return d, nil
		}
		if !errors.Is(err, vfs.ErrNotSupported) {
			return data{}, err
		}
	}
	p, err := c.pages(n)
	if err != nil {
		return data{}, err
	}
	d.n, d.eof, err = f.FS.Read(&c.vfs, f.obj, p, off)
	if err == nil && (d.n < 0 || d.n > n) {
		err = errFault
	}
	return d, err
}

// pages lends n bytes of payload memory: none for n = 0.
func (c *call) pages(n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	return c.Pages(n)
}

// comeAgain is what a call returns that would block and needs n bytes of pages:
// they are lent here, on the worker, and taken along to where it may wait.
func (c *call) comeAgain(n int) error {
	if _, err := c.pages(n); err != nil {
		return err
	}
	return rpc.ErrWouldBlock
}

// maxTransfer is the longest READ or WRITE on this call's connection.
func (c *call) maxTransfer() int {
	if c.Conn.Datagram() {
		return MaxDatagramTransfer
	}
	return MaxTransfer
}
