package main

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"go.uber.org/zap"

	eddy "eddy.example"
	"eddy.example/cmd/eddy/config"
	"eddy.example/vfs/export"
	"eddy.example/vfs/local"
	"eddy.example/vfs/memfs"
)

// exports are the file systems that are served. What stays in the
// configuration stays open over a reload.
type exports struct {
	log   *zap.Logger
	state *state

	mu      sync.Mutex // held while the list changes
	terms   config.Terms
	current []*opened
	ending  []*opened // no longer served, and not closed yet
	tree    *memfs.FS // what is served without exports; nil: not so far
}

// opened is an export at work.
type opened struct {
	config.Export
	fs     *local.FS
	closed chan struct{}
}

func openExports(c *config.Config, s *state, log *zap.Logger) (*exports, error) {
	e := &exports{log: log, state: s}
	if err := e.reload(c, nil); err != nil {
		return nil, err
	}
	return e, nil
}

// list is what the server serves now.
func (e *exports) list() []eddy.Export {
	e.mu.Lock()
	defer e.mu.Unlock()
	return exportList(e.current, e.tree, e.terms)
}

func exportList(current []*opened, tree *memfs.FS, terms config.Terms) (list []eddy.Export) {
	for _, o := range current {
		x := exportOf(&o.Export)
		x.FS = o.fs
		list = append(list, x)
	}
	if len(list) == 0 {
		x := exportOf(&config.Export{Path: "/", Terms: terms})
		x.FS = tree
		list = append(list, x)
	}
	return list
}

var squashes = map[string]export.Squash{"root": export.SquashRoot, "none": export.SquashNone, "all": export.SquashAll}

// exportOf is x in the server's terms, without its file system.
func exportOf(x *config.Export) eddy.Export {
	networks := make([]netip.Prefix, len(x.Network))
	for i, n := range x.Network {
		networks[i] = n.Prefix
	}
	return eddy.Export{
		Path:          x.Path,
		FSID:          x.FSID,
		ReadOnly:      x.ReadOnly,
		Squash:        squashes[x.Squash],
		AnonUID:       x.AnonUID,
		AnonGID:       x.AnonGID,
		Networks:      networks,
		InsecurePorts: x.InsecurePorts,
	}
}

// reload opens what is new in c, gives the server the new list, and closes
// what is gone once no call uses it any more. After an error all is as before.
func (e *exports) reload(c *config.Config, server *eddy.Server) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	tree := e.tree
	if len(c.Exports) == 0 && tree == nil {
		var err error
		if tree, err = welcomeTree(); err != nil {
			return err
		}
	}
	var next, fresh []*opened
	for i := range c.Exports {
		x := c.Exports[i]
		if old := find(e.current, &x); old != nil {
			next = append(next, &opened{x, old.fs, old.closed})
			continue
		}
		o, err := e.open(x)
		if err != nil {
			return errors.Join(err, closeAll(fresh))
		}
		next, fresh = append(next, o), append(fresh, o)
	}
	if server != nil {
		if err := server.Reload(exportList(next, tree, c.Terms)); err != nil {
			return errors.Join(err, closeAll(fresh))
		}
	}
	for _, old := range e.current {
		kept := find(next, &old.Export)
		if kept == nil {
			e.retire(old, server)
			continue
		}
		if late := config.NeedReopen(&old.Export, &kept.Export); len(late) > 0 {
			e.log.Warn("some settings of an export change with a restart only", zap.String("export", old.Path), zap.Strings("settings", late))
		}
		kept.switchModes()
	}
	e.current, e.tree, e.terms = next, tree, c.Terms
	return nil
}

// switchModes tells the file system of the terms that it takes while it is served.
func (o *opened) switchModes() {
	o.fs.SetAsyncMetadata(o.AsyncMetadata)
	o.fs.SetReadSource(readSources[o.ReadSource])
}

