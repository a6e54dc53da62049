package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
)

// benchmark runs the trials of a benchmark and writes what came of them.
func benchmark(ctx context.Context, name string, o options, trials []trial, out io.Writer) (err error) {
	r, err := newRunner(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.run(ctx, trials, out); err != nil {
		return err
	}
	if o.JSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "\t")
		return e.Encode(&r.report)
	}
	printRatios(out, r.report.Ratios)
	return nil
}
