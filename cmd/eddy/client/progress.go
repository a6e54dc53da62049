package client

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// progress shows on a terminal how far a copy is.
type progress struct {
	env  *env
	done atomic.Uint64

	mu    sync.Mutex
	name  string // "": nothing is being copied
	total uint64

	quit    chan struct{}
	drawing sync.WaitGroup
}

// progressStep is how often it is drawn.
const progressStep = 200 * time.Millisecond

// newProgress returns a progress, which does nothing where there is no terminal.
func newProgress(e *env) *progress {
	p := &progress{env: e, quit: make(chan struct{})}
	if e.terminal {
		p.drawing.Go(p.run)
	}
	return p
}

func (p *progress) run() {
	tick := time.NewTicker(progressStep)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.draw()
		case <-p.quit:
			return
		}
	}
}

func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.name == "" {
		return
	}
	done := p.done.Load()
	percent := 100.0
	if p.total > 0 {
		percent = min(percent, 100*float64(done)/float64(p.total))
	}
	fmt.Fprintf(p.env.err, "\r\x1b[K%s %.1f MiB %.0f%%", printable(p.name), float64(done)/(1<<20), percent)
}

func (p *progress) begin(name string, total uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name, p.total = name, total
	p.done.Store(0)
}

func (p *progress) wrote(n int) { p.done.Add(uint64(n)) }

// end wipes what was drawn.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name = ""
	if p.env.terminal {
		fmt.Fprint(p.env.err, "\r\x1b[K")
	}
}

func (p *progress) stop() {
	close(p.quit)
	p.drawing.Wait()
}
