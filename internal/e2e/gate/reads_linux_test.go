package gate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/xprt"
)

var ctx = context.Background()

// sizes are the lengths of READs: within a page, around one, of one and several
// runs, with and without padding.
var sizes = []int{1, 511, 4095, 4096, 4097, 47008, 65536, 131072, 1048576}

// perSize is how many READs of each size are on their way at the same time.
const perSize = 7

// bench is a server and what lies between it and its clients.
type bench struct {
	t      *testing.T
	files  *files
	server *eddy.Server
	clock  *serve.Clock
	link   link
	places uint64 // that were asked for
}

// newBench starts a server with one worker; clock nil is the system's.
func newBench(t *testing.T, n network, clock *serve.Clock) *bench {
	t.Helper()
	f := newFiles()
	b := &bench{t: t, files: f, clock: clock, link: n.open(t)}
	b.server = &eddy.Server{
		Exports: []eddy.Export{{
			Path: "/", FS: f, InsecurePorts: true, Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")},
		}},
		Workers:  1,
		ZeroCopy: xprt.ZeroCopyAlways,
	}
	if clock != nil {
		b.server.Clock = clock
	}
	serve.Start(t, b.server, b.link.l)
	return b
}

// client is a client with the handles of all files.
type client struct {
	*nfs3.Client
	tap     *tap
	handles [fileCount][]byte
	before  int64 // bytes that the server had sent to others
}

// connect makes a client, the only one.
func (b *bench) connect() *client {
	b.t.Helper()
	until(func() bool { return b.server.Stats().Transport.Connections == 0 })
	before := b.server.Stats().Transport.BytesSent
	nc, err := b.link.dial()
	if err != nil {
		b.t.Fatal(err)
	}
	c := &client{tap: newTap(nc), before: before}
	c.Client = nfs3.NewClient(rpc.NewClient(c.tap, rpc.ClientConfig{}), nil)
	b.t.Cleanup(func() { c.Close() })
	root, err := c.Mount(ctx, "/")
	if err != nil {
		b.t.Fatal(err)
	}
	for i := range c.handles {
		r, err := c.Lookup(ctx, root, strconv.Itoa(i))
		if err != nil {
			b.t.Fatal(err)
		}
		c.handles[i] = r.Resok.Object.Data
	}
	return c
}

// read is a READ that is on its way or over.
type read struct {
	at   place
	size int
	data []byte
	err  error
}

// reads is a number of READs that are on their way at the same time.
type reads struct {
	all    []read
	done   chan struct{} // closed when all are over
	cancel context.CancelFunc
}

// read sends perSize READs of each size, all for other places than ever before.
func (b *bench) read(c *client) *reads {
	ctx, cancel := context.WithCancel(ctx)
	r := &reads{done: make(chan struct{}), cancel: cancel}
	for range perSize {
		for _, size := range sizes {
			b.places++
			at := place{b.places % fileCount, b.places * (2 << 20)}
			if b.places%2 == 0 {
				at.offset += b.places * 8 * 61 % 4096 // the pages of a reply need not be the file's
			}
			r.all = append(r.all, read{at: at, size: size})
		}
	}
	rand.New(rand.NewPCG(1, b.places)).Shuffle(len(r.all), func(i, j int) { r.all[i], r.all[j] = r.all[j], r.all[i] })
	var running sync.WaitGroup
	for i := range r.all {
		running.Go(func() {
			x := &r.all[i]
			res, err := c.Read(ctx, c.handles[x.at.file], make([]byte, x.size), x.at.offset)
			x.data, x.err = res.Resok.Data, err
		})
	}
	go func() {
		running.Wait()
		cancel()
		close(r.done)
	}()
	return r
}

// await waits until all READs are over. One whose reply never comes, because
// something else was sent in its place, is cancelled when the server has sent
// all it has to send and the client has read that.
func (b *bench) await(c *client, r *reads, records int64) {
	for {
		select {
		case <-r.done:
			return
		case <-time.After(time.Millisecond):
			if b.isQuiet(c, records) {
				r.cancel()
			}
		}
	}
}

// isQuiet reports whether records have arrived, been answered and sent, and the
// client has read every byte and waits for more.
func (b *bench) isQuiet(c *client, records int64) bool {
	x := b.server.Stats().Transport
	if x.Records < records || x.Calls > 0 || serve.Pages(b.server).Lent > 0 {
		return false
	}
	return c.before+c.tap.waiting.Load() == b.server.Stats().Transport.BytesSent
}

// errCorrupt is wrapped by the fault of a reply that came and is wrong.
var errCorrupt = errors.New("corrupt")

// verify returns what is wrong with the replies.
func (b *bench) verify(r *reads) (faults []error) {
	for i := range r.all {
		x := &r.all[i]
		err := x.err
		switch {
		case err != nil:
		case len(x.data) != x.size:
			err = fmt.Errorf("%w: %d bytes", errCorrupt, len(x.data))
		default:
			if err = b.files.check(x.at, x.data); err != nil {
				err = fmt.Errorf("%w: %w", errCorrupt, err)
			}
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("READ of %d bytes of file %d at %d: %w", x.size, x.at.file, x.at.offset, err))
		}
	}
	return faults
}

// round is one lot of READs and what is wrong with the replies.
func (b *bench) round(c *client) []error {
	before := b.server.Stats().Transport.Records
	r := b.read(c)
	b.await(c, r, before+int64(len(r.all)))
	return b.verify(r)
}

// until waits for something that has to happen.
func until(cond func() bool) {
	for !cond() {
		time.Sleep(time.Millisecond)
	}
}
