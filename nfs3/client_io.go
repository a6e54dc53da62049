package nfs3

import (
	"context"

	"eddy.example/rpc/xdr"
)

// Read calls READ, RFC 1813 §3.3.6, for len(p) bytes at off. They are received
// into p, and Resok.Data is the part of p that was filled.
func (c *Client) Read(ctx context.Context, fh, p []byte, off uint64) (READ3res, error) {
	x := open[READ3args, READ3res](c, NFSPROC3_READ)
	x.args = READ3args{NFSFh3{fh}, off, uint32(len(p))}
	n, err := c.rpc.CallReceive(ctx, NFS_PROGRAM, NFS_V3, NFSPROC3_READ, c.cred, x.appender, (*readHead)(&x.res), p)
	x.status = x.res.Status
	res, err := x.close(err)
	if err == nil {
		res.Resok.Data = p[:n:n]
	}
	return res, err
}

// readHead is a READ3res that is decoded up to its data.
type readHead READ3res

func (r *readHead) ConsumeXDRHead(b []byte) (n uint32, rest []byte, err error) {
	status, b, err := xdr.ConsumeUint32(b)
	if err != nil {
		return 0, nil, err
	}
	if r.Status = NFSStat3(status); r.Status == NFS3_OK {
		return r.Resok.ConsumeXDRHead(b)
	}
	rest, err = r.Resfail.ConsumeXDR(b)
	return 0, rest, err
}

// Write calls WRITE, RFC 1813 §3.3.7, with p for off. p is sent from where it
// lies and must not change until Write returns.
func (c *Client) Write(ctx context.Context, fh, p []byte, off uint64, how StableHow) (WRITE3res, error) {
	x := open[WRITE3args, WRITE3res](c, NFSPROC3_WRITE)
	x.args = WRITE3args{File: NFSFh3{fh}, Offset: off, Count: uint32(len(p)), Stable: how}
	return x.close(c.rpc.CallSend(ctx, NFS_PROGRAM, NFS_V3, NFSPROC3_WRITE, c.cred, &x.args, p, x))
}
