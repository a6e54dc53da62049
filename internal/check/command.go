package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A command is a program with its arguments, and what it has in its
// environment beyond ours.
type command struct {
	env   []string
	args  []string
	grace time.Duration // from an interrupt until it is killed, 10 s if zero
}

func goCmd(args ...string) command {
	return command{args: append([]string{"go"}, args...)}
}

// on is the same go command for another platform.
func (c command) on(goos, goarch string) command {
	c.env = append(c.env[:len(c.env):len(c.env)], "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	return c
}

func (c command) String() string {
	return strings.Join(append(c.env[:len(c.env):len(c.env)], c.args...), " ")
}

// run runs the command to its end and returns both its outputs as one.
func run(ctx context.Context, c command) (string, error) {
	var out bytes.Buffer
	err := runTo(ctx, c, &out, &out)
	if b := out.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
		out.WriteByte('\n')
	}
	return out.String(), err
}

// runTo runs the command to its end. When ctx is done it is interrupted, with
// all its descendants, and killed if that was not enough.
func runTo(ctx context.Context, c command, stdout, stderr io.Writer) error {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = cmp.Or(c.grace, 10*time.Second)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return err
}
