// Command run386 runs a program that was built for GOARCH=386, for the -exec
// flag of go test:
//
//	GOARCH=386 CGO_ENABLED=0 go test -exec "$(pwd)/run386" ./bufpool
//
// A 64-bit kernel runs such programs as they are, unless it was told or built
// not to. Where it refuses, the program runs in a guest whose kernel does, with
// a copy of its working folder. There it is slower by an order of magnitude.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"eddy.example/internal/kernelclient"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: run386 PROGRAM [ARGUMENT...]")
		os.Exit(2)
	}
	status, err := run(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "run386:", err)
		status = 1
	}
	os.Exit(status)
}

func run(program string, args []string) (status int, err error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return 0, err
	}
	if err := syscall.Exec(path, append([]string{program}, args...), os.Environ()); err != syscall.ENOEXEC {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	defer stop()
	kernel, err := kernelclient.Fetch(ctx, kernelclient.Default)
	if err != nil {
		return 0, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	const inGuest = "/run/program"
	var script strings.Builder
	for _, name := range []string{"CI", "EDDY_LONG"} {
		if v, ok := os.LookupEnv(name); ok {
			fmt.Fprintf(&script, "export %s=%s\n", name, quote(v))
		}
	}
	// The server asks whose a loopback client's socket is.
	script.WriteString("modprobe -a tcp_diag udp_diag\n")
	fmt.Fprintf(&script, "cd %s\nexec %s", quote(dir), inGuest)
	for _, a := range args {
		script.WriteString(" " + quote(a))
	}
	_, err = kernelclient.Run(ctx, kernelclient.Config{
		Kernel:  kernel,
		Net:     kernelclient.User(),
		Files:   map[string]string{inGuest: path, dir: dir},
		Modules: []string{"tcp_diag", "udp_diag"},
		Script:  script.String(),
		Memory:  2048,
		CPUs:    2,
		Timeout: 24 * time.Hour, // go test has a limit of its own
		Console: os.Stdout,
	})
	var exit *kernelclient.ExitError
	if errors.As(err, &exit) {
		return exit.Status, nil
	}
	return 0, err
}

// quote makes s one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
