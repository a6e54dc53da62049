// Command benchmarks measures eddy side by side with its peers.
//
//	go run ./benchmarks list
//	go run ./benchmarks peers [--quick] [--json]
//
// Every server runs in a process of its own; the load comes from this one.
// Servers are measured in turn, round after round, so that a machine whose
// speed drifts drifts for all of them. Read the ratios; absolute numbers
// belong to the machine.
package main

import (
	"fmt"

	"github.com/alecthomas/kong"
)

type cli struct {
	List  listCmd  `cmd:"" help:"List the benchmarks."`
	Peers peersCmd `cmd:"" help:"READ, WRITE and GETATTR against the peers."`

	Serve serveCmd `cmd:"" hidden:"" help:"Be one of the servers; started by the benchmarks themselves."`
}

type listCmd struct{}

func (listCmd) Run() error {
	fmt.Println("peers    READ, WRITE and GETATTR of eddy and go-nfs, files in memory")
	return nil
}

func main() {
	k := kong.Parse(new(cli), kong.Name("benchmarks"), kong.UsageOnError())
	k.FatalIfErrorf(k.Run())
}
