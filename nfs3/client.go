package nfs3

import (
	"bytes"
	"context"
	"net"
	"sync"

	"eddy.example/rpc"
	"eddy.example/rpc/xdr"
)

// Client speaks to a server of NFS version 3, and to its MOUNT program if that
// is on the same connection. Any number of calls may be on their way at once.
//
// Each procedure is a method that returns the protocol's own result. A status
// other than NFS3_OK is also an error, an [*Error]; the result then holds what
// the server sent along with it in Resfail. All else that can go wrong is an
// error of package rpc or of the context, and the result is empty.
//
// Handles and names are only read, and only until the method returns. What
// is in a result belongs to the caller. A call allocates nothing, but for
// results with variable-length data (handles, link texts, entries): one copy of
// the reply.
type Client struct {
	rpc       *rpc.Client
	cred      *rpc.Cred
	exchanges [NFSPROC3_COMMIT + 1]sync.Pool // by procedure, of its *exchange
}

// NewClient returns a client that makes its calls through r, with credential
// cred (nil: AUTH_NONE). cred must not change any more.
func NewClient(r *rpc.Client, cred *rpc.Cred) *Client { return &Client{rpc: r, cred: cred} }

// Dial connects to the server at addr, as net.Dialer does, and returns a client
// that calls with credential cred (nil: AUTH_NONE).
func Dial(ctx context.Context, network, addr string, cred *rpc.Cred, config rpc.ClientConfig) (*Client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return NewClient(rpc.NewClient(conn, config), cred), nil
}

// Close closes the connection. Calls on their way fail.
func (c *Client) Close() error { return c.rpc.Close() }

// exchange is a call and its reply. It is used again, so that a call costs no
// allocation.
type exchange[A, R any] struct {
	c      *Client
	proc   uint32
	args   A
	res    R
	status NFSStat3
	names  [2][]byte

	appender rpc.Appender // args
	consumer rpc.Consumer // res
	clone    bool         // res refers to the bytes it is decoded from
}

// open returns an exchange for a procedure: fill in args, then call do.
func open[A, R any, PA interface {
	*A
	rpc.Appender
}, PR interface {
	*R
	rpc.Consumer
}](c *Client, proc uint32) *exchange[A, R] {
	x, _ := c.exchanges[proc].Get().(*exchange[A, R])
	if x == nil {
		x = &exchange[A, R]{c: c, proc: proc}
		x.appender, x.consumer = PA(&x.args), PR(&x.res)
		switch proc {
		case NFSPROC3_LOOKUP, NFSPROC3_READLINK, NFSPROC3_CREATE, NFSPROC3_MKDIR, NFSPROC3_SYMLINK, NFSPROC3_MKNOD,
			NFSPROC3_READDIR, NFSPROC3_READDIRPLUS:
			x.clone = true
		}
	}
	return x
}

// do makes the call and closes the exchange.
func (x *exchange[A, R]) do(ctx context.Context) (R, error) {
	err := x.c.rpc.Call(ctx, NFS_PROGRAM, NFS_V3, x.proc, x.c.cred, x.appender, x)
	return x.close(err)
}

// close gives x back and returns what came of the call.
func (x *exchange[A, R]) close(err error) (R, error) {
	var none R
	res := x.res
	switch {
	case err != nil:
		res = none
	case x.status != NFS3_OK:
		err = &Error{NFSV3ProcName(x.proc), x.status}
	}
	var noArgs A
	x.args, x.res, x.status = noArgs, none, NFS3_OK
	x.c.exchanges[x.proc].Put(x)
	return res, err
}

// ConsumeXDR decodes the reply.
func (x *exchange[A, R]) ConsumeXDR(b []byte) ([]byte, error) {
	if x.clone {
		b = bytes.Clone(b)
	}
	status, _, err := xdr.ConsumeUint32(b)
	if err != nil {
		return nil, err
	}
	x.status = NFSStat3(status)
	return x.consumer.ConsumeXDR(b)
}

// name returns s as it goes into the arguments, in memory of the exchange. i
// tells two names of one call apart.
func (x *exchange[A, R]) name(i int, s string) Filename3 {
	x.names[i] = append(x.names[i][:0], s...)
	return x.names[i]
}
