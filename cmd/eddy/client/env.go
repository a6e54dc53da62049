package client

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// env is what a command runs in.
type env struct {
	ctx      context.Context
	out      io.Writer
	err      io.Writer
	terminal bool // err is a terminal, which may be told of progress
}

// run runs a command in the process's own environment, until it is done or
// interrupted.
func run(command func(*env) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return command(&env{ctx: ctx, out: os.Stdout, err: os.Stderr, terminal: isTerminal(os.Stderr)})
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// say prints a line for the user beside the command's output.
func (e *env) say(format string, args ...any) { fmt.Fprintf(e.err, format+"\n", args...) }
