package main

import (
	"fmt"
	"io"
	"slices"
)

// report is what a benchmark prints.
type report struct {
	Machine string  `json:"machine"`
	Rows    []row   `json:"rows"`
	Ratios  []ratio `json:"ratios"`
}

// row is a server's median in one case.
type row struct {
	Server        string  `json:"server"`
	Protocol      string  `json:"protocol"`
	Op            string  `json:"op"`
	Size          int     `json:"size"`
	Conns         int     `json:"conns"`
	Depth         int     `json:"depth"`
	MiBPerSec     float64 `json:"mib_s"`
	OpsPerSec     float64 `json:"ops_s"`
	CPUPerGiB     float64 `json:"server_cpu_s_per_gib"`
	CPUPerOpMicro float64 `json:"server_cpu_us_per_op"`
	P50Micro      float64 `json:"p50_us"`
	P99Micro      float64 `json:"p99_us"`
}

// ratio compares the subject with a peer in one case.
type ratio struct {
	Name  string  `json:"name"` // throughput or cpu
	Of    string  `json:"of"`
	To    string  `json:"to"`
	Op    string  `json:"op"`
	Size  int     `json:"size"`
	Conns int     `json:"conns"`
	Depth int     `json:"depth"`
	Value float64 `json:"value"`
}

// add appends the median of a server's rounds, and its ratios if the subject's
// row of the same case is there.
func (r *report) add(samples []row) {
	m := samples[0]
	for _, f := range []func(*row) *float64{
		func(r *row) *float64 { return &r.MiBPerSec },
		func(r *row) *float64 { return &r.OpsPerSec },
		func(r *row) *float64 { return &r.CPUPerGiB },
		func(r *row) *float64 { return &r.CPUPerOpMicro },
		func(r *row) *float64 { return &r.P50Micro },
		func(r *row) *float64 { return &r.P99Micro },
	} {
		values := make([]float64, len(samples))
		for i := range samples {
			values[i] = *f(&samples[i])
		}
		slices.Sort(values)
		*f(&m) = values[len(values)/2]
	}
	r.Rows = append(r.Rows, m)
	for _, s := range r.Rows {
		if s.Server == subjectServer && m.Server != subjectServer && s.Op == m.Op && s.Size == m.Size {
			of := ratio{Of: s.Server, To: m.Server, Op: m.Op, Size: m.Size, Conns: m.Conns, Depth: m.Depth}
			throughput, cpu := of, of
			throughput.Name, throughput.Value = "throughput", s.OpsPerSec/m.OpsPerSec
			cpu.Name, cpu.Value = "cpu", s.CPUPerOpMicro/m.CPUPerOpMicro
			r.Ratios = append(r.Ratios, throughput, cpu)
		}
	}
}

// printLast writes the last n rows, of one case, as lines of a table.
func (r *report) printLast(w io.Writer, n int) {
	if len(r.Rows) == n {
		fmt.Fprintf(w, "%s\n%-9s %8s  %-8s %10s %10s %10s %10s %9s %9s\n", r.Machine,
			"op", "size", "server", "ops/s", "MiB/s", "CPU us/op", "CPU s/GiB", "p50 us", "p99 us")
	}
	for _, m := range r.Rows[len(r.Rows)-n:] {
		fmt.Fprintf(w, "%-9s %8d  %-8s %10.0f %10.1f %10.2f %10.3f %9.0f %9.0f\n",
			m.Op, m.Size, m.Server, m.OpsPerSec, m.MiBPerSec, m.CPUPerOpMicro, m.CPUPerGiB, m.P50Micro, m.P99Micro)
	}
}