// find returns the one that serves the same directory by the same path.
func find(list []*opened, x *config.Export) *opened {
	for _, o := range list {
		if o.Path == x.Path && o.Dir == x.Dir {
			return o
		}
	}
	return nil
}

var readSources = map[string]local.ReadSource{"pages": local.ReadPages, "mmap": local.ReadMapped, "splice": local.ReadSpliced}

var handleKinds = map[string]local.Handles{"auto": local.HandlesAuto, "kernel": local.HandlesKernel, "map": local.HandlesMap}

func (e *exports) open(x config.Export) (*opened, error) {
	if old := find(e.ending, &x); old != nil {
		select {
		case <-old.closed:
		case <-time.After(drainTime):
			return nil, fmt.Errorf("export %s: %s was removed and is still used by calls: reload again later", x.Path, x.Dir)
		}
	}
	fs, err := local.Open(local.Config{
		Root:          x.Dir,
		State:         e.state.export(&x),
		CrossMounts:   x.CrossMounts,
		AsyncMetadata: x.AsyncMetadata,
		ReadSource:    readSources[x.ReadSource],
		MaxOpenFiles:  x.MaxOpenFiles,
		MaxHandles:    x.MaxHandles,
		Handles:       handleKinds[x.Handles],
		Log:           e.log.With(zap.String("export", x.Path)),
	})
	if err != nil {
		return nil, fmt.Errorf("export %s: %w", x.Path, err)
	}
	return &opened{x, fs, make(chan struct{})}, nil
}

// retire closes o when the calls that have begun before now are over. e.mu is
// held.
func (e *exports) retire(o *opened, server *eddy.Server) {
	e.ending = append(e.ending, o)
	removed := time.Now()
	go func() {
		defer close(o.closed)
		for busySince(server, removed) {
			time.Sleep(100 * time.Millisecond)
		}
		if err := o.fs.Close(); err != nil {
			e.log.Error("closing an export that was removed", zap.String("export", o.Path), zap.Error(err))
			return
		}
		e.log.Info("closed an export that was removed", zap.String("export", o.Path))
	}()
}

// busySince reports whether a call that began before t is not over. A status
// visits every event loop, so none of those that end there is left after it.
func busySince(server *eddy.Server, t time.Time) bool {
	for _, c := range server.Status().Calls {
		if !c.Since.After(t) {
			return true
		}
	}
	return false
}

// change lets f change the terms of the export with this path, or of all for
// "", until the next reload.
func (e *exports) change(path string, server *eddy.Server, f func(*config.Terms)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	next, terms := make([]*opened, len(e.current)), e.terms
	found := path == ""
	for i, o := range e.current {
		changed := *o
		if path == "" || path == o.Path {
			found = true
			f(&changed.Terms)
		}
		next[i] = &changed
	}
	if path == "" || len(next) == 0 && path == "/" {
		found = true
		f(&terms)
	}
	if !found {
		return fmt.Errorf("there is no export %s: eddy status lists them", path)
	}
	if err := server.Reload(exportList(next, e.tree, terms)); err != nil {
		return err
	}
	for _, o := range next {
		o.switchModes()
	}
	e.current, e.terms = next, terms
	return nil
}

// describe lists the exports with what their file systems say of themselves.
func (e *exports) describe() []described {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := []described{}
	for _, o := range e.current {
		list = append(list, described{o.Export, o.fs.Describe()})
	}
	return list
}

type described struct {
	config.Export
	local.Description
}

// close syncs and closes everything. Nothing may be served any more.
func (e *exports) close() error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, o := range e.ending {
		select {
		case <-o.closed:
		case <-time.After(time.Second): // a call that will not end
		}
	}
	err := closeAll(e.current)
	e.current = nil
	return err
}

func closeAll(list []*opened) (err error) {
	for _, o := range list {
		if e := o.fs.Close(); e != nil {
			err = errors.Join(err, fmt.Errorf("closing export %s: %w", o.Path, e))
		}
	}
	return err
}
