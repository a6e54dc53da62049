package main

import (
	"context"
	"os"

	"eddy.example/load"
)

// churnCmd asks what it costs that a reply needs pages: whether they circle, come from the
// system, or are not needed, and what changes when clients acknowledge late.
type churnCmd struct{ options }

func (c *churnCmd) Run(ctx context.Context) error {
	b := benchmark{name: "reply-churn", trials: churnTrials()}
	return b.run(ctx, c.options, os.Stdout)
}

func churnTrials() (trials []trial) {
	for _, slow := range []bool{false, true} {
		for _, o := range []operation{{load.Read, 1 << 20, 2}, {load.Read, 64 << 10, 4}, {load.Read, 4 << 10, 16}} {
			t := o.trial(defaultConns,
				spec{server: "ganesha"},
				spec{server: "go-nfs"},
				spec{server: subject, mode: modePages},
				spec{server: subject, mode: modePages + "," + modeAlways},
			)
			t.slow = slow
			trials = append(trials, t)
		}
	}
	return trials
}
