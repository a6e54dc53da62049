package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// Ping is "eddy ping".
type Ping struct {
	URL      string        `arg:"" name:"url" help:"The server: nfs://HOST[:PORT]."`
	Count    int           `short:"c" default:"4" help:"How many times (default ${default})."`
	Interval time.Duration `short:"i" default:"1s" help:"The time between them (default ${default})."`
}

// pingTime is how long an answer may take.
const pingTime = 5 * time.Second

// Run calls procedure 0 of NFS and MOUNT.
func (c *Ping) Run() error { return run(c.run) }

// program is one that is pinged.
type program struct {
	name  string
	prog  uint32
	port  uint16
	rpc   *rpc.Client
	total time.Duration
	best  time.Duration
	n     int
}

func (c *Ping) run(e *env) error {
	l, err := parseURL(c.URL)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(e.ctx, dialTime)
	defer cancel()
	nfs, mount, err := ports(ctx, e, l)
	if err != nil {
		return err
	}
	programs := []*program{{name: "NFS", prog: nfs3.NFS_PROGRAM, port: nfs}, {name: "MOUNT", prog: nfs3.MOUNT_PROGRAM, port: mount}}
	for _, p := range programs {
		conn, err := dial(ctx, l.hostPort(p.port))
		if err != nil {
			return explainDial(l, p.port, err)
		}
		p.rpc = rpc.NewClient(conn, rpc.ClientConfig{})
		defer p.rpc.Close()
	}
	var failed error
	for i := range c.Count {
		if i > 0 {
			select {
			case <-time.After(c.Interval):
			case <-e.ctx.Done():
				return e.ctx.Err()
			}
		}
		for _, p := range programs {
			if err := p.ping(e, l, i); err != nil {
				e.say("%v", err)
				failed = err
			}
		}
	}
	for _, p := range programs {
		if p.n > 0 {
			fmt.Fprintf(e.out, "%s: %d of %d answered, %s at best, %s on average\n", p.name, p.n, c.Count, millis(p.best), millis(p.total/time.Duration(p.n)))
		}
	}
	if failed != nil {
		return hintf(failed, "%s: not all answered", l.host)
	}
	return nil
}

func (p *program) ping(e *env, l *location, i int) error {
	ctx, cancel := context.WithTimeout(e.ctx, pingTime)
	defer cancel()
	at := l.hostPort(p.port)
	begin := time.Now()
	err := p.rpc.Call(ctx, p.prog, 3, 0, nil, nil, nil)
	took := time.Since(begin)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return hintf(err, "%s: %s does not answer within %v", at, p.name, pingTime)
	case err != nil:
		return explainProgram(at, p.name, err)
	}
	if p.n == 0 || took < p.best {
		p.best = took
	}
	p.n++
	p.total += took
	_, err = fmt.Fprintf(e.out, "%s version 3 at %s: seq=%d time=%s\n", p.name, at, i+1, millis(took))
	return err
}

func millis(d time.Duration) string { return fmt.Sprintf("%.3f ms", float64(d)/1e6) }
