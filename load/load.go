package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longest is the longest latency that is told from longer ones.
const longest = int64(time.Minute)

// Run does what c says. It fails if any request does, or with ctx.
func Run(ctx context.Context, c Config) (Result, error) {
	conns, err := openAll(ctx, &c)
	defer func() {
		for _, cn := range conns {
			if cn != nil {
				cn.client.Close()
			}
		}
	}()
	if err != nil {
		return Result{}, err
	}
	var (
		wg    sync.WaitGroup
		tasks = make([]task, c.Conns*c.Depth)
		start = time.Now()
	)
	for i := range tasks {
		t := &tasks[i]
		*t = task{
			Config:    &c,
			conn:      conns[i/c.Depth],
			rnd:       rand.New(rand.NewPCG(uint64(i), 0)),
			prefix:    fmt.Sprintf("made-%x-%d-", start.UnixNano(), i),
			payload:   make([]byte, c.Size),
			latencies: hdrhistogram.New(1, longest, 3),
		}
		wg.Go(func() { t.err = t.loop(ctx, start.Add(c.Duration)) })
	}
	wg.Wait()

	r := Result{Elapsed: time.Since(start)}
	all := hdrhistogram.New(1, longest, 3)
	var errs []error
	for i := range tasks {
		all.Merge(tasks[i].latencies)
		errs = append(errs, tasks[i].err)
	}
	r.Ops = all.TotalCount()
	r.P50, r.P99 = time.Duration(all.ValueAtQuantile(50)), time.Duration(all.ValueAtQuantile(99))
	if c.Op.HasPayload() {
		r.Bytes = r.Ops * int64(c.Size)
	}
	return r, errors.Join(errs...)
}

// openAll opens all connections at once. Those that are not nil are open even if
// others are not.
func openAll(ctx context.Context, c *Config) ([]*conn, error) {
	var wg sync.WaitGroup
	conns, errs := make([]*conn, c.Conns), make([]error, c.Conns)
	for i := range conns {
		wg.Go(func() {
			if conns[i], errs[i] = open(ctx, c); errs[i] == nil {
				conns[i].next.Store(int64(i) * c.blocks() / int64(c.Conns))
			}
		})
	}
	wg.Wait()
	return conns, errors.Join(errs...)
}

// task has one request on its way at a time.
type task struct {
	*Config
	conn      *conn
	rnd       *rand.Rand
	prefix    string // of names that are its own
	names     int64  // made so far
	payload   []byte
	latencies *hdrhistogram.Histogram
	err       error
}

// loop sends one request after the other until the deadline, and one at least.
func (t *task) loop(ctx context.Context, deadline time.Time) error {
	blocks := t.blocks()
	for now := time.Now(); t.latencies.TotalCount() == 0 || now.Before(deadline); {
		block := t.conn.next.Add(1) % blocks
		if t.Op == RandRead || t.Op == RandWrite {
			block = t.rnd.Int64N(blocks)
		}
		if err := t.request(ctx, uint64(block)*uint64(t.Size)); err != nil {
			return fmt.Errorf("%s of %d bytes: %w", t.Op, t.Size, err)
		}
		sent := now
		now = time.Now()
		t.latencies.RecordValue(min(int64(now.Sub(sent)), longest))
	}
	return nil
}
