package main

import "eddy.example/load"

// subject is the server that all others are compared with.
const subject = "eddy"

// ratio compares a row of the subject with one of another server, or what was
// measured of it with a number.
type ratio struct {
	Name   string   `json:"name"` // throughput, server_cpu, p50, p99; or what is measured
	Of     string   `json:"of"`
	To     string   `json:"to"` // "" if Value is not a ratio
	Op     string   `json:"op"`
	Size   int      `json:"size"`
	Conns  int      `json:"conns"`
	Depth  int      `json:"depth"`
	Mode   string   `json:"mode"` // of the subject
	Value  number   `json:"value"`
	Target *float64 `json:"target"` // null: it is only reported
	Met    *bool    `json:"met"`
}

// The ratios' names.
const (
	throughput = "throughput"
	serverCPU  = "server_cpu"
	p50        = "p50"
	p99        = "p99"
)

// judge says whether the target is met. Throughput is to be above it, all else
// below.
func (r *ratio) judge(target float64) {
	met := r.Value <= number(target)
	if r.Name == throughput {
		met = r.Value >= number(target)
	}
	r.Target, r.Met = &target, &met
}

// goal is what a ratio to a peer shall be, with 8 connections.
type goal struct {
	op         load.Op
	size       int
	mode       string
	to         string
	throughput float64
	cpu        float64 // 0: any
}

// goals are the numbers to reach.
var goals = []goal{
	{load.Read, 1 << 20, modePages, "ganesha", 1.0, 1.05},
	{load.Read, 1 << 20, modePages, "go-nfs", 4.5, 0},
	{load.Read, 1 << 20, modeMmap, "ganesha", 1.2, 0.75},
	{load.Read, 1 << 20, modeSplice, "ganesha", 1.2, 0.75},
	{load.Read, 64 << 10, modePages, "ganesha", 1.5, 0.65},
	{load.Read, 64 << 10, modePages, "go-nfs", 6, 0},
	{load.Read, 64 << 10, modeMmap, "ganesha", 1.8, 0.55},
	{load.Read, 64 << 10, modeSplice, "ganesha", 1.8, 0.55},
	{load.RandRead, 4 << 10, modePages, "ganesha", 4, 0.22},
	{load.RandRead, 4 << 10, modePages, "go-nfs", 7, 0},
	{load.Write, 1 << 20, modePages, "ganesha", 1.2, 0.85},
	{load.Write, 1 << 20, modePages, "go-nfs", 1.6, 0},
	{load.Write, 64 << 10, modePages, "ganesha", 1.6, 0.55},
	{load.Write, 64 << 10, modePages, "go-nfs", 2.7, 0},
	{load.Null, 0, modePages, "ganesha", 12, 0.05},
	{load.Null, 0, modePages, "go-nfs", 6, 0},
	{load.Getattr, 0, modePages, "ganesha", 6.5, 0.14},
	{load.Getattr, 0, modePages, "go-nfs", 4, 0},
	{load.Lookup, 0, modePages, "ganesha", 4.5, 0.2},
	{load.Lookup, 0, modePages, "go-nfs", 4, 0},
	{load.CreateRemove, 0, modePages, "ganesha", 3, 0.36},
	{load.CreateRemove, 0, modePages, "go-nfs", 1.8, 0},
	{load.Read, 1 << 20, modePages, "limit", 0.85, 0},
	{load.Read, 1 << 20, modeMmap, "limit", 0.85, 0},
	{load.Read, 1 << 20, modeSplice, "limit", 0.85, 0},
}

// Goals that hold for every operation: the latency that one call in a hundred
// exceeds, and the median where calls come one at a time.
const (
	mostP99 = 1.1
	mostP50 = 1.0
)

// compare returns the ratios of the subject's rows to those of others in a
// trial.
func compare(rows []row) (ratios []ratio) {
	for _, s := range rows {
		if s.Server != subject {
			continue
		}
		for _, m := range rows {
			if m.Server != subject && (m.Server != "limit" || m.Mode == s.Mode) {
				ratios = append(ratios, s.to(m)...)
			}
		}
	}
	return ratios
}

// to returns the ratios of a row of the subject to another.
func (r *row) to(m row) (ratios []ratio) {
	add := func(name string, value number) *ratio {
		ratios = append(ratios, ratio{
			Name: name, Of: r.Server, To: m.Server, Value: value,
			Op: r.Op, Size: r.Size, Conns: r.Conns, Depth: r.Depth, Mode: r.Mode,
		})
		return &ratios[len(ratios)-1]
	}
	g := r.goal(m.Server)
	if t := add(throughput, r.OpsPerSec/m.OpsPerSec); g.throughput > 0 {
		t.judge(g.throughput)
	}
	if m.Server == "limit" {
		return ratios
	}
	if c := add(serverCPU, r.CPUPerOpMicro/m.CPUPerOpMicro); g.cpu > 0 {
		c.judge(g.cpu)
	}
	tail := add(p99, r.P99Micro/m.P99Micro)
	if m.Server == "ganesha" && r.Mode != modeDurable {
		tail.judge(mostP99)
	}
	if r.Conns*r.Depth == 1 {
		if half := add(p50, r.P50Micro/m.P50Micro); m.Server == "ganesha" && r.Op == string(load.Getattr) {
			half.judge(mostP50)
		}
	}
	return ratios
}

// goal returns the goal of a row against a server, the zero goal if there is none.
func (r *row) goal(to string) goal {
	for _, g := range goals {
		if r.Conns == defaultConns && string(g.op) == r.Op && g.size == r.Size && g.mode == r.Mode && g.to == to {
			return g
		}
	}
	return goal{}
}
