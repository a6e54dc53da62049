package metrics

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"eddy.example/rpc"
)

// Observer counts calls and how long they take, by procedure. It is an
// [rpc.Observer] and a [prometheus.Collector]; make it with [NewObserver]. One
// Observer may serve several servers, whose calls it adds up.
type Observer struct {
	begun   time.Time
	stripes int

	procs   atomic.Pointer[map[procKey]*procedure]
	unknown *procedure
	mu      sync.Mutex // held by who adds a procedure
}

// maxProcedures is how many procedures are told apart. No server has so many,
// unless a program claims to have whatever it is asked for.
const maxProcedures = 1024

type procKey struct{ prog, vers, proc uint32 }

// procedure is the account of one procedure. Each stripe is written by one
// worker, or by few.
type procedure struct {
	program, version, name string
	stripes                []stripe
	failures               sync.Map // *atomic.Int64 by the program's name for the error
	failed                 atomic.Int32
}

// stripe fills whole cache lines, four.
type stripe struct {
	statuses [statuses]atomic.Int64
	buckets  [len(bounds) + 1]atomic.Int64
	nanos    atomic.Int64
}

// bounds are the upper ends of the histogram's buckets, from what a call in
// memory takes to what a disk takes that is about to fail.
var bounds = [...]time.Duration{
	5 * time.Microsecond, 10 * time.Microsecond, 25 * time.Microsecond, 50 * time.Microsecond,
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	1 * time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	1 * time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

const statuses = int(rpc.StatusDropped) + 1

const success = "success"

var statusNames = [statuses]string{
	rpc.StatusSuccess:      success,
	rpc.StatusProgUnavail:  "prog_unavail",
	rpc.StatusProgMismatch: "prog_mismatch",
	rpc.StatusProcUnavail:  "proc_unavail",
	rpc.StatusGarbageArgs:  "garbage_args",
	rpc.StatusSystemErr:    "system_err",
	rpc.StatusRPCMismatch:  "rpc_mismatch",
	rpc.StatusAuthError:    "auth_error",
	rpc.StatusReplayed:     "replayed",
	rpc.StatusDropped:      "dropped",
}

// NewObserver returns an Observer that has seen nothing.
func NewObserver() *Observer {
	o := &Observer{begun: time.Now(), stripes: runtime.GOMAXPROCS(0)}
	o.procs.Store(new(map[procKey]*procedure))
	o.unknown = o.newProcedure("unknown", "", "unknown")
	return o
}

func (o *Observer) newProcedure(program, version, name string) *procedure {
	return &procedure{program: program, version: version, name: name, stripes: make([]stripe, o.stripes)}
}

// Begin implements [rpc.Observer].
func (o *Observer) Begin(*rpc.Call) int64 { return int64(time.Since(o.begun)) }

// End implements [rpc.Observer].
func (o *Observer) End(c *rpc.Call, token int64, s rpc.Status) {
	d := time.Since(o.begun) - time.Duration(token)
	p := o.procedure(c)
	if name := c.Failure(); name != "" && s == rpc.StatusSuccess {
		p.fail(name)
	}
	p.add(c.Conn.Worker(), s, d)
}

// maxFailures is how many errors of a procedure are told apart. NFSv3 has 29.
const maxFailures = 256

// fail counts an error of the program's own. The counter is shared by all
// workers: errors are rare, or nobody waits for their answers.
func (p *procedure) fail(name string) {
	n, ok := p.failures.Load(name)
	if !ok {
		if p.failed.Load() >= maxFailures {
			return
		}
		var met bool
		if n, met = p.failures.LoadOrStore(name, new(atomic.Int64)); !met {
			p.failed.Add(1)
		}
	}
	n.(*atomic.Int64).Add(1)
}

func (p *procedure) add(worker int, s rpc.Status, d time.Duration) {
	x := &p.stripes[worker%len(p.stripes)]
	i := 0
	for i < len(bounds) && d > bounds[i] {
		i++
	}
	x.buckets[i].Add(1)
	x.nanos.Add(int64(d))
	x.statuses[s].Add(1)
}

// procedure returns the account that c belongs to.
func (o *Observer) procedure(c *rpc.Call) *procedure {
	desc := c.Procedure()
	if desc == nil {
		return o.unknown
	}
	k := procKey{c.Prog, c.Vers, c.Proc}
	if p := (*o.procs.Load())[k]; p != nil {
		return p
	}
	return o.meet(k, desc.Name)
}

// meet makes the account of a procedure that is seen for the first time.
func (o *Observer) meet(k procKey, name string) *procedure {
	o.mu.Lock()
	defer o.mu.Unlock()
	old := *o.procs.Load()
	if p := old[k]; p != nil {
		return p
	}
	if len(old) >= maxProcedures {
		return o.unknown
	}
	p := o.newProcedure(programName(k.prog), strconv.FormatUint(uint64(k.vers), 10), name)
	procs := maps.Clone(old)
	if procs == nil {
		procs = make(map[procKey]*procedure)
	}
	procs[k] = p
	o.procs.Store(&procs)
	return p
}

// programName is the usual name of a program.
func programName(prog uint32) string {
	switch prog {
	case 100000:
		return "rpcbind"
	case 100003:
		return "nfs"
	case 100005:
		return "mount"
	case 100021:
		return "nlm"
	}
	return strconv.FormatUint(uint64(prog), 10)
}

// ProcedureStats are what an [Observer] has counted for a procedure.
type ProcedureStats struct {
	Program   string `json:"program"` // "nfs", "mount", or a number
	Version   string `json:"version"`
	Procedure string `json:"procedure"` // as its RFC calls it, or "unknown"

	Calls    int64            `json:"calls"`    // that have ended
	Statuses map[string]int64 `json:"statuses"` // calls by how they have ended; those that have happened

	// How long they took, in seconds. The quantiles are estimated from the
	// histogram, and at most its last bound.
	Seconds float64 `json:"seconds"` // the sum
	P50     float64 `json:"p50_seconds"`
	P99     float64 `json:"p99_seconds"`

	counts [len(bounds) + 1]int64
}

// Procedures returns an account of all procedures that were called, by
// program, version and name.
func (o *Observer) Procedures() []ProcedureStats {
	procs := slices.AppendSeq([]*procedure{o.unknown}, maps.Values(*o.procs.Load()))
	list := make([]ProcedureStats, 0, len(procs))
	for _, p := range procs {
		if s := p.stats(); s.Calls > 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b ProcedureStats) int {
		return cmp.Or(cmp.Compare(a.Program, b.Program), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Procedure, b.Procedure))
	})
	return list
}

