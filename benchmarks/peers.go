package main

import (
	"context"
	"os"

	"eddy.example/load"
)

// peersCmd compares eddy with the servers that can be had.
type peersCmd struct{ options }

// readSources are the modes in which READs are answered.
var readSources = []string{modePages, modeMmap, modeSplice}

func (p *peersCmd) Run(ctx context.Context) error {
	b := benchmark{name: "peers", trials: peersTrials(p.All), start: true}
	return b.run(ctx, p.options, os.Stdout)
}

func peersTrials(all bool) (trials []trial) {
	conns := []int{defaultConns}
	if all {
		conns = append(conns, 1, manyConns)
	}
	for _, n := range conns {
		for _, o := range operations {
			trials = append(trials, o.trial(n, peersOf(o.op)...))
		}
	}
	if !all {
		// For the memory that many clients cost.
		trials = append(trials, operation{load.Read, 1 << 20, 2}.trial(manyConns, spec{server: "ganesha"}, spec{server: subject, mode: modePages}))
	}
	// Latency where nothing is shared.
	trials = append(trials, operation{load.Getattr, 0, 1}.trial(1, peersOf(load.Getattr)...))
	for _, o := range operations {
		t := o.trial(defaultConns, spec{server: "ganesha"}, spec{server: "go-nfs"}, spec{server: subject, mode: modePages})
		t.user = true
		trials = append(trials, t)
	}
	return trials
}

// peersOf are those who take part in an operation.
func peersOf(op load.Op) []spec {
	peers := []spec{{server: "ganesha"}, {server: "go-nfs"}}
	switch op {
	case load.Read, load.RandRead:
		for _, mode := range readSources {
			peers = append(peers, spec{server: subject, mode: mode}, spec{server: "limit", mode: mode})
		}
	case load.CreateRemove:
		peers = append(peers, spec{server: subject, mode: modePages}, spec{server: subject, mode: modeDurable})
	default:
		peers = append(peers, spec{server: subject, mode: modePages})
	}
	return peers
}
