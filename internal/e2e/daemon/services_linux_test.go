package daemon

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"eddy.example/internal/netns"
)

// inside is a command in a network namespace.
func inside(ns *netns.NS, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", ns.Name()}, args...)...)
}

// finds checks that rpcinfo in the namespace knows where NFS and MOUNT are,
// and that they answer there.
func finds(t *testing.T, ns *netns.NS, port string) {
	t.Helper()
	out, errs, _ := output(inside(ns, "rpcinfo", "-p", "127.0.0.1"))
	known := make(map[string]bool)
	for line := range strings.Lines(out) {
		known[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{"100003 3 tcp " + port + " nfs", "100003 3 udp " + port + " nfs", "100005 3 udp " + port + " mountd"} {
		if !known[want] {
			t.Errorf("rpcinfo does not know %q:\n%s%s", want, out, errs)
		}
	}
	for _, flag := range []string{"-t", "-u"} {
		if out, errs, _ := output(inside(ns, "rpcinfo", flag, "127.0.0.1", "100003")); !strings.Contains(out, "version 3 ready and waiting") {
			t.Errorf("rpcinfo %s: %s%s", flag, out, errs)
		}
	}
}

func TestRpcbindOwn(t *testing.T) {
	ns := netns.New(t)
	p := start(t, inside(ns, eddyPath, "serve", t.TempDir(), "--state", "none", "--addr", "127.0.0.1:20490", "--rpcbind", "own"))
	finds(t, ns, "20490")
	p.stop(t)
}

// The rpcbind of this test's machine has a /run of its own.
func TestRpcbindSystem(t *testing.T) {
	ns := netns.New(t)
	system := inside(ns, "sh", "-c", "mount -t tmpfs tmpfs /run && mkdir /run/rpcbind && exec rpcbind -f")
	if err := system.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		system.Process.Kill()
		system.Wait()
	}()
	for {
		if _, _, code := output(inside(ns, "rpcinfo", "-p", "127.0.0.1")); code == 0 {
			break
		}
	}
	p := start(t, exec.Command("nsenter", "-t", strconv.Itoa(system.Process.Pid), "--mount", "--net",
		eddyPath, "serve", t.TempDir(), "--state", "none", "--addr", "127.0.0.1:20490", "--rpcbind", "system"))
	finds(t, ns, "20490")
	p.stop(t)
	if out, _, _ := output(inside(ns, "rpcinfo", "-p", "127.0.0.1")); strings.Contains(out, "20490") {
		t.Errorf("still registered after the end:\n%s", out)
	}
}

func TestMetrics(t *testing.T) {
	p := serve(t, t.TempDir(), "--metrics", "127.0.0.1:0")
	_, address, ok := strings.Cut(strings.Join(p.said, " "), "http://")
	if !ok {
		t.Fatalf("the banner does not say where metrics are: %q", p.said)
	}
	url := "http://" + strings.TrimRight(strings.Fields(address)[0], "/")
	if err := p.client(t).Null(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/metrics":      `eddy_rpc_calls_total{procedure="NULL",program="nfs",status="success",version="3"} 1`,
		"/healthz":      "",
		"/status.json":  `"exports"`,
		"/":             "<html",
		"/debug/pprof/": "goroutine",
	} {
		res, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v, no %q", path, res.Status, err, want)
		}
	}
}

// The log file is made anew after logrotate has moved it away.
func TestLogIsReopened(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	p := serve(t, t.TempDir(), "--log-file", log)
	if err := os.Rename(log, log+".1"); err != nil {
		t.Fatal(err)
	}
	p.Process.Signal(syscall.SIGHUP)
	for {
		if text, err := os.ReadFile(log); err == nil && len(text) > 0 {
			break
		}
	}
	p.stop(t)
}
