package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// Op is what a request does.
type Op string

// The operations. Read and Write go through the file in order, RandRead and
// RandWrite pick blocks at random.
const (
	Null      Op = "null"
	Getattr   Op = "getattr"
	Read      Op = "read"
	RandRead  Op = "randread"
	Write     Op = "write"
	RandWrite Op = "randwrite"
)

// Config describes a load.
type Config struct {
	// Addr is the server's TCP address, for NFS and MOUNT.
	Addr string

	// Path is the export, File a file in its root and FileBytes that file's size,
	// at least Size. [Fill] makes it.
	Path, File string
	FileBytes  int64

	// Op is done with Size bytes by Depth requests at a time on each of Conns connections.
	Op           Op
	Size         int
	Conns, Depth int

	// Duration is for how long requests are sent.
	Duration time.Duration

	// Cred is who the client says it is; nil: user 0, group 0.
	Cred *rpc.Cred
}

// Result is what came of a load.
type Result struct {
	Ops, Bytes int64
	Elapsed    time.Duration

	// P50 and P99 are quantiles of the time from sending a request to its answer.
	P50, P99 time.Duration
}

// longest is the longest latency that is told from longer ones.
const longest = int64(time.Minute)

// Run does what c says. It fails if any request does.
func Run(ctx context.Context, c Config) (Result, error) {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		all  = hdrhistogram.New(1, longest, 3)
		errs []error
	)
	conns := make([]*conn, c.Conns)
	for i := range conns {
		var err error
		if conns[i], err = dial(ctx, &c); err != nil {
			return Result{}, err
		}
		defer conns[i].client.Close()
	}
	var ops atomic.Int64
	start := time.Now()
	deadline := start.Add(c.Duration)
	for i, cn := range conns {
		cn.next.Store(int64(i) * c.blocks() / int64(c.Conns))
		for j := range c.Depth {
			wg.Go(func() {
				h := hdrhistogram.New(1, longest, 3)
				n, err := cn.loop(ctx, &c, rand.New(rand.NewPCG(uint64(i), uint64(j))), deadline, h)
				ops.Add(n)
				mu.Lock()
				defer mu.Unlock()
				all.Merge(h)
				errs = append(errs, err)
			})
		}
	}
	wg.Wait()
	r := Result{
		Ops:     ops.Load(),
		Elapsed: time.Since(start),
		P50:     time.Duration(all.ValueAtQuantile(50)),
		P99:     time.Duration(all.ValueAtQuantile(99)),
	}
	if c.Op != Null && c.Op != Getattr {
		r.Bytes = r.Ops * int64(c.Size)
	}
	return r, errors.Join(errs...)
}

// blocks is how many requests of Size the file holds.
func (c *Config) blocks() int64 {
	if c.Size == 0 {
		return 1
	}
	return max(1, c.FileBytes/int64(c.Size))
}

// conn is a connection with the file's handle.
type conn struct {
	client *nfs3.Client
	fh     []byte
	next   atomic.Int64 // block of the next sequential request
}

func dial(ctx context.Context, c *Config) (*conn, error) {
	cred := c.Cred
	if cred == nil {
		cred = &rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: []byte("load")}
	}
	client, err := nfs3.Dial(ctx, "tcp", c.Addr, cred, rpc.ClientConfig{})
	if err != nil {
		return nil, err
	}
	root, err := client.Mount(ctx, c.Path)
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("mounting %s: %w", c.Path, err)
	}
	found, err := client.Lookup(ctx, root, c.File)
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("looking up %s: %w", c.File, err)
	}
	return &conn{client: client, fh: found.Resok.Object.Data}, nil
}

// loop sends one request after the other until the deadline.
func (cn *conn) loop(ctx context.Context, c *Config, rnd *rand.Rand, deadline time.Time, h *hdrhistogram.Histogram) (ops int64, err error) {
	p := make([]byte, c.Size)
	blocks := c.blocks()
	for now := time.Now(); now.Before(deadline); ops++ {
		block := cn.next.Add(1) % blocks
		if c.Op == RandRead || c.Op == RandWrite {
			block = rnd.Int64N(blocks)
		}
		if err := cn.request(ctx, c.Op, uint64(block)*uint64(c.Size), p); err != nil {
			return ops, fmt.Errorf("%s of %d bytes: %w", c.Op, c.Size, err)
		}
		sent := now
		now = time.Now()
		h.RecordValue(min(int64(now.Sub(sent)), longest))
	}
	return ops, nil
}

func (cn *conn) request(ctx context.Context, op Op, off uint64, p []byte) error {
	switch op {
	case Null:
		return cn.client.Null(ctx)
	case Getattr:
		_, err := cn.client.Getattr(ctx, cn.fh)
		return err
	case Read, RandRead:
		r, err := cn.client.Read(ctx, cn.fh, p, off)
		if err == nil && int(r.Resok.Count) != len(p) {
			err = fmt.Errorf("%d bytes came", r.Resok.Count)
		}
		return err
	case Write, RandWrite:
		r, err := cn.client.Write(ctx, cn.fh, p, off, nfs3.UNSTABLE)
		if err == nil && int(r.Resok.Count) != len(p) {
			err = fmt.Errorf("%d bytes were taken", r.Resok.Count)
		}
		return err
	}
	return fmt.Errorf("load: unknown operation %q", op)
}
