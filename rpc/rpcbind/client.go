package rpcbind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"eddy.example/rpc"
	"eddy.example/rpc/xdr"
)

// Port is where program 100000 listens, TCP and UDP.
const Port = PMAP_PORT

// SystemSocket is where the system's rpcbind listens for programs of its own
// machine: it knows their user there.
const SystemSocket = "/run/rpcbind.sock"

// maxReply bounds what a Client takes.
const maxReply = 256 << 10

// Client asks a server of program 100000. Any number of goroutines may do so at
// once. What is in a result belongs to the caller.
type Client struct{ rpc *rpc.Client }

// NewClient returns a client that makes its calls through r.
func NewClient(r *rpc.Client) *Client { return &Client{r} }

// Dial connects to the server at addr: a host, with a port if that is not
// [Port], or the path of a socket if network is "unix".
func Dial(ctx context.Context, network, addr string) (*Client, error) {
	if network != "unix" {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			addr = net.JoinHostPort(addr, strconv.Itoa(Port))
		}
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return NewClient(rpc.NewClient(conn, rpc.ClientConfig{MaxReply: maxReply})), nil
}

// Close closes the connection.
func (c *Client) Close() error { return c.rpc.Close() }

// Null calls NULL.
func (c *Client) Null(ctx context.Context) error {
	return c.rpc.Call(ctx, RPCBPROG, PMAPVERS, PMAPPROC_NULL, nil, nil, nil)
}

// GetPort calls version 2's GETPORT: the port of a program over network, "tcp"
// or "udp"; 0 if there is none.
func (c *Client) GetPort(ctx context.Context, prog, vers uint32, network string) (uint16, error) {
	args := Mapping{Prog: prog, Vers: vers, Prot: IPPROTO_TCP}
	if network == "udp" {
		args.Prot = IPPROTO_UDP
	}
	var port word
	err := c.rpc.Call(ctx, RPCBPROG, PMAPVERS, PMAPPROC_GETPORT, nil, &args, &port)
	if err == nil && port > 0xffff {
		err = fmt.Errorf("rpcbind: GETPORT: %w: port %d", rpc.ErrBadReply, port)
	}
	return uint16(port), err
}

// GetAddr calls version 4's GETVERSADDR: where exactly this version of a program is
// over the connection's own transport. The zero AddrPort is nowhere.
func (c *Client) GetAddr(ctx context.Context, prog, vers uint32, network string) (netip.AddrPort, error) {
	args := Rpcb{RProg: prog, RVers: vers, RNetid: []byte(network)}
	var u owned[Uaddr, *Uaddr]
	err := c.rpc.Call(ctx, RPCBPROG, RPCBVERS4, RPCBPROC4_GETVERSADDR, nil, &args, &u)
	if err != nil || len(u.v) == 0 {
		return netip.AddrPort{}, err
	}
	a, err := ParseUaddr(string(u.v))
	if err != nil {
		err = fmt.Errorf("rpcbind: GETVERSADDR: %w: %q", err, u.v)
	}
	return a, err
}

// Dump returns all entries: with version 4, or with version 2 where that is
// all there is.
func (c *Client) Dump(ctx context.Context) ([]Entry, error) {
	var res owned[RpcblistPtr, *RpcblistPtr]
	err := c.rpc.Call(ctx, RPCBPROG, RPCBVERS4, RPCBPROC4_DUMP, nil, nil, &res)
	if errors.Is(err, rpc.ErrProgMismatch) {
		return c.dump2(ctx)
	}
	var list []Entry
	for i := range res.v {
		list = append(list, entryOf(&res.v[i].RpcbMap))
	}
	return list, err
}

func (c *Client) dump2(ctx context.Context) ([]Entry, error) {
	var res owned[PmaplistPtr, *PmaplistPtr]
	err := c.rpc.Call(ctx, RPCBPROG, PMAPVERS, PMAPPROC_DUMP, nil, nil, &res)
	var list []Entry
	for _, m := range res.v {
		if network := networkOf(m.Map.Prot); network != "" {
			a := netip.AddrPortFrom(netip.IPv4Unspecified(), uint16(m.Map.Port))
			list = append(list, Entry{Prog: m.Map.Prog, Vers: m.Map.Vers, Network: network, Addr: a})
		}
	}
	return list, err
}

// Set calls SET: with version 4, or with version 2 where that is all there is.
// false: the server has such an entry already, or does not take one from here.
func (c *Client) Set(ctx context.Context, e Entry) (bool, error) {
	return c.change(ctx, RPCBPROC4_SET, PMAPPROC_SET, e)
}

// Unset calls UNSET, as Set does: for the entry's network only with version 4,
// for all of them with version 2.
func (c *Client) Unset(ctx context.Context, e Entry) (bool, error) {
	return c.change(ctx, RPCBPROC4_UNSET, PMAPPROC_UNSET, e)
}

func (c *Client) change(ctx context.Context, proc, proc2 uint32, e Entry) (bool, error) {
	args := e.rpcb()
	var done word
	err := c.rpc.Call(ctx, RPCBPROG, RPCBVERS4, proc, nil, &args, &done)
	if errors.Is(err, rpc.ErrProgMismatch) {
		m, ok := e.mapping()
		if !ok {
			return false, nil
		}
		err = c.rpc.Call(ctx, RPCBPROG, PMAPVERS, proc2, nil, &m, &done)
	}
	return done != 0, err
}

// GetPort asks the host for the port of a program over network, "tcp" or "udp",
// by TCP; 0 if it has none. host may have a port of its own.
func GetPort(ctx context.Context, host string, prog, vers uint32, network string) (uint16, error) {
	c, err := Dial(ctx, "tcp", host)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	return c.GetPort(ctx, prog, vers, network)
}

// Dump asks the host, by TCP, for all entries.
func Dump(ctx context.Context, host string) ([]Entry, error) {
	c, err := Dial(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Dump(ctx)
}

// word is a number or a boolean as a result.
type word uint32

func (w *word) ConsumeXDR(b []byte) ([]byte, error) {
	v, b, err := xdr.ConsumeUint32(b)
	*w = word(v)
	return b, err
}

// owned decodes a V from a copy of the reply, so that it may be kept.
type owned[V any, P interface {
	*V
	rpc.Consumer
}] struct{ v V }

func (o *owned[V, P]) ConsumeXDR(b []byte) ([]byte, error) {
	return P(&o.v).ConsumeXDR(bytes.Clone(b))
}