func (p *procedure) stats() ProcedureStats {
	s := ProcedureStats{Program: p.program, Version: p.version, Procedure: p.name, Statuses: make(map[string]int64)}
	for i := range p.stripes {
		x := &p.stripes[i]
		for j := range x.buckets {
			n := x.buckets[j].Load()
			s.counts[j] += n
			s.Calls += n
		}
		for j := range x.statuses {
			if n := x.statuses[j].Load(); n > 0 {
				s.Statuses[statusNames[j]] += n
			}
		}
		s.Seconds += time.Duration(x.nanos.Load()).Seconds()
	}
	p.failures.Range(func(name, n any) bool {
		failed := n.(*atomic.Int64).Load()
		s.Statuses[name.(string)] = failed
		// A call that ends now may be counted here and not there yet.
		if s.Statuses[success] -= failed; s.Statuses[success] <= 0 {
			delete(s.Statuses, success)
		}
		return true
	})
	s.P50, s.P99 = s.quantile(0.5), s.quantile(0.99)
	return s
}

// quantile estimates below what time a part of the calls ended, as Prometheus
// does: as if they lay evenly in their bucket.
func (s *ProcedureStats) quantile(part float64) float64 {
	rank := part * float64(s.Calls)
	low, below := 0.0, int64(0)
	for i, n := range s.counts[:len(bounds)] {
		high := bounds[i].Seconds()
		if n > 0 && float64(below+n) >= rank {
			return low + (high-low)*(rank-float64(below))/float64(n)
		}
		low, below = high, below+n
	}
	return low
}

var (
	procLabels   = []string{"program", "version", "procedure"}
	callsDesc    = prometheus.NewDesc("eddy_rpc_calls_total", "Calls that have ended, by procedure and status.", append(slices.Clone(procLabels), "status"), nil)
	durationDesc = prometheus.NewDesc("eddy_rpc_call_duration_seconds", "Time from the end of a call's arrival to its reply.", procLabels, nil)
)

// Describe implements [prometheus.Collector].
func (o *Observer) Describe(ch chan<- *prometheus.Desc) {
	ch <- callsDesc
	ch <- durationDesc
}

// Collect implements [prometheus.Collector].
func (o *Observer) Collect(ch chan<- prometheus.Metric) {
	for _, s := range o.Procedures() {
		for status, n := range s.Statuses {
			ch <- prometheus.MustNewConstMetric(callsDesc, prometheus.CounterValue, float64(n), s.Program, s.Version, s.Procedure, status)
		}
		buckets := make(map[float64]uint64, len(bounds))
		sum := uint64(0)
		for i, b := range bounds {
			sum += uint64(s.counts[i])
			buckets[b.Seconds()] = sum
		}
		ch <- prometheus.MustNewConstHistogram(durationDesc, uint64(s.Calls), s.Seconds, buckets, s.Program, s.Version, s.Procedure)
	}
}
