package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// opStart is what --only calls the time until `eddy serve` answers.
const opStart = "start"

// mostStart is what that is to be below, in milliseconds.
const mostStart = 100

// programEnv names the program to whoever is inside the namespaces, where
// nothing can be downloaded that a build needs.
const programEnv = "EDDY_BENCHMARKS_PROGRAM"

// buildProgram builds cmd/eddy and names it in the environment. It is gone when remove
// is called.
func buildProgram(ctx context.Context) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "eddy-benchmarks-")
	if err != nil {
		return nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	program := filepath.Join(dir, "eddy")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "eddy.example/cmd/eddy").CombinedOutput(); err != nil {
		remove()
		return nil, fmt.Errorf("building eddy: %w\n%s", err, out)
	}
	return remove, os.Setenv(programEnv, program)
}

// startTimes measures how long it takes `eddy serve` from its exec to its first
// answer.
func (r *runner) startTimes(ctx context.Context, program string) error {
	fmt.Fprintf(r.progress, "%s  eddy serve: start\n", time.Now().Format(time.TimeOnly))
	dir := filepath.Join(r.scratch, "served")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var times []number
	for n := range 1 + 2*r.Rounds { // once without the program in memory
		d, err := startOnce(ctx, program, dir, filepath.Join(r.scratch, "state"))
		if err != nil {
			return fmt.Errorf("eddy serve: %w", err)
		}
		if n > 0 {
			times = append(times, micro(d)/1000)
		}
	}
	slices.Sort(times)
	result := ratio{Name: "start_ms", Of: "eddy serve", Op: opStart, Value: times[len(times)/2]}
	result.judge(mostStart)
	r.report.Ratios = append(r.report.Ratios, result)
	return nil
}

func startOnce(ctx context.Context, program, dir, state string) (time.Duration, error) {
	// A port that is free now, and again in a moment.
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return 0, err
	}
	addr := l.Addr().String()
	l.Close()

	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	cmd := exec.Command(program, "serve", "--addr="+addr, "--state="+state, dir)
	detach(cmd)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer end(cmd)
	for {
		err := null(ctx, addr)
		if err == nil {
			return time.Since(start), nil
		}
		select {
		case <-time.After(200 * time.Microsecond):
		case <-ctx.Done():
			return 0, err
		}
	}
}

// null connects and makes one call.
func null(ctx context.Context, addr string) error {
	c, err := nfs3.Dial(ctx, "tcp", addr, nil, rpc.ClientConfig{})
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Null(ctx)
}
