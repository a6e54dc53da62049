package nfs3

import (
	"bytes"
	"context"

	"eddy.example/rpc"
)

// Mount calls MNT, RFC 1813 §5.2.1, and returns the handle of the directory
// path. A failure has the status of NFS with the same number.
func (c *Client) Mount(ctx context.Context, path string) (fh []byte, err error) {
	args := Dirpath(path)
	var res owned[Mountres3, *Mountres3]
	if err := c.mountCall(ctx, MOUNTPROC3_MNT, &args, &res); err != nil {
		return nil, err
	}
	if s := res.v.FhsStatus; s != MNT3_OK {
		return nil, &Error{MOUNTV3ProcName(MOUNTPROC3_MNT), NFSStat3(s)}
	}
	return res.v.Mountinfo.Fhandle, nil
}

// Unmount calls UMNT, RFC 1813 §5.2.3: the server forgets that path was mounted
// by this client.
func (c *Client) Unmount(ctx context.Context, path string) error {
	args := Dirpath(path)
	return c.mountCall(ctx, MOUNTPROC3_UMNT, &args, nil)
}

// UnmountAll calls UMNTALL, RFC 1813 §5.2.4: Unmount for all paths.
func (c *Client) UnmountAll(ctx context.Context) error {
	return c.mountCall(ctx, MOUNTPROC3_UMNTALL, nil, nil)
}

// Mounts calls DUMP, RFC 1813 §5.2.2: who has mounted what.
func (c *Client) Mounts(ctx context.Context) (Mountlist, error) {
	var res owned[Mountlist, *Mountlist]
	err := c.mountCall(ctx, MOUNTPROC3_DUMP, nil, &res)
	return res.v, err
}

// Exports calls EXPORT, RFC 1813 §5.2.5: what may be mounted by whom.
func (c *Client) Exports(ctx context.Context) (Exports, error) {
	var res owned[Exports, *Exports]
	err := c.mountCall(ctx, MOUNTPROC3_EXPORT, nil, &res)
	return res.v, err
}

func (c *Client) mountCall(ctx context.Context, proc uint32, args rpc.Appender, res rpc.Consumer) error {
	return c.rpc.Call(ctx, MOUNT_PROGRAM, MOUNT_V3, proc, c.cred, args, res)
}

// owned decodes a V from a copy of the reply, so that it may be kept.
type owned[V any, P interface {
	*V
	rpc.Consumer
}] struct{ v V }

func (o *owned[V, P]) ConsumeXDR(b []byte) ([]byte, error) {
	return P(&o.v).ConsumeXDR(bytes.Clone(b))
}
