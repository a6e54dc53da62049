package inguest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os/exec"
	"regexp"
	"syscall"
	"testing"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

var ctx = context.Background()

// daemon is a running "eddy serve".
type daemon struct {
	*exec.Cmd
	t    *testing.T
	addr string
	log  bytes.Buffer // what it wrote to standard error
}

// arguments are those that serve dir to everybody on a port of the kernel's choice.
func arguments(dir string) []string {
	return []string{"serve", dir, "--addr=127.0.0.1:0", "--state=none", "--insecure-ports", "--squash=none", "--log-level=debug"}
}

var servesOn = regexp.MustCompile(`serves NFSv3 on tcp (\S+:\d+)`)

// start starts an "eddy serve", which runs until t is over and has to end well.
func start(t *testing.T, cmd *exec.Cmd) *daemon {
	t.Helper()
	d := &daemon{Cmd: cmd, t: t}
	cmd.Stderr = &d.log
	out, err := cmd.StdoutPipe()
	d.ok(err)
	d.ok(cmd.Start())
	banner := bufio.NewScanner(out)
	for d.addr == "" && banner.Scan() {
		if m := servesOn.FindStringSubmatch(banner.Text()); m != nil {
			d.addr = m[1]
		}
	}
	t.Cleanup(d.stop)
	if d.addr == "" {
		t.Fatal("eddy does not say where it serves")
	}
	return d
}

func (d *daemon) stop() {
	if d.ProcessState != nil {
		return
	}
	d.Process.Signal(syscall.SIGTERM)
	if err := d.Wait(); err != nil {
		d.t.Errorf("eddy ended with %v: %s", err, d.log.String())
	}
}

func (d *daemon) ok(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// mount is a client of this user with the root's handle.
func (d *daemon) mount(uid uint32) (*nfs3.Client, []byte) {
	d.t.Helper()
	c, err := nfs3.Dial(ctx, "tcp", d.addr, &rpc.Cred{Flavor: rpc.AUTH_SYS, UID: uid, GID: uid, Machine: []byte("guest")}, rpc.ClientConfig{})
	d.ok(err)
	d.t.Cleanup(func() { c.Close() })
	fh, err := c.Mount(ctx, "/")
	d.ok(err)
	return c, fh
}

// is checks the status of a call.
func (d *daemon) is(want nfs3.NFSStat3, what string, err error) {
	d.t.Helper()
	got := nfs3.NFS3_OK
	var e *nfs3.Error
	if errors.As(err, &e) {
		got = e.Status
	} else {
		d.ok(err)
	}
	if got != want {
		d.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// drop is for a call of which only the error counts.
func drop[R any](_ R, err error) error { return err }
