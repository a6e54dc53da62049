package eddy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/export"
	"eddy.example/xprt"
)

// core is a Server at work: the export table, the programs over it, and the
// transport that brings them calls.
type core struct {
	started time.Time
	table   *export.Table
	nfs     *nfs3.Server
	rpc     *rpc.Server
	xprt    *xprt.Transport
}

// start returns the core, which the first call makes.
func (s *Server) start() (*core, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrServerClosed
	}
	if s.core == nil {
		c, err := s.newCore()
		if err != nil {
			return nil, fmt.Errorf("eddy: %w", err)
		}
		s.core = c
	}
	return s.core, nil
}

func (s *Server) newCore() (*core, error) {
	key := s.HandleKey
	if key == (Key{}) {
		key = export.NewKey()
	}
	table, err := export.NewTable(key, s.Exports...)
	if err != nil {
		return nil, err
	}
	calls := &rpc.Server{Observer: s.Observer, Clock: s.Clock, Log: s.Log}
	nfs := &nfs3.Server{Exports: table}
	for _, p := range s.programs(nfs) {
		if err := calls.Register(p); err != nil {
			return nil, err
		}
	}
	transport := xprt.New(xprt.Config{
		Workers:     s.Workers,
		PoolCap:     s.PoolBytes,
		ZeroCopy:    s.ZeroCopy,
		RecvBudget:  s.ReceiveBytes,
		ReplyBudget: s.ReplyBytes,
		MaxConns:    s.MaxConns,
		SendTimeout: s.SendTimeout,
		IdleTimeout: s.IdleTimeout,
		Clock:       s.Clock,
		Log:         s.Log,
	}, calls)
	return &core{s.now(), table, nfs, calls, transport}, nil
}

// end keeps the server from starting again and returns its core, if it has one.
func (s *Server) end() *core {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.ended = s.core == nil
	return s.core
}

// over notes that nothing is at work any more.
func (s *Server) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// Shutdown stops taking calls, lets those in progress finish, sends their
// replies, and returns when no page of them is in use any more. If ctx ends
// first, connections are cut and its error is returned.
func (s *Server) Shutdown(ctx context.Context) error {
	c := s.end()
	if c == nil {
		return nil
	}
	defer s.over()
	return errors.Join(c.xprt.Shutdown(ctx), c.rpc.Shutdown(ctx))
}

// Close cuts all connections, and waits for calls that are in a backend.
func (s *Server) Close() error {
	c := s.end()
	if c == nil {
		return nil
	}
	defer s.over()
	return errors.Join(c.xprt.Close(), c.rpc.Shutdown(context.Background()))
}

// Changed tells the server that a program has changed, behind its back, the
// object that handle names: a handle as clients have it. A backend that keeps
// something of its objects in memory ([vfs.Invalidator]) forgets it. The
// errors are vfs.ErrBadHandle and vfs.ErrStale.
func (s *Server) Changed(handle []byte) error {
	c, err := s.start()
	if err != nil {
		return err
	}
	call := &vfs.Call{Context: context.Background(), MayWait: true}
	e, o, err := c.table.Resolve(call, handle, &export.Caller{Local: true})
	if err != nil {
		return err
	}
	if f, ok := e.FS.(vfs.Invalidator); ok {
		f.Invalidate(o)
	}
	return nil
}
