package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type options struct {
	Long bool     `help:"Soaks too (EDDY_LONG=1 for the tests), more client kernels, and a minute per fuzz target."`
	Only []string `help:"Only these steps: names as printed, or what stands before their colon." placeholder:"STEP"`
}

func main() {
	var o options
	kong.Parse(&o, kong.Name("check"), kong.Description("Run the project's checks and tests."))
	if o.Long {
		os.Setenv("EDDY_LONG", "1")
	}

	// Children are in process groups of their own and get the signal from us.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	t, err := check(ctx, o, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(2)
	}
	if t.failed > 0 {
		os.Exit(1)
	}
}

// check runs the chosen steps from the module's root and reports to w.
func check(ctx context.Context, o options, w io.Writer) (tally, error) {
	var total tally
	mod, err := run(ctx, command{args: []string{"go", "env", "GOMOD"}})
	if err != nil {
		return total, fmt.Errorf("%w\n%s", err, mod)
	}
	if err := os.Chdir(filepath.Dir(strings.TrimSpace(mod))); err != nil {
		return total, err
	}
	chosen, err := choose(steps(o.Long), o.Only)
	if err != nil {
		return total, err
	}
	for _, s := range chosen {
		fmt.Fprintf(w, "%-20s ", s.name)
		start := time.Now()
		r := s.execute(ctx)
		if os.Getenv("CI") == "true" {
			r.tally = r.tally.strict()
		}
		fmt.Fprintf(w, "%-4s %7.1fs  %v\n", r.status(), time.Since(start).Seconds(), r.tally)
		if r.failed > 0 || r.skipped > 0 {
			io.WriteString(w, r.details)
		}
		total = total.plus(r.tally)
		if ctx.Err() != nil {
			fmt.Fprintln(w, "interrupted")
			total.failed++
			break
		}
	}
	fmt.Fprintln(w, total)
	return total, nil
}

// choose picks the steps that only names, in the table's order; none means all.
func choose(all []step, only []string) ([]step, error) {
	if len(only) == 0 {
		return all, nil
	}
	named := make(map[string]bool)
	var chosen []step
	for _, s := range all {
		kind, _, _ := strings.Cut(s.name, ":")
		if slices.Contains(only, s.name) || slices.Contains(only, kind) {
			chosen = append(chosen, s)
		}
		named[s.name], named[kind] = true, true
	}
	for _, o := range only {
		if !named[o] {
			var names []string
			for _, s := range all {
				names = append(names, s.name)
			}
			return nil, fmt.Errorf("no step %q; there are %s", o, strings.Join(names, ", "))
		}
	}
	return chosen, nil
}

// A tally counts results.
type tally struct{ passed, failed, skipped int }

func (t tally) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

func (t tally) plus(u tally) tally {
	return tally{t.passed + u.passed, t.failed + u.failed, t.skipped + u.skipped}
}

// strict turns what was skipped into failures.
func (t tally) strict() tally {
	return tally{passed: t.passed, failed: t.failed + t.skipped}
}
