package main

import (
	"encoding/json"
	"math"
	"slices"
)

// report is what a benchmark prints.
type report struct {
	Machine string  `json:"machine"`
	Rows    []row   `json:"rows"`
	Ratios  []ratio `json:"ratios"`
}

// row is a server's median in one trial.
type row struct {
	Server   string `json:"server"`
	Protocol string `json:"protocol"`
	Op       string `json:"op"`
	Size     int    `json:"size"`
	Conns    int    `json:"conns"`
	Depth    int    `json:"depth"`
	Mode     string `json:"mode"`

	MiBPerSec     number `json:"mib_s"`
	OpsPerSec     number `json:"ops_s"`
	CPUPerGiB     number `json:"server_cpu_s_per_gib"`
	CPUPerOpMicro number `json:"server_cpu_us_per_op"`
	P50Micro      number `json:"p50_us"`
	P99Micro      number `json:"p99_us"`
	UserPages     number `json:"new_user_pages_per_payload_page"`
	KernelPages   number `json:"kernel_pages_per_payload_page"`
	AllocsPerOp   number `json:"allocs_per_op"`
	RSSAnonMiB    number `json:"rss_anon_mib"`

	// Beyond what every benchmark has.
	FaultsPerPage number `json:"faults_per_payload_page"`
	GCsPerGiB     number `json:"gc_cycles_per_gib"`

	// Spread is the least and the most of the rounds.
	Spread map[string][2]number `json:"spread"`
}

// number is a measurement. NaN is one that cannot be had, null in JSON.
type number float64

// unknown is no measurement.
var unknown = number(math.NaN())

func (n number) known() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

func (n number) MarshalJSON() ([]byte, error) {
	if !n.known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func (n *number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = unknown
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// measurements are a row's by their JSON names.
func (r *row) measurements() map[string]*number {
	return map[string]*number{
		"mib_s":                           &r.MiBPerSec,
		"ops_s":                           &r.OpsPerSec,
		"server_cpu_s_per_gib":            &r.CPUPerGiB,
		"server_cpu_us_per_op":            &r.CPUPerOpMicro,
		"p50_us":                          &r.P50Micro,
		"p99_us":                          &r.P99Micro,
		"new_user_pages_per_payload_page": &r.UserPages,
		"kernel_pages_per_payload_page":   &r.KernelPages,
		"allocs_per_op":                   &r.AllocsPerOp,
		"rss_anon_mib":                    &r.RSSAnonMiB,
		"faults_per_payload_page":         &r.FaultsPerPage,
		"gc_cycles_per_gib":               &r.GCsPerGiB,
	}
}

// median makes one row of those of all rounds.
func median(rounds []row) row {
	m := rounds[0]
	m.Spread = make(map[string][2]number)
	for name, result := range m.measurements() {
		var values []number
		for i := range rounds {
			if v := *rounds[i].measurements()[name]; v.known() {
				values = append(values, v)
			}
		}
		if len(values) == 0 {
			*result = unknown
			continue
		}
		slices.Sort(values)
		n := len(values)
		*result = (values[(n-1)/2] + values[n/2]) / 2
		m.Spread[name] = [2]number{values[0], values[n-1]}
	}
	return m
}
