package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// server is a peer under test, running in a child process.
type server struct {
	name string
	addr string
	cmd  *exec.Cmd
	stop *os.File // closing it ends the child
}

// startServer starts this program again as the named server and waits until it
// has said where it listens.
func startServer(name string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := exec.Command(self, "serve", name)
	cmd.Stdin, cmd.Stderr = r, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.Close()
		cmd.Wait()
		return nil, fmt.Errorf("%s did not start: %w", name, err)
	}
	return &server{name: name, addr: strings.TrimSpace(addr), cmd: cmd, stop: w}, nil
}

func (s *server) close() {
	s.stop.Close()
	s.cmd.Wait()
}

// cpu is the processor time the server has used so far, from the kernel's clock
// of that process.
func (s *server) cpu() (time.Duration, error) {
	// clock_getcpuclockid(3): the scheduler's clock of a process.
	const schedClock = 2
	var ts unix.Timespec
	err := unix.ClockGettime(int32(^s.cmd.Process.Pid<<3|schedClock), &ts)
	return time.Duration(ts.Nano()), err
}

// serveCmd is the child's side: it serves until its standard input ends.
type serveCmd struct {
	Name string `arg:"" enum:"eddy,go-nfs"`
}

func (s *serveCmd) Run() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serve := map[string]func(net.Listener) error{"eddy": serveEddy, "go-nfs": serveGoNFS}[s.Name]
	ended := make(chan error, 1)
	go func() { ended <- serve(l) }()
	fmt.Println(l.Addr())
	go func() {
		os.Stdin.Read(make([]byte, 1))
		ended <- nil
	}()
	return <-ended
}
