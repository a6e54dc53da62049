package main

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"eddy.example/load"
)

// The limit is what is left of a server if nothing is done but move bytes. A
// request is an offset and a size, 8 bytes each, big endian; the reply is the
// bytes.
const bareRequest = 16

func appendBare(b []byte, off, size int64) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(off))
	return binary.BigEndian.AppendUint64(b, uint64(size))
}

func consumeBare(b []byte) (off, size int64) {
	return int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[8:]))
}

// loadBare is load.Run for the limit.
func loadBare(ctx context.Context, c load.Config) (load.Result, error) {
	clients := make([]bareClient, c.Conns)
	for i := range clients {
		nc, err := dialBare(ctx, &c)
		if err != nil {
			return load.Result{}, err
		}
		defer nc.Close()
		defer context.AfterFunc(ctx, func() { nc.Close() })()
		blocks := c.FileBytes / int64(c.Size)
		clients[i] = bareClient{
			Config: &c, conn: nc, blocks: blocks, next: int64(i) * blocks / int64(c.Conns),
			rnd: rand.New(rand.NewPCG(uint64(i), 0)), latencies: hdrhistogram.New(1, int64(time.Minute), 3),
		}
	}
	var wg sync.WaitGroup
	start := time.Now()
	for i := range clients {
		wg.Go(func() { clients[i].err = clients[i].loop(start.Add(c.Duration)) })
	}
	wg.Wait()
	r := load.Result{Elapsed: time.Since(start)}
	all := hdrhistogram.New(1, int64(time.Minute), 3)
	var errs []error
	for i := range clients {
		all.Merge(clients[i].latencies)
		errs = append(errs, clients[i].err)
	}
	r.Ops = all.TotalCount()
	r.Bytes = r.Ops * int64(c.Size)
	r.P50, r.P99 = time.Duration(all.ValueAtQuantile(50)), time.Duration(all.ValueAtQuantile(99))
	return r, errors.Join(errs...)
}

func dialBare(ctx context.Context, c *load.Config) (net.Conn, error) {
	if c.Dial != nil {
		return c.Dial(ctx)
	}
	network := c.Network
	if network == "" {
		network = "tcp"
	}
	var d net.Dialer
	return d.DialContext(ctx, network, c.Addr)
}

// bareClient keeps Depth requests under way on one connection.
type bareClient struct {
	*load.Config
	conn         net.Conn
	blocks, next int64
	rnd          *rand.Rand
	latencies    *hdrhistogram.Histogram
	out          []byte
	err          error
}

// maxBareRead bounds what is taken from the socket at once.
const maxBareRead = 1 << 20

func (b *bareClient) loop(deadline time.Time) error {
	p := make([]byte, min(b.Size*b.Depth, maxBareRead))
	sent := make([]time.Time, 0, b.Depth) // when the requests left, oldest first
	now := time.Now()
	for range b.Depth {
		b.request()
		sent = append(sent, now)
	}
	got := 0 // bytes of the oldest reply
	for len(sent) > 0 {
		if len(b.out) > 0 {
			if _, err := b.conn.Write(b.out); err != nil {
				return err
			}
			b.out = b.out[:0]
		}
		n, err := b.conn.Read(p)
		if err != nil {
			return err
		}
		now = time.Now()
		for got += n; got >= b.Size; got -= b.Size {
			b.latencies.RecordValue(int64(now.Sub(sent[0])))
			sent = sent[:copy(sent, sent[1:])]
			if now.Before(deadline) {
				b.request()
				sent = append(sent, now)
			}
		}
	}
	return nil
}

// request appends the next request to what is to be sent.
func (b *bareClient) request() {
	block := b.next % b.blocks
	b.next++
	if b.Op == load.RandRead {
		block = b.rnd.Int64N(b.blocks)
	}
	b.out = appendBare(b.out, block*int64(b.Size), int64(b.Size))
}
