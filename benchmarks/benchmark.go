package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// benchmark is one that can be asked for by name.
type benchmark struct {
	name   string
	trials []trial
	start  bool // also how long eddy needs to start
}

// run runs the benchmark, in namespaces if this is root, and writes what came of it.
func (b *benchmark) run(ctx context.Context, o options, out io.Writer) (err error) {
	if len(o.Only) > 0 && !slices.Contains(o.Only, opStart) {
		b.start = false
	}
	inside := os.Getenv(isolatedEnv) != ""
	if !inside && b.start {
		remove, err := buildProgram(ctx)
		if err != nil {
			return err
		}
		defer remove()
	}
	if !inside && os.Geteuid() == 0 {
		// Containers have a root who may not do it.
		if err := isolate(ctx); !errors.Is(err, unix.EPERM) {
			return err
		}
	}
	r, err := newRunner(o, inside)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.run(ctx, b.trials, out); err != nil {
		return err
	}
	if b.start {
		if err := r.startTimes(ctx, os.Getenv(programEnv)); err != nil {
			return err
		}
	}
	if o.Write != "" {
		if err := r.report.write(b.name, o.Write); err != nil {
			return err
		}
	}
	if o.JSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "\t")
		return e.Encode(&r.report)
	}
	printRatios(out, r.report.Ratios)
	return nil
}
