package client

import (
	"context"
	"io"

	"eddy.example/nfs3"
)

// Cat is "eddy cat".
type Cat struct {
	URL []string `arg:"" name:"url" help:"The files: nfs://HOST[:PORT]/PATH."`
}

// Run writes the files to standard output.
func (c *Cat) Run() error { return run(c.run) }

func (c *Cat) run(e *env) error {
	for _, u := range c.URL {
		if err := catURL(e, u); err != nil {
			return err
		}
	}
	return nil
}

func catURL(e *env, u string) error {
	r, err := open(e, u)
	if err != nil {
		return err
	}
	defer r.close()
	n, err := r.find(e.ctx, r.at.path, true)
	if err != nil {
		return err
	}
	if n.attr.Type != nfs3.NF3REG {
		return hintf(nil, "%s: not a file but %s", r.at, typeName(n.attr.Type))
	}
	return pipe(e.ctx, &remoteFile{r: r, node: n}, e.out)
}

// depth is how many READs or WRITEs are on their way at a time.
const depth = 8

// piece is a part of a file on its way to its place in the output.
type piece struct {
	buf []byte
	n   int
	eof bool
	err error
	had chan struct{}
}

// pipe writes a file to w, front to back, with several reads on their way.
func pipe(ctx context.Context, f source, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	var pieces [depth]piece
	started := 0 // reads begun
	defer func() {
		cancel()
		for i := max(0, started-depth); i < started; i++ {
			<-pieces[i%depth].had
		}
	}()
	size := uint64(f.chunk())
	begin := func() {
		p, off := &pieces[started%depth], uint64(started)*size
		if p.buf == nil {
			p.buf = make([]byte, size)
		}
		p.had = make(chan struct{})
		started++
		go func() {
			defer close(p.had)
			p.n, p.eof, p.err = readFull(ctx, f, p.buf, off)
		}()
	}
	for i := 0; ; i++ {
		// What lies beyond the size that the file had is read one at a time.
		for started == i || started < i+depth && uint64(started)*size < f.size() {
			begin()
		}
		p := &pieces[i%depth]
		<-p.had
		if p.err != nil {
			return p.err
		}
		if _, err := w.Write(p.buf[:p.n]); err != nil {
			return err
		}
		if p.eof {
			return nil
		}
	}
}
