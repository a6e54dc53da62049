package limits

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// userID is the user whom quotas bind.
const userID = 1000

var (
	ctx  = context.Background()
	root = rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: []byte("client")}
	user = rpc.Cred{Flavor: rpc.AUTH_SYS, UID: userID, GID: userID, Machine: []byte("client")}
)

// daemon is "eddy serve" of a directory.
type daemon struct {
	t    *testing.T
	cmd  *exec.Cmd
	addr string
	log  bytes.Buffer // what it wrote to standard error
}

// start runs "eddy serve dir" until the test ends, started by the shell after
// prelude: with all that the shell can take from it.
func start(t *testing.T, dir, prelude string, flags ...string) *daemon {
	t.Helper()
	d := &daemon{t: t}
	script := prelude + "\nexec \"$@\""
	args := append([]string{"-c", script, "sh", program, "serve", dir, "--addr=127.0.0.1:0", "--state=" + t.TempDir(),
		"--insecure-ports", "--squash=none", "--workers=2"}, flags...)
	d.cmd = exec.Command("/bin/sh", args...)
	d.cmd.Stderr = &d.log
	out, err := d.cmd.StdoutPipe()
	d.ok(err)
	d.ok(d.cmd.Start())
	banner := bufio.NewScanner(out)
	for d.addr == "" && banner.Scan() {
		if _, rest, ok := strings.Cut(banner.Text(), "serves NFSv3 on tcp "); ok {
			d.addr, _, _ = strings.Cut(rest, ",")
		}
	}
	t.Cleanup(d.stop)
	if d.addr == "" {
		t.Fatalf("eddy does not say where it serves: %s", d.log.String())
	}
	return d
}

// stop ends the daemon, which has to end well.
func (d *daemon) stop() {
	if d.cmd == nil {
		return
	}
	d.cmd.Process.Signal(syscall.SIGTERM)
	if err := d.cmd.Wait(); err != nil {
		d.t.Errorf("eddy ended with %v: %s", err, d.log.String())
	}
	d.cmd = nil
}

func (d *daemon) ok(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// dial connects a client, who leaves when the test ends, if not before.
func (d *daemon) dial(cred *rpc.Cred) *nfs3.Client {
	d.t.Helper()
	c, err := nfs3.Dial(ctx, "tcp", d.addr, cred, rpc.ClientConfig{})
	d.ok(err)
	d.t.Cleanup(func() { c.Close() })
	return c
}

// mount is dial with the root's handle.
func (d *daemon) mount(cred *rpc.Cred) (*nfs3.Client, []byte) {
	d.t.Helper()
	c := d.dial(cred)
	fh, err := c.Mount(ctx, "/")
	d.ok(err)
	return c, fh
}

// create makes a file.
func (d *daemon) create(c *nfs3.Client, dir []byte, name string) []byte {
	d.t.Helper()
	fh, err := create(c, dir, name)
	d.ok(err)
	return fh
}

func create(c *nfs3.Client, dir []byte, name string) ([]byte, error) {
	how := nfs3.Createhow3{Mode: nfs3.UNCHECKED, ObjAttributes: nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: 0o666}}}
	res, err := c.Create(ctx, dir, name, &how)
	return res.Resok.Obj.Handle.Data, err
}

func (d *daemon) lookup(c *nfs3.Client, dir []byte, name string) []byte {
	d.t.Helper()
	res, err := c.Lookup(ctx, dir, name)
	d.ok(err)
	return res.Resok.Object.Data
}

// is checks the status of a call.
func (d *daemon) is(want nfs3.NFSStat3, what string, err error) {
	d.t.Helper()
	if got := status(err); got != want.String() {
		d.t.Errorf("%s: %s, want %v", what, got, want)
	}
}

// status is the name of the status that a call was answered with.
func status(err error) string {
	var e *nfs3.Error
	switch {
	case err == nil:
		return nfs3.NFS3_OK.String()
	case errors.As(err, &e):
		return e.Status.String()
	}
	return err.Error()
}

// drop is for a call of which only the error counts.
func drop[R any](_ R, err error) error { return err }

// until waits for something that has to come about. Nothing passes or fails by
// it that does not hang.
func (d *daemon) until(what string, ok func() bool) {
	d.t.Helper()
	for n := 0; !ok(); n++ {
		if n == 60_000 {
			d.t.Fatalf("waiting in vain for %s: %s", what, d.log.String())
		}
		time.Sleep(time.Millisecond)
	}
}

// descriptors is how many the daemon has.
func (d *daemon) descriptors() int {
	d.t.Helper()
	list, err := os.ReadDir(d.proc("fd"))
	d.ok(err)
	return len(list)
}

// rssAnon is the daemon's own memory in use, in KiB.
func (d *daemon) rssAnon() int {
	d.t.Helper()
	b, err := os.ReadFile(d.proc("status"))
	d.ok(err)
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			d.ok(err)
			return n
		}
	}
	d.t.Fatal("no RssAnon in /proc/PID/status")
	return 0
}

func (d *daemon) proc(name string) string {
	return filepath.Join("/proc", strconv.Itoa(d.cmd.Process.Pid), name)
}

// pattern is what a file of n bytes has that seed tells from others.
func pattern(seed, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*31>>3 + i + seed*7)
	}
	return b
}

// write writes a file on the host.
func (d *daemon) write(path string, data []byte) {
	d.t.Helper()
	d.ok(os.WriteFile(path, data, 0o666))
	d.ok(os.Chmod(path, 0o666))
}

func names(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(prefix, i))
	}
	return names
}
