package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A goTest is a step that runs the tests of some packages.
type goTest struct {
	pkgs    selection
	timeout string // for each package
	flags   []string
	env     []string
}

func (g goTest) run(ctx context.Context) result {
	pkgs, err := list(ctx, g.pkgs)
	if err != nil {
		return failed("%v", err)
	}
	if len(pkgs) == 0 {
		return result{}
	}
	// -count=1: what is reported as passed has been run.
	c := goCmd(slices.Concat([]string{"test", "-json", "-count=1", "-timeout=" + g.timeout}, g.flags, pkgs)...)
	c.env = g.env

	r, w := io.Pipe()
	collected := make(chan *collector)
	go func() {
		var col collector
		col.read(r)
		collected <- &col
	}()
	var stderr bytes.Buffer
	err = runTo(ctx, c, w, &stderr)
	w.Close()
	res := (<-collected).result()
	if err != nil && res.failed == 0 {
		res.failed++
		res.details += fmt.Sprintf("%v\n", err)
	}
	if res.failed > 0 {
		res.details += stderr.String()
	}
	return res
}

// An event is one line of go test -json; see go doc test2json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // instead of Package for what the build says
	Test        string
	Output      string
	FailedBuild string
}

// A collector reads the events of one go test. It keeps what a test wrote
// until the test has passed.
type collector struct {
	output map[string]*tail           // by test, package or import path
	tests  map[string]map[string]bool // by package: tests that have run, whether they have ended
	ended  []event
	noise  tail // lines that are no events
}

func (c *collector) read(r io.Reader) {
	c.output = make(map[string]*tail)
	c.tests = make(map[string]map[string]bool)
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				c.event(e)
			} else {
				c.noise.add(string(line))
			}
		}
		if err != nil {
			return
		}
	}
}

func (e event) key() string { return e.Package + e.ImportPath + " " + e.Test }

func (c *collector) event(e event) {
	switch e.Action {
	case "run":
		if c.tests[e.Package] == nil {
			c.tests[e.Package] = make(map[string]bool)
		}
		c.tests[e.Package][e.Test] = false
	case "output", "build-output":
		if c.output[e.key()] == nil {
			c.output[e.key()] = new(tail)
		}
		c.output[e.key()].add(e.Output)
	case "pass", "fail", "skip":
		if e.Test != "" {
			c.tests[e.Package][e.Test] = true
		}
		if e.Action == "pass" {
			delete(c.output, e.key())
		}
		c.ended = append(c.ended, e)
	}
}

// result counts leaves: a test with subtests counts by them. What failed
// without a leaf to blame (a parent's own failure, a leak found by TestMain, a
// panic, a build) counts as one failure.
func (c *collector) result() result {
	var r result
	var out strings.Builder
	blamed := make(map[string]bool) // parents and packages of something that counts as failed
	shown := make(map[string]bool)  // builds
	show := func(e event) { out.WriteString(c.output[e.key()].String()) }
	fail := func(e event) {
		r.failed++
		for t := e.Test; t != ""; t, _ = parent(t) {
			blamed[e.Package+" "+t] = true
		}
		blamed[e.Package+" "] = true
	}
	parents := make(map[string]bool)
	for pkg, tests := range c.tests {
		for t := range tests {
			if p, ok := parent(t); ok {
				parents[pkg+" "+p] = true
			}
		}
	}
	// Subtests end before their parents, tests before their package.
	for _, e := range c.ended {
		leaf := e.Test != "" && !parents[e.key()]
		switch {
		case e.Action == "fail":
			if e.FailedBuild != "" && !shown[e.FailedBuild] {
				shown[e.FailedBuild] = true
				show(event{ImportPath: e.FailedBuild})
			}
			if e.Test == "" && !blamed[e.key()] {
				// Whatever was running when the binary died tells why.
				for t, done := range c.tests[e.Package] {
					if !done {
						show(event{Package: e.Package, Test: t})
					}
				}
			}
			if !blamed[e.key()] {
				fail(e)
			}
			fmt.Fprintf(&out, "--- %s %s\n", e.Package, e.Test)
			show(e)
		case leaf && e.Action == "pass":
			r.passed++
		case leaf && e.Action == "skip":
			r.skipped++
			fmt.Fprintf(&out, "--- skipped: %s %s\n", e.Package, e.Test)
			show(e)
		}
	}
	if r.failed > 0 {
		out.WriteString(c.noise.String())
	}
	r.details = out.String()
	return r
}

// parent returns the test that t is a subtest of.
func parent(t string) (string, bool) {
	i := strings.LastIndexByte(t, '/')
	if i < 0 {
		return "", false
	}
	return t[:i], true
}

// A tail is text that keeps only its end once it has grown long. The zero
// value and nil are empty.
type tail struct{ text []byte }

const tailSize = 64 << 10

func (t *tail) add(s string) {
	t.text = append(t.text, s...)
	if n := len(t.text) - tailSize; n > tailSize {
		t.text = append(t.text[:0], t.text[n:]...)
	}
}

func (t *tail) String() string {
	if t == nil {
		return ""
	}
	return string(t.text)
}
