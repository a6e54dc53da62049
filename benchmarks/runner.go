package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"eddy.example/load"
)

// options are the flags that all benchmarks share.
type options struct {
	Quick      bool          `help:"One short round each and small files: shows that everything works, not how fast it is."`
	JSON       bool          `help:"Print the rows and ratios as JSON."`
	All        bool          `help:"Also with 1 and 64 connections."`
	Only       []string      `placeholder:"OP" help:"Only these operations: null, read, randread, ... and start, until eddy serve answers."`
	Servers    []string      `placeholder:"NAME" help:"Only these servers: eddy, ganesha, go-nfs, limit."`
	Rounds     int           `default:"5" help:"Rounds, of which the median is taken."`
	Time       time.Duration `default:"1s" help:"The length of a round for each server."`
	Write      string        `placeholder:"DIR" help:"Write the results, a table and a picture to DIR/results and into DIR/README.md."`
	CPUProfile string        `name:"cpuprofile" placeholder:"FILE" help:"Write a CPU profile of the last eddy that was started."`
}

// The sizes of what is served.
const (
	fileName   = "data"
	fileBytes  = 256 << 20
	quickBytes = 32 << 20
	dirName    = "many"
	dirEntries = 10_000

	// runDir has the runner's files where it is isolated.
	runDir = "/run"

	// The file system has room for a file of each server, and what is written.
	fsBytes = 4 << 30
)

// The rounds of --quick.
const (
	quickRounds = 1
	quickTime   = 200 * time.Millisecond
)

// runner runs trials.
type runner struct {
	options
	isolated bool
	files    string // the file system that is served, a directory for each server
	scratch  string // for sockets, configurations and state
	rpcbind  *exec.Cmd
	slow     *slowNetwork
	missing  map[string]error // servers that cannot be had, and why
	progress io.Writer
	report   report
}

// isolatedEnv is set in the process that runs in namespaces of its own.
const isolatedEnv = "EDDY_BENCHMARKS_ISOLATED"

// newRunner prepares a place for servers. Close the runner.
func newRunner(o options, isolated bool) (*runner, error) {
	if o.Quick {
		o.Rounds, o.Time = quickRounds, quickTime
	}
	r := &runner{options: o, isolated: isolated, missing: make(map[string]error), progress: os.Stderr}
	r.report.Machine = machine()
	if err := r.makePlace(); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *runner) makePlace() (err error) {
	if !r.isolated {
		if r.scratch, err = os.MkdirTemp("", "eddy-benchmarks-"); err != nil {
			return err
		}
		r.files = filepath.Join(r.scratch, "files")
		fmt.Fprintln(r.progress, "no namespaces without root: files in a temporary directory")
		return os.Mkdir(r.files, 0o755)
	}
	if err := setUp(); err != nil {
		return err
	}
	r.scratch = filepath.Join(runDir, "benchmarks")
	r.files = filepath.Join(r.scratch, "files")
	if err := os.Mkdir(r.scratch, 0o755); err != nil {
		return err
	}
	return newXFS(r.files, fsBytes)
}

// close ends what is left, and removes it unless it goes by itself.
func (r *runner) close() error {
	if r.slow != nil {
		r.slow.close()
	}
	if r.rpcbind != nil {
		end(r.rpcbind)
	}
	if r.isolated || r.scratch == "" {
		return nil
	}
	return os.RemoveAll(r.scratch)
}

// selects tells whether the user wants a trial.
func (r *runner) selects(t *trial) bool {
	return len(r.Only) == 0 || slices.Contains(r.Only, string(t.Op))
}

// run runs all trials and prints what comes of them.
func (r *runner) run(ctx context.Context, trials []trial, out io.Writer) error {
	trials = slices.DeleteFunc(trials, func(t trial) bool { return !r.selects(&t) })
	for i := range trials {
		fmt.Fprintf(r.progress, "%s  %d of %d: %v\n", time.Now().Format(time.TimeOnly), i+1, len(trials), &trials[i])
		rows, err := r.try(ctx, &trials[i])
		if err != nil {
			return fmt.Errorf("%v: %w", &trials[i], err)
		}
		r.report.Rows = append(r.report.Rows, rows...)
		r.report.Ratios = append(r.report.Ratios, compare(rows)...)
		if !r.JSON {
			printRows(out, rows, i == 0)
		}
	}
	return nil
}

// try runs one trial with servers of its own, which get the load in turn.
func (r *runner) try(ctx context.Context, t *trial) ([]row, error) {
	t.File, t.Dir = fileName, dirName
	if t.Op == load.CreateRemove {
		t.Dir = ""
	}
	t.FileBytes, t.Duration = fileBytes, r.Time
	if r.Quick {
		t.FileBytes = quickBytes
	}
	if t.user {
		t.Cred = &user
	}
	var servers []*server
	defer func() {
		for _, s := range servers {
			s.stop()
		}
	}()
	for _, spec := range t.servers {
		s, err := r.start(ctx, spec, t)
		if errors.Is(err, errMissing) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("starting %s: %w", spec.server, err)
		}
		servers = append(servers, s)
	}
	samples := make([][]row, len(servers))
	// The first round only warms up.
	for n := range 1 + r.Rounds {
		for i, s := range servers {
			if s.failed {
				continue
			}
			sample, err := r.measure(ctx, s, t)
			switch {
			case err == nil && n == 0:
			case err == nil:
				samples[i] = append(samples[i], sample)
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case s.server == subject:
				return nil, fmt.Errorf("%s: %w", s.server, err)
			default:
				fmt.Fprintf(r.progress, "%s fails: %v\n", s.server, err)
				s.failed, samples[i] = true, nil
			}
		}
	}
	var rows []row
	for _, s := range samples {
		if len(s) > 0 {
			rows = append(rows, median(s))
		}
	}
	return rows, nil
}

