package client

// Rm is "eddy rm".
type Rm struct {
	URL       []string `arg:"" name:"url" help:"What to remove: nfs://HOST[:PORT]/PATH."`
	Recursive bool     `short:"r" help:"Directories too, with all that is in them."`
}

// Run removes.
func (c *Rm) Run() error { return run(c.run) }

func (c *Rm) run(e *env) error {
	for _, u := range c.URL {
		if err := c.url(e, u); err != nil {
			return err
		}
	}
	return nil
}

func (c *Rm) url(e *env, u string) error {
	r, err := open(e, u)
	if err != nil {
		return err
	}
	defer r.close()
	dir, n, err := r.findIn(e.ctx, r.at.path)
	if err != nil {
		return err
	}
	switch {
	case dir == nil:
		return hintf(nil, "%s: this is the export itself, which can't be removed", r.at)
	case n == nil:
		return hintf(nil, "%s: no such file or directory", r.at)
	case n.isDir() && !c.Recursive:
		return hintf(nil, "%s: is a directory: -r removes it with all that is in it", r.at)
	}
	return r.explain(r.at.at(n.path), r.removeAll(e, dir, n))
}

// removeAll removes n, an entry of dir, and what is below it. Symbolic links
// are removed, not followed.
func (r *remote) removeAll(e *env, dir, n *node) error {
	if !n.isDir() {
		_, err := r.Remove(e.ctx, dir.fh, n.name)
		return r.explain(r.at.at(n.path), err)
	}
	// First all of the listing: cookies of some servers do not outlive removals.
	var entries []*node
	err := r.list(e.ctx, n, func(child *node) error {
		entries = append(entries, child)
		return nil
	})
	if err != nil {
		return r.explain(r.at.at(n.path), err)
	}
	for _, child := range entries {
		if err := r.removeAll(e, n, child); err != nil {
			return err
		}
	}
	_, err = r.Rmdir(e.ctx, dir.fh, n.name)
	return r.explain(r.at.at(n.path), err)
}
