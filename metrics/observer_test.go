package metrics

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// find returns the account of a procedure.
func find(o *Observer, program, version, procedure string) ProcedureStats {
	for _, p := range o.Procedures() {
		if p.Program == program && p.Version == version && p.Procedure == procedure {
			return p
		}
	}
	return ProcedureStats{}
}

func TestObserver(t *testing.T) {
	o := NewObserver()
	_, c := serve(t, o)
	client, fh := mount(t, c)
	for range 10 {
		if _, err := client.Getattr(t.Context(), fh); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Lookup(t.Context(), fh, "nothing"); !errors.Is(err, nfs3.NFS3ERR_NOENT) {
		t.Error(err)
	}
	if err := null(t, c, nfs3.NFS_PROGRAM, nfs3.NFS_V3, nfs3.NFSPROC3_GETATTR); err == nil {
		t.Error("GETATTR without arguments was answered")
	}
	if err := null(t, c, nfs3.MOUNT_PROGRAM, 1, 0); err != nil {
		t.Error(err)
	}
	for _, want := range []struct {
		program, version, procedure string
		statuses                    map[string]int64
	}{
		{"mount", "1", "NULL", map[string]int64{"success": 1}},
		{"mount", "3", "MNT", map[string]int64{"success": 1}},
		{"nfs", "3", "LOOKUP", map[string]int64{"NFS3ERR_NOENT": 1}},
		{"nfs", "3", "GETATTR", map[string]int64{"success": 10, "garbage_args": 1}},
	} {
		got := find(o, want.program, want.version, want.procedure)
		calls := int64(0)
		for status, n := range want.statuses {
			calls += n
			if got.Statuses[status] != n {
				t.Errorf("%s of %+v: %d calls, want %d", status, want, got.Statuses[status], n)
			}
		}
		if got.Calls != calls || len(got.Statuses) != len(want.statuses) || got.Seconds <= 0 || got.P50 <= 0 || got.P99 < got.P50 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestObserverIsBounded calls what no server has: it is all counted as one.
func TestObserverIsBounded(t *testing.T) {
	o := NewObserver()
	_, c := serve(t, o)
	const each = 200
	for i := range uint32(each) {
		null(t, c, 7_000_000+i, i, i)                       // program
		null(t, c, nfs3.NFS_PROGRAM, 1000+i, i)             // version
		null(t, c, nfs3.NFS_PROGRAM, nfs3.NFS_V3, 1000+i)   // procedure
		null(t, c, nfs3.MOUNT_PROGRAM, 3, math.MaxUint32-i) // another
	}
	list := o.Procedures()
	if len(list) != 1 {
		t.Fatalf("%d procedures are told apart: %+v", len(list), list)
	}
	p := list[0]
	if p.Procedure != "unknown" || p.Calls != 4*each || p.Statuses["prog_unavail"] != each || p.Statuses["prog_mismatch"] != each || p.Statuses["proc_unavail"] != 2*each {
		t.Errorf("%+v", p)
	}
}

// TestObserverIsBoundedByItself meets a program that has whatever it is asked
// for.
func TestObserverIsBoundedByItself(t *testing.T) {
	o := NewObserver()
	for i := range uint32(3 * maxProcedures) {
		o.meet(procKey{1, 2, i}, "X")
	}
	if n := len(*o.procs.Load()); n != maxProcedures {
		t.Errorf("%d procedures are told apart", n)
	}
}

func TestHistogram(t *testing.T) {
	o := NewObserver()
	p := o.meet(procKey{100003, 3, 1}, "GETATTR")
	for _, b := range bounds {
		p.add(0, rpc.StatusSuccess, b)   // the last of its bucket
		p.add(1, rpc.StatusDropped, b+1) // the first of the next
	}
	s := p.stats()
	for i, n := range s.counts {
		want := int64(2)
		if i == 0 || i == len(bounds) {
			want = 1
		}
		if n != want {
			t.Errorf("bucket %d has %d, want %d", i, n, want)
		}
	}
	if !slices.IsSorted(bounds[:]) {
		t.Error("the bounds are not in order")
	}
}

// TestQuantile compares estimates with the truth: they lie in the same bucket.
func TestQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := NewObserver().newProcedure("", "", "")
	var all []time.Duration
	for range 10_000 {
		d := time.Duration(r.ExpFloat64() * float64(3*time.Millisecond))
		all = append(all, d)
		p.add(r.IntN(4), rpc.StatusSuccess, d)
	}
	slices.Sort(all)
	bucket := func(d time.Duration) int { i, _ := slices.BinarySearch(bounds[:], d); return i }
	s := p.stats()
	for _, part := range []float64{0.01, 0.5, 0.9, 0.99} {
		truth := all[int(part*float64(len(all)))-1]
		got := time.Duration(s.quantile(part) * 1e9)
		if bucket(truth) != bucket(got) {
			t.Errorf("%v of the calls took less than %v, estimated %v", part, truth, got)
		}
	}
	if got := s.quantile(0); got != 0 {
		t.Errorf("the least is estimated as %v", got)
	}
	p.add(0, rpc.StatusSuccess, time.Hour)
	if s = p.stats(); s.quantile(1) != bounds[len(bounds)-1].Seconds() {
		t.Errorf("an hour is estimated as %v s", s.quantile(1))
	}
}

// TestObserverRace counts on all workers while it is asked.
func TestObserverRace(t *testing.T) {
	o := NewObserver()
	s, _ := serve(t, o)
	registry := prometheus.NewRegistry()
	registry.MustRegister(o, New(s))
	var calling, asking sync.WaitGroup
	stop := make(chan struct{})
	asking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := registry.Gather(); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	const clients, calls = 4, 200
	for i := range uint32(clients) {
		_, c := pipeTo(t, s)
		calling.Go(func() {
			for j := range uint32(calls) {
				null(t, c, nfs3.MOUNT_PROGRAM, 1+i%3, 0)
				null(t, c, nfs3.NFS_PROGRAM, 3, j%30)
			}
		})
	}
	calling.Wait()
	close(stop)
	asking.Wait()
	sum := int64(0)
	for _, p := range o.Procedures() {
		sum += p.Calls
	}
	if sum != 2*clients*calls {
		t.Errorf("%d calls were counted, want %d", sum, 2*clients*calls)
	}
}