// start starts a server with files of its own.
func (r *runner) start(ctx context.Context, s spec, t *trial) (*server, error) {
	if len(r.Servers) > 0 && !slices.Contains(r.Servers, s.server) {
		return nil, errMissing
	}
	if err := r.missing[s.server]; err != nil {
		return nil, err
	}
	if s.server == "ganesha" {
		if err := haveGanesha(r.isolated); err != nil {
			r.missing[s.server] = err
			fmt.Fprintf(r.progress, "%s is %v\n", s.server, err)
			return nil, err
		}
	}
	dir, err := r.fill(s.server)
	if err != nil {
		return nil, err
	}
	host := loopback
	if t.slow {
		if r.slow == nil {
			if r.slow, err = newSlowNetwork(); err != nil {
				return nil, err
			}
		}
		host = slowServer
	}
	var started *server
	if s.server == "ganesha" {
		started, err = r.ganesha(ctx, dir, host)
	} else {
		started, err = r.child(s, host, dir)
	}
	if err != nil {
		return nil, err
	}
	started.spec = s
	if t.slow {
		started.dial = r.slow.dialer(started.addr)
	}
	return started, nil
}

// child starts a server that this program is.
func (r *runner) child(s spec, host, dir string) (*server, error) {
	scratch, err := os.MkdirTemp(r.scratch, s.server)
	if err != nil {
		return nil, err
	}
	profile := ""
	if s.server == subject {
		profile = r.CPUProfile
	}
	return startChild(s, host, dir, scratch, profile)
}

func (r *runner) ganesha(ctx context.Context, dir, host string) (_ *server, err error) {
	if r.rpcbind == nil {
		if r.rpcbind, err = startRpcbind(ctx); err != nil {
			return nil, err
		}
	}
	return startGanesha(ctx, host, dir, r.scratch)
}

// measure puts the load on a server and adds up what it cost there.
func (r *runner) measure(ctx context.Context, s *server, t *trial) (row, error) {
	before, err := s.usage()
	if err != nil {
		return row{}, err
	}
	rss := watchRSS(s.pid)
	result, err := s.load(ctx, t.Config)
	most := rss()
	if err != nil {
		return row{}, err
	}
	after, err := s.usage()
	if err != nil {
		return row{}, err
	}
	if t.Op == load.Write || t.Op == load.RandWrite {
		// What one server has written is not to be written back in the next
		// one's time.
		if err := syncFS(r.files); err != nil {
			return row{}, err
		}
	}
	out := row{
		Server: s.server, Protocol: s.protocol(), Op: string(t.Op), Size: t.Size, Conns: t.Conns, Depth: t.Depth, Mode: t.mode(s.spec),
	}
	out.count(s, before, after, result)
	out.RSSAnonMiB = number(most) / (1 << 20)
	return out, nil
}

// count fills in what was used between two moments.
func (m *row) count(s *server, before, after usage, r load.Result) {
	const mib, gib = 1 << 20, 1 << 30
	seconds, ops, bytes := number(r.Elapsed.Seconds()), number(r.Ops), number(r.Bytes)
	cpu := number((after.cpu - before.cpu).Seconds())
	m.OpsPerSec = ops / seconds
	m.CPUPerOpMicro = cpu * 1e6 / ops
	m.P50Micro, m.P99Micro = micro(r.P50), micro(r.P99)

	m.MiBPerSec, m.CPUPerGiB, m.UserPages, m.KernelPages = unknown, unknown, unknown, unknown
	m.FaultsPerPage, m.GCsPerGiB, m.AllocsPerOp = unknown, unknown, unknown
	a, b := after.account, before.account
	if s.ask != nil {
		m.AllocsPerOp = number(a.Allocs-b.Allocs) / ops
	}
	if r.Bytes == 0 {
		return
	}
	pages := bytes / pageSize
	m.MiBPerSec = bytes / mib / seconds
	m.CPUPerGiB = cpu * gib / bytes
	m.KernelPages = number(after.kernelPages-before.kernelPages) / pages
	m.FaultsPerPage = number(after.faults-before.faults) / pages
	m.UserPages = m.FaultsPerPage
	if s.ask != nil {
		m.UserPages = number(a.NewPages-b.NewPages) / pages
		m.GCsPerGiB = number(a.GCs-b.GCs) * gib / bytes
	}
}

func micro(d time.Duration) number { return number(d) / number(time.Microsecond) }

func machine() string {
	cpu := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%s/%s, %d × %s, kernel %s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cpu,
		strings.TrimSpace(string(kernel)), runtime.Version())
}
