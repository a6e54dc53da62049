package rpcbind

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"eddy.example/rpc"
)

// ErrTaken is wrapped, with who has it, when a program is registered already
// and answers there, or may not be registered from here.
var ErrTaken = errors.New("rpcbind: registration refused")

// DialSystem connects to the rpcbind of this machine: at [SystemSocket], where
// it knows the user and remembers whose an entry is, or else by TCP.
func DialSystem(ctx context.Context) (*Client, error) {
	c, err := Dial(ctx, "unix", SystemSocket)
	if err == nil {
		return c, nil
	}
	c, err2 := Dial(ctx, "tcp", "127.0.0.1")
	if err2 != nil {
		return nil, fmt.Errorf("no rpcbind runs on this machine: %w", errors.Join(err, err2))
	}
	return c, nil
}

// Register enters services with the rpcbind of this machine. What has been
// left behind by a program that does not answer any more is replaced. If it
// fails nothing of entries stays registered.
func Register(ctx context.Context, entries []Entry) error {
	c, err := DialSystem(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Register(ctx, entries)
}

// Unregister takes away what Register has entered.
func Unregister(ctx context.Context, entries []Entry) error {
	c, err := DialSystem(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Unregister(ctx, entries)
}

// Register is [Register] with the server of c. Program 100000 is left out: that
// is the server itself.
func (c *Client) Register(ctx context.Context, entries []Entry) error {
	entries = others(entries)
	for i, e := range entries {
		if err := c.enter(ctx, e); err != nil {
			return errors.Join(err, c.Unregister(ctx, entries[:i]))
		}
	}
	return nil
}

// Unregister is [Unregister] with the server of c. All entries are tried.
func (c *Client) Unregister(ctx context.Context, entries []Entry) error {
	var errs []error
	for _, e := range others(entries) {
		if _, err := c.Unset(ctx, e); err != nil {
			errs = append(errs, fmt.Errorf("rpcbind: UNSET: %w", err))
		}
	}
	return errors.Join(errs...)
}

// others are the entries that are not the binding program's own.
func others(entries []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool { return e.Prog == RPCBPROG })
}

func (c *Client) enter(ctx context.Context, e Entry) error {
	ok, err := c.Set(ctx, e)
	if err != nil {
		return fmt.Errorf("rpcbind: SET: %w", err)
	}
	if ok {
		return nil
	}
	list, err := c.Dump(ctx)
	if err != nil {
		return fmt.Errorf("rpcbind: DUMP: %w", err)
	}
	i := slices.IndexFunc(list, func(o Entry) bool {
		return o.Prog == e.Prog && o.Vers == e.Vers && o.Network == e.Network
	})
	if i < 0 {
		return fmt.Errorf("%w: program %d version %d over %s", ErrTaken, e.Prog, e.Vers, e.Network)
	}
	had := list[i]
	if had.Addr == e.Addr {
		return nil
	}
	if abandoned(ctx, had) {
		if _, err := c.Unset(ctx, had); err != nil {
			return fmt.Errorf("rpcbind: UNSET: %w", err)
		}
		if ok, err = c.Set(ctx, e); err == nil && ok {
			return nil
		}
	}
	return fmt.Errorf("%w: program %d version %d over %s is registered at %s by %q",
		ErrTaken, e.Prog, e.Vers, e.Network, had.Addr, had.Owner)
}

// probeTime is how long an abandoned service may take not to answer.
const probeTime = 2 * time.Second

// abandoned tells whether certainly nobody listens where e says.
func abandoned(ctx context.Context, e Entry) bool {
	if !e.Addr.IsValid() {
		return false
	}
	a := e.Addr
	switch ip := a.Addr(); {
	case ip == netip.IPv4Unspecified():
		a = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port())
	case ip.IsUnspecified():
		a = netip.AddrPortFrom(netip.IPv6Loopback(), a.Port())
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, strings.TrimSuffix(e.Network, "6"), a.String())
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED)
	}
	c := rpc.NewClient(conn, rpc.ClientConfig{})
	defer c.Close()
	return errors.Is(c.Call(ctx, e.Prog, e.Vers, 0, nil, nil, nil), syscall.ECONNREFUSED)
}
