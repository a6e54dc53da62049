package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"

	"eddy.example/load"
	"eddy.example/xprt/mux"
)

// exportPath is what the servers of this program export.
const exportPath = "/"

// spec is a server in one of the ways in which it can work.
type spec struct {
	server  string // eddy, ganesha, go-nfs or limit
	mode    string // how replies are made, of eddy and limit
	network string // tcp, unix, smux or udp; "" is tcp
}

// protocol is the protocol of a row: NFS over what, unless that is TCP.
func (s *spec) protocol() string {
	if s.network == "" {
		return overTCP
	}
	return overTCP + "+" + s.network
}

// server is a server under test. It runs in a process of its own.
type server struct {
	spec
	addr, mountAddr, path string
	pid                   int
	dial                  func(context.Context) (net.Conn, error) // nil: as always
	ask                   func() (account, error)                 // nil: it does not tell
	stop                  func()
	failed                bool
}

// startChild starts this program again as the server and waits until it
// has said where it listens.
func startChild(s spec, host, dir, scratch, profile string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"serve", s.server, "--mode=" + s.mode, "--dir=" + dir, "--scratch=" + scratch, "--addr=" + net.JoinHostPort(host, "0")}
	if s.network != "" {
		args = append(args, "--network="+s.network)
	}
	if profile != "" {
		args = append(args, "--cpu-profile="+profile)
	}
	cmd := exec.Command(self, args...)
	cmd.Stderr = os.Stderr
	// Interrupts of the terminal are for the parent, which ends the child by
	// closing its input.
	detach(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() {
		in.Close()
		cmd.Wait()
	}
	answers := bufio.NewReader(out)
	addr, err := answers.ReadString('\n')
	if err != nil {
		stop()
		return nil, fmt.Errorf("%s did not start: %w", s.server, err)
	}
	return &server{
		addr: strings.TrimSpace(addr),
		path: exportPath,
		pid:  cmd.Process.Pid,
		stop: stop,
		ask: func() (a account, err error) {
			if _, err = io.WriteString(in, "\n"); err != nil {
				return a, err
			}
			line, err := answers.ReadBytes('\n')
			if err != nil {
				return a, err
			}
			return a, json.Unmarshal(line, &a)
		},
	}, nil
}

// load puts a load on the server.
func (s *server) load(ctx context.Context, c load.Config) (load.Result, error) {
	c.Addr, c.MountAddr, c.Path, c.Dial = s.addr, s.mountAddr, s.path, s.dial
	switch s.network {
	case "unix", "udp":
		c.Network = s.network
	case "smux":
		session, err := mux.Dial(ctx, "tcp", s.addr, mux.Config{})
		if err != nil {
			return load.Result{}, err
		}
		defer session.Close()
		c.Dial = func(context.Context) (net.Conn, error) { return session.Open() }
	}
	if s.server == "limit" {
		return loadBare(ctx, c)
	}
	return load.Run(ctx, c)
}
