package escape

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"

	eddy "eddy.example"
	"eddy.example/vfs/export"
	"eddy.example/vfs/local"
)

// settings are those of a server, as they are passed to another process too.
type settings struct {
	Root, State  string
	CrossMounts  bool
	Handles      local.Handles
	MaxOpenFiles int
	HandleKey    eddy.Key
}

// server serves settings until stop is called.
type server struct {
	addr string
	stop func() error
}

// serveHere serves in this process.
func serveHere(c settings) (*server, error) {
	fs, err := local.Open(local.Config{
		Root: c.Root, State: c.State, CrossMounts: c.CrossMounts, AsyncMetadata: true,
		MaxOpenFiles: c.MaxOpenFiles, Handles: c.Handles,
	})
	if err != nil {
		return nil, err
	}
	s := &eddy.Server{HandleKey: c.HandleKey, Workers: 2, Exports: []eddy.Export{
		{Path: "/", FS: fs, Squash: export.SquashNone, InsecurePorts: true},
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, fs.Close())
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	stop := func() error {
		err := s.Close()
		if e := <-served; !errors.Is(e, eddy.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		err = errors.Join(err, fs.Close())
		if n := fs.Stats().OpenFiles; n != 0 {
			err = errors.Join(err, fmt.Errorf("%d descriptors are left of the export", n))
		}
		return err
	}
	return &server{l.Addr().String(), stop}, nil
}

// serveEnv is set in the environment of a process that is to serve.
const serveEnv = "EDDY_ESCAPE_SERVE"

// serveForUser is what the process of serveThere does: it serves until its
// standard input ends.
func serveForUser(config string) {
	err := func() error {
		var c settings
		if err := json.Unmarshal([]byte(config), &c); err != nil {
			return err
		}
		s, err := serveHere(c)
		if err != nil {
			return err
		}
		fmt.Println(s.addr)
		io.Copy(io.Discard, os.Stdin)
		return s.stop()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveThere serves in a process of a user's, who has no privileges.
func serveThere(c settings) (*server, error) {
	config, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var complaints strings.Builder
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), serveEnv+"="+string(config))
	cmd.Stderr = &complaints
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: userID, Gid: userID}}
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
	wait := func() error {
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%w: %s", err, complaints.String())
		}
		return nil
	}
	var addr string
	if _, err := fmt.Fscanln(out, &addr); err != nil {
		in.Close()
		return nil, errors.Join(err, wait())
	}
	stop := func() error {
		in.Close()
		return wait()
	}
	return &server{addr, stop}, nil
}
