package main

import (
	"context"
	"os"

	"eddy.example/load"
)

// transportsCmd compares what eddy reaches over each kind of connection.
type transportsCmd struct{ options }

func (c *transportsCmd) Run(ctx context.Context) error {
	b := benchmark{name: "transports", trials: transportTrials()}
	return b.run(ctx, c.options, os.Stdout)
}

func transportTrials() (trials []trial) {
	over := func(networks ...string) (specs []spec) {
		for _, n := range networks {
			specs = append(specs, spec{server: subject, mode: modePages, network: n})
		}
		return specs
	}
	for _, o := range operations {
		switch o.op {
		case load.Null, load.Getattr:
			trials = append(trials, o.trial(defaultConns, over("", "unix", "smux", "udp")...))
		case load.RandRead, load.RandWrite:
			// A datagram at a time, as nothing else keeps them from being lost.
			datagram := operation{o.op, o.size, 1}
			trials = append(trials,
				o.trial(defaultConns, over("", "unix", "smux")...),
				datagram.trial(defaultConns, over("", "udp")...))
		case load.Read, load.Write:
			trials = append(trials, o.trial(defaultConns, over("", "unix", "smux")...))
		}
	}
	// Many streams with little to do share what one connection has to do.
	return append(trials, operation{load.Getattr, 0, 1}.trial(manyConns, over("", "unix", "smux", "udp")...))
}
