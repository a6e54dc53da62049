package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/alecthomas/kong"

	"eddy.example/cmd/eddy/config"
)

// controlFlags say which server a command is for.
type controlFlags struct {
	Control string `placeholder:"PATH" help:"The server's control socket. Default: control.sock in its state directory."`
	State   string `placeholder:"DIR" help:"The server's state directory. Default: as for eddy serve."`
	Config  string `placeholder:"FILE" help:"The server's configuration file."`
}

// path finds the control socket as the server has done.
func (f *controlFlags) path(k *kong.Context) (string, error) {
	c, err := given(k, &config.Config{Control: f.Control, State: f.State, File: f.Config}, "").Load()
	if err != nil {
		return "", err
	}
	dir := c.State
	if dir == "" {
		if dir, err = defaultStateDir(); err != nil {
			return "", err
		}
	}
	path := controlPath(c, &state{dir: dir})
	if path == "" || c.Control == "" && dir == none {
		return "", errors.New("this server has no control socket: start it with --control PATH")
	}
	return path, nil
}

// ask sends a request to the server and puts its answer in out.
func (f *controlFlags) ask(k *kong.Context, method, what string, in, out any) error {
	path, err := f.path(k)
	if err != nil {
		return err
	}
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	var dialer net.Dialer
	c := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", path)
		},
	}}
	r, err := http.NewRequest(method, "http://eddy"+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := c.Do(r)
	switch {
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("no rights to use %s: run as the user that the server runs as, or as root", path)
	case err != nil:
		return fmt.Errorf("no server answers at %s: start one (eddy serve DIR), or name its socket with --control", path)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("the server went away: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		var p problem
		if json.Unmarshal(text, &p) != nil || p.Error == "" {
			p.Error = answer.Status
		}
		return errors.New(p.Error)
	}
	return json.Unmarshal(text, out)
}

type reloadCmd struct{ controlFlags }

// Run lets the server reload, and tells what is wrong if it cannot.
func (r *reloadCmd) Run(k *kong.Context) error {
	return r.ask(k, http.MethodPost, "/reload", nil, &struct{}{})
}

type setCmd struct {
	Changes []string `arg:"" name:"key=value" help:"What to change: log-level=debug, async-metadata=on, read-source=mmap, read-only=on; for one export /data:read-only=on."`
	controlFlags
}

// Run changes settings.
func (s *setCmd) Run(k *kong.Context) error {
	var changes []change
	for _, text := range s.Changes {
		c, err := parseChange(text)
		if err != nil {
			return err
		}
		changes = append(changes, c)
	}
	return s.ask(k, http.MethodPost, "/set", changes, &struct{}{})
}
