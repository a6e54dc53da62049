package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"eddy.example/cmd/eddy/config"
)

// maxSocketPath is the longest name that a Unix socket can have here.
const maxSocketPath = 103

// controlPath is where the control socket of a server is, "" if there is none.
func controlPath(c *config.Config, s *state) string {
	switch {
	case c.Control == none:
		return ""
	case c.Control != "":
		return c.Control
	case s != nil:
		return filepath.Join(s.dir, "control.sock")
	}
	return ""
}

// controlServer answers eddy status, reload and set: HTTP over a Unix socket
// that only this user can use. nil does nothing.
//
//	GET  /status   a serverStatus
//	POST /reload
//	POST /set      {"key": "value", ...}
//
// What fails is answered with a problem.
type controlServer struct {
	d    *daemon
	l    net.Listener
	http http.Server
}

// problem is an answer that tells what is wrong.
type problem struct {
	Error string `json:"error"`
}

func newControlServer(d *daemon, path string) (*controlServer, error) {
	l, err := listenControl(path)
	if err != nil {
		return nil, err
	}
	c := &controlServer{d: d, l: l}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { answer(w, d.status(), nil) })
	mux.HandleFunc("POST /reload", func(w http.ResponseWriter, _ *http.Request) { answer(w, struct{}{}, d.reload()) })
	mux.HandleFunc("POST /set", c.set)
	c.http = http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: zap.NewStdLog(d.log.Logger)}
	return c, nil
}

// listenControl takes the place of a socket that nobody listens on any more.
func listenControl(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("control socket %s: the name is longer than %d bytes: choose a shorter one with --control", path, maxSocketPath)
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("control socket %s is a file already: choose another name with --control", path)
		}
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, fmt.Errorf("control socket %s is in use by a running server: stop it, or choose another name with --control", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("control socket %s: %w: choose another name with --control", path, errors.Unwrap(err))
		}
	}
	var l net.Listener
	err := privately(func() (err error) {
		l, err = net.Listen("unix", path)
		return err
	})
	if err != nil {
		var at *os.SyscallError
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, fmt.Errorf("control socket %s: %w: choose another name with --control, or none", path, err)
	}
	return l, nil
}

func (c *controlServer) start() {
	if c == nil {
		return
	}
	go func() {
		if err := c.http.Serve(c.l); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			c.d.log.Error("the control socket is served no longer", zap.Error(err))
		}
	}()
}

func (c *controlServer) close() {
	if c == nil {
		return
	}
	c.http.Close()
	c.l.Close() // removes the socket
}

func (c *controlServer) set(w http.ResponseWriter, r *http.Request) {
	var changes []change
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&changes); err != nil {
		answer(w, nil, err)
		return
	}
	answer(w, struct{}{}, c.d.set(changes))
}

func answer(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		v = problem{err.Error()}
	}
	json.NewEncoder(w).Encode(v)
}

// A change is a setting that eddy set gives a new value.
type change struct {
	Path  string `json:"path"` // of the export; "": all, or the server
	Key   string `json:"key"`
	Value string `json:"value"`
}

// settable are the keys that eddy set knows.
var settable = map[string]struct {
	ofExport bool
	apply    func(*daemon, string, string) error
}{
	"log-level": {false, func(d *daemon, _, value string) error { return d.setLogLevel(value) }},
	"async-metadata": {true, func(d *daemon, path, value string) error {
		return d.setTerm(path, value, func(t *config.Terms, on bool) { t.AsyncMetadata = on })
	}},
	"read-source": {true, func(d *daemon, path, value string) error {
		if _, ok := readSources[value]; !ok {
			return fmt.Errorf("%q is none of pages, mmap and splice", value)
		}
		return d.exports.change(path, d.server, func(t *config.Terms) { t.ReadSource = value })
	}},
	"read-only": {true, func(d *daemon, path, value string) error {
		return d.setTerm(path, value, func(t *config.Terms, on bool) { t.ReadOnly = on })
	}},
}

const settableKeys = "log-level, async-metadata, read-source and read-only, the last three also for one export: /data:read-only=on"

// parseChange takes KEY=VALUE or PATH:KEY=VALUE.
func parseChange(s string) (change, error) {
	name, value, ok := strings.Cut(s, "=")
	c := change{Key: name, Value: value}
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		c.Path, c.Key = name[:i], name[i+1:]
	}
	k, known := settable[c.Key]
	switch {
	case !ok || value == "":
		return c, fmt.Errorf("%q is no change: write KEY=VALUE; the keys are %s", s, settableKeys)
	case !known:
		return c, fmt.Errorf("%q cannot be set: the keys are %s", c.Key, settableKeys)
	case c.Path != "" && !k.ofExport:
		return c, fmt.Errorf("%s is the server's, not an export's: write %s=%s", c.Key, c.Key, value)
	}
	return c, nil
}

// set makes the changes, in order, up to the first that fails.
func (d *daemon) set(changes []change) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range changes {
		k, ok := settable[c.Key]
		if !ok {
			return fmt.Errorf("%q cannot be set: the keys are %s", c.Key, settableKeys)
		}
		if err := k.apply(d, c.Path, c.Value); err != nil {
			return err
		}
		d.log.Info("set", zap.String("export", c.Path), zap.String(c.Key, c.Value))
	}
	return nil
}

func (d *daemon) setLogLevel(value string) error {
	if err := config.CheckValue("log-level", value); err != nil {
		return err
	}
	d.log.setLevel(value)
	return nil
}

func (d *daemon) setTerm(path, value string, f func(*config.Terms, bool)) error {
	on, err := config.ParseBool(value)
	if err != nil {
		return fmt.Errorf("%q is neither on nor off", value)
	}
	return d.exports.change(path, d.server, func(t *config.Terms) { f(t, on) })
}
