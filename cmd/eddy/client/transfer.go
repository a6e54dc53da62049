package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"eddy.example/nfs3"
)

// source is a file to be read. Its methods are called concurrently.
type source interface {
	// readAt reads up to len(p) bytes at off. eof: nothing follows them.
	readAt(ctx context.Context, p []byte, off uint64) (n int, eof bool, err error)
	size() uint64 // when it was looked at
	chunk() int   // bytes of one read
}

// sink is a file to be written. Its methods are called concurrently, but finish.
type sink interface {
	writeAt(ctx context.Context, p []byte, off uint64) error
	// finish makes durable what was written. again: some of it may be lost and
	// has to be written once more.
	finish(ctx context.Context) (again bool, err error)
	chunk() int
}

// readFull reads until p is full or the file at its end.
func readFull(ctx context.Context, f source, p []byte, off uint64) (n int, eof bool, err error) {
	for n < len(p) && !eof {
		k, end, err := f.readAt(ctx, p[n:], off+uint64(n))
		if err != nil {
			return n, false, err
		}
		n, eof = n+k, end
	}
	return n, eof, nil
}

// rewrites is how often a file is written if the server loses it every time.
const rewrites = 3

var errLost = errors.New("the server has restarted again and again and lost what was written")

// transfer copies all of a file, several parts at a time, and reports each part
// written.
func transfer(ctx context.Context, from source, to sink, wrote func(n int)) error {
	for range rewrites {
		if err := transferOnce(ctx, from, to, wrote); err != nil {
			return err
		}
		again, err := to.finish(ctx)
		if err != nil || !again {
			return err
		}
	}
	return errLost
}

func transferOnce(ctx context.Context, from source, to sink, wrote func(n int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	size := uint64(min(from.chunk(), to.chunk()))
	var next, end atomic.Uint64
	end.Store(1<<64 - 1)
	worker := func() error {
		buf := make([]byte, size)
		for {
			off := next.Add(size) - size
			if off >= end.Load() || ctx.Err() != nil {
				return nil
			}
			n, eof, err := readFull(ctx, from, buf, off)
			if err != nil {
				return err
			}
			if eof {
				end.Store(off + uint64(n)) // others read nothing behind it
			}
			if n > 0 {
				if err := to.writeAt(ctx, buf[:n], off); err != nil {
					return err
				}
				wrote(n)
			}
		}
	}
	var workers sync.WaitGroup
	for range max(1, min(depth, from.size()/size)) {
		workers.Go(func() {
			if err := worker(); err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// localFile is a file of this machine.
type localFile struct {
	*os.File
	bytes uint64
}

func (f *localFile) size() uint64 { return f.bytes }
func (f *localFile) chunk() int   { return maxTransfer }

func (f *localFile) readAt(_ context.Context, p []byte, off uint64) (n int, eof bool, err error) {
	n, err = f.ReadAt(p, int64(off))
	if err == io.EOF {
		return n, true, nil
	}
	return n, false, err
}

func (f *localFile) writeAt(_ context.Context, p []byte, off uint64) error {
	_, err := f.WriteAt(p, int64(off))
	return err
}

func (f *localFile) finish(context.Context) (again bool, err error) { return false, nil }

// remoteFile is a file on a server, read or written.
type remoteFile struct {
	r    *remote
	node *node

	mu       sync.Mutex
	verf     nfs3.Writeverf3 // of the first WRITE that was not stable
	unstable bool            // there was one
	changed  bool            // another WRITE had another verifier
}

func (f *remoteFile) size() uint64 { return f.node.attr.Size }

// chunk is what READ and WRITE take.
func (f *remoteFile) chunk() int { return int(min(f.r.rtmax, f.r.wtmax)) }

var errNoProgress = errors.New("the server answers with no data, though it says that there are some")

func (f *remoteFile) readAt(ctx context.Context, p []byte, off uint64) (n int, eof bool, err error) {
	res, err := f.r.Read(ctx, f.node.fh, p, off)
	if err != nil {
		return 0, false, f.explain(err)
	}
	n, eof = len(res.Resok.Data), res.Resok.Eof
	if n == 0 && !eof {
		return 0, false, f.explain(errNoProgress)
	}
	return n, eof, nil
}

func (f *remoteFile) writeAt(ctx context.Context, p []byte, off uint64) error {
	for len(p) > 0 {
		res, err := f.r.Write(ctx, f.node.fh, p, off, nfs3.UNSTABLE)
		if err != nil {
			return f.explain(err)
		}
		n := res.Resok.Count
		if n == 0 || uint64(n) > uint64(len(p)) {
			return f.explain(fmt.Errorf("the server says that of %d bytes it has written %d", len(p), n))
		}
		f.written(&res.Resok)
		p, off = p[n:], off+uint64(n)
	}
	return nil
}

// written remembers whether COMMIT is needed, and what verifier it has to have.
func (f *remoteFile) written(res *nfs3.WRITE3resok) {
	if res.Committed == nfs3.FILE_SYNC {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unstable && f.verf != res.Verf {
		f.changed = true
	}
	f.unstable, f.verf = true, res.Verf
}

func (f *remoteFile) finish(ctx context.Context) (again bool, err error) {
	if !f.unstable {
		return false, nil
	}
	res, err := f.r.Commit(ctx, f.node.fh, 0, 0)
	if err != nil {
		return false, f.explain(err)
	}
	again = f.changed || res.Resok.Verf != f.verf
	f.unstable, f.changed = false, false
	return again, nil
}

func (f *remoteFile) explain(err error) error { return f.r.explain(f.r.at.at(f.node.path), err) }
