package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

type cli struct {
	List       listCmd       `cmd:"" help:"List the benchmarks."`
	Peers      peersCmd      `cmd:"" help:"Every operation of eddy, its peers and a bare loop."`
	ReplyChurn churnCmd      `cmd:"" help:"Pages, faults and collector cycles of READs, with ACKs in time and late."`
	Transports transportsCmd `cmd:"" help:"eddy over TCP, Unix sockets, smux and UDP."`

	Render renderCmd `cmd:"" help:"Make tables and pictures of written results again."`
	Serve  serveCmd  `cmd:"" hidden:"" help:"Be one of the servers; started by the benchmarks themselves."`
}

type listCmd struct{}

func (listCmd) Run(k *kong.Kong) error {
	for _, n := range k.Model.Children {
		if !n.Hidden && n.Name != "list" && n.Name != "render" {
			fmt.Printf("%-12s %s\n", n.Name, n.Help)
		}
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	k := kong.Parse(new(cli), kong.Name("benchmarks"), kong.UsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)))
	err := k.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() > 0 {
		os.Exit(exit.ExitCode()) // isolated, it has said why
	}
	k.FatalIfErrorf(err)
}
