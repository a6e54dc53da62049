package main

import (
	"runtime"
	"strings"

	"eddy.example/load"
)

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

// Goals for smux against TCP: few streams with large replies, many with small ones.
const (
	leastLargeSmux = 0.33
	leastSmallSmux = 0.7
)

// mostRSS is how many MiB of anonymous memory, pages of the pools included, READs of 1 MiB
// over many connections may take.
func mostRSS() float64 { return float64(64 + 4*runtime.GOMAXPROCS(0)) }

// compare returns the ratios of the subject's rows in a trial: to those of others,
// and to itself over TCP.
func compare(rows []row) (ratios []ratio) {
	for _, s := range rows {
		if s.Server != subject {
			continue
		}
		for _, m := range rows {
			switch {
			case m.Server == "limit" && m.Mode != s.Mode:
			case m.Server != subject, m.Protocol == overTCP && s.Protocol != overTCP:
				ratios = append(ratios, s.to(m)...)
			}
		}
		if s.Op == string(load.Read) && s.Size == 1<<20 && s.Conns == manyConns && s.Protocol == overTCP {
			r := s.ratio("rss_anon_mib", "", s.RSSAnonMiB)
			r.judge(mostRSS())
			ratios = append(ratios, r)
		}
	}
	return ratios
}

// overTCP is the protocol of rows unless another one is named.
const overTCP = "nfs3"

// ratio returns a ratio that has no target.
func (r *row) ratio(name, to string, value number) ratio {
	return ratio{
		Name: name, Of: r.who(), To: to, Value: value,
		Op: r.Op, Size: r.Size, Conns: r.Conns, Depth: r.Depth, Mode: r.Mode,
	}
}

// who is the server, and over what if that is not TCP.
func (r *row) who() string {
	if _, network, ok := strings.Cut(r.Protocol, "+"); ok {
		return r.Server + " over " + network
	}
	return r.Server
}

// to returns the ratios of a row of the subject to another.
func (r *row) to(m row) []ratio {
	fast := r.ratio(throughput, m.who(), r.OpsPerSec/m.OpsPerSec)
	cheap := r.ratio(serverCPU, m.who(), r.CPUPerOpMicro/m.CPUPerOpMicro)
	tail := r.ratio(p99, m.who(), r.P99Micro/m.P99Micro)
	half := r.ratio(p50, m.who(), r.P50Micro/m.P50Micro)

	g := r.goal(m)
	if g.throughput > 0 {
		fast.judge(g.throughput)
	}
	if g.cpu > 0 {
		cheap.judge(g.cpu)
	}
	if m.Server == "ganesha" && r.Mode != modeDurable {
		tail.judge(mostP99)
	}
	ratios := []ratio{fast}
	if m.Server != "limit" {
		ratios = append(ratios, cheap, tail)
	}
	if r.Conns*r.Depth == 1 {
		if m.Server == "ganesha" && r.Op == string(load.Getattr) {
			half.judge(mostP50)
		}
		ratios = append(ratios, half)
	}
	return ratios
}

// goal returns the goal of a row against another, the zero goal if there is none.
func (r *row) goal(m row) goal {
	if r.Protocol == overTCP+"+smux" {
		switch {
		case r.Op == string(load.Read) && r.Size == 1<<20:
			return goal{throughput: leastLargeSmux}
		case r.Op == string(load.Getattr) && r.Conns == manyConns:
			return goal{throughput: leastSmallSmux}
		}
	}
	for _, g := range goals {
		if r.Conns == defaultConns && string(g.op) == r.Op && g.size == r.Size && g.mode == r.Mode && g.to == m.Server {
			return g
		}
	}
	return goal{}
}
