package load

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// maxReply fits the longest reply that is asked for, 1 MiB of data.
const maxReply = 1<<20 + 64<<10

// conn is a connection with the handles that requests need.
type conn struct {
	client          *nfs3.Client
	root, file, dir []byte
	next            atomic.Int64 // block of the next sequential request
}

// open connects and looks up what c names.
func open(ctx context.Context, c *Config) (*conn, error) {
	client, err := dial(ctx, c)
	if err != nil {
		return nil, err
	}
	cn := &conn{client: client}
	if err := cn.find(ctx, c); err != nil {
		client.Close()
		return nil, err
	}
	return cn, nil
}

func dial(ctx context.Context, c *Config) (*nfs3.Client, error) {
	network := c.Network
	if network == "" {
		network = "tcp"
	}
	config := rpc.ClientConfig{MaxReply: maxReply}
	if c.Dial == nil {
		return nfs3.Dial(ctx, network, c.Addr, c.cred(), config)
	}
	nc, err := c.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return nfs3.NewClient(rpc.NewClient(nc, config), c.cred()), nil
}

func (cn *conn) find(ctx context.Context, c *Config) (err error) {
	if cn.root, err = mount(ctx, c, cn.client); err != nil {
		return fmt.Errorf("mounting %s: %w", c.Path, err)
	}
	cn.dir = cn.root
	for name, fh := range map[string]*[]byte{c.File: &cn.file, c.Dir: &cn.dir} {
		if name == "" {
			continue
		}
		found, err := cn.client.Lookup(ctx, cn.root, name)
		if err != nil {
			return fmt.Errorf("looking up %s: %w", name, err)
		}
		*fh = found.Resok.Object.Data
	}
	return nil
}

// mount returns the handle of the export, from wherever MOUNT is answered.
func mount(ctx context.Context, c *Config, nfs *nfs3.Client) ([]byte, error) {
	if c.MountAddr == "" {
		return nfs.Mount(ctx, c.Path)
	}
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", c.MountAddr)
	if err != nil {
		return nil, err
	}
	client := nfs3.NewClient(rpc.NewClient(nc, rpc.ClientConfig{}), c.cred())
	defer client.Close()
	return client.Mount(ctx, c.Path)
}
