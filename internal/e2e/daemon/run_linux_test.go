package daemon

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"eddy.example/nfs3"
)

// A reload keeps mounts of exports that stay, adds and removes others, and
// changes nothing if the file is wrong.
func TestReload(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	file := filepath.Join(t.TempDir(), "eddy.toml")
	table := func(path, dir string) string { return fmt.Sprintf("[[export]]\npath = %q\ndir = %q\n", path, dir) }
	writeFile(t, file, table("/a", a))
	p := serve(t, "--config", file)
	c := p.client(t)
	fh, err := c.Mount(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	reload := func() string {
		_, errs, _ := eddy("reload", "--state", p.state)
		return errs
	}

	writeFile(t, file, table("/a", a)+"read-only = true\n"+table("/b", b))
	if errs := reload(); errs != "" {
		t.Fatal(errs)
	}
	bfh, err := c.Mount(t.Context(), "/b")
	if err != nil {
		t.Errorf("the new export: %v", err)
	}
	if res, err := c.Getattr(t.Context(), fh); err != nil || res.Status != nfs3.NFS3_OK {
		t.Errorf("the mount from before: %v, %v", res.Status, err)
	}
	if res, err := c.Mkdir(t.Context(), fh, "d", &nfs3.Sattr3{}); res.Status != nfs3.NFS3ERR_ROFS {
		t.Errorf("writing to what is read-only now: %v, %v", res.Status, err)
	}

	writeFile(t, file, table("/a", "/no/such"))
	if errs := reload(); errs != "eddy: export /a: no such directory: /no/such: make it (mkdir -p /no/such) or name another\n" {
		t.Errorf("a bad file: %s", errs)
	}
	if res, err := c.Getattr(t.Context(), bfh); err != nil || res.Status != nfs3.NFS3_OK {
		t.Errorf("after a bad file: %v, %v", res.Status, err)
	}

	writeFile(t, file, table("/a", a))
	p.Process.Signal(syscall.SIGHUP)
	// The signal is worked off before the command, or with it.
	for {
		res, err := c.Getattr(t.Context(), bfh)
		if res.Status == nfs3.NFS3ERR_STALE {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if res, err := c.Getattr(t.Context(), fh); err != nil || res.Status != nfs3.NFS3_OK {
		t.Errorf("the mount that stays: %v, %v", res.Status, err)
	}
	p.stop(t)
	if !strings.Contains(p.stderr.String(), "closed an export that was removed") {
		t.Errorf("the removed export was not closed:\n%s", p.stderr)
	}
}

func TestControl(t *testing.T) {
	p := serve(t, t.TempDir())
	c := p.client(t)
	fh, err := c.Mount(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	out, errs, _ := eddy("status", "--state", p.state)
	for _, want := range []string{"EXPORT", "rw, squash root, for this machine", "127.0.0.1", "CALL IN FLIGHT", "BUDGET"} {
		if !strings.Contains(out, want) {
			t.Errorf("status has no %q:\n%s%s", want, out, errs)
		}
	}
	out, _, _ = eddy("status", "--json", "--state", p.state)
	var st struct {
		PID     int
		Clients []struct{ Address string }
	}
	if err := json.Unmarshal([]byte(out), &st); err != nil || st.PID != p.Process.Pid || len(st.Clients) != 1 {
		t.Errorf("status is %+v, %v", st, err)
	}
	for _, change := range []string{"/:read-only=on", "read-only=on"} {
		if _, errs, code := eddy("set", change, "log-level=debug", "async-metadata=on", "--state", p.state); code != 0 {
			t.Fatal(errs)
		}
		if res, err := c.Mkdir(t.Context(), fh, "d", &nfs3.Sattr3{}); res.Status != nfs3.NFS3ERR_ROFS {
			t.Errorf("after %s: %v, %v", change, res.Status, err)
		}
		if _, errs, code := eddy("reload", "--state", p.state); code != 0 {
			t.Fatal(errs)
		}
		if res, err := c.Mkdir(t.Context(), fh, "d"+change[:1], &nfs3.Sattr3{}); res.Status == nfs3.NFS3ERR_ROFS || err != nil && res.Status == 0 {
			t.Errorf("after the reload: %v, %v", res.Status, err)
		}
	}
	if _, errs, code := eddy("set", "read-source=disk", "--state", p.state); code != 1 || errs != "eddy: \"disk\" is none of pages, mmap and splice\n" {
		t.Errorf("status %d: %s", code, errs)
	}
	if _, errs, code := eddy("set", "/:read-source=mmap", "--state", p.state); code != 0 {
		t.Error(errs)
	}
	if _, errs, code := eddy("set", "/no:read-only=on", "--state", p.state); code != 1 || errs != "eddy: there is no export /no: eddy status lists them\n" {
		t.Errorf("status %d: %s", code, errs)
	}
}

// systemd hands over sockets and is told what happens.
func TestSystemd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	lf, _ := l.(*net.TCPListener).File()
	pf, _ := pc.(*net.UDPConn).File()
	path := filepath.Join(t.TempDir(), "notify")
	notify, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer notify.Close()

	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, eddyPath, "serve", t.TempDir(), "--state", "none", "--addr", "192.0.2.77:1")
	cmd.Env = append(os.Environ(), "LISTEN_FDS=2", "NOTIFY_SOCKET="+path)
	cmd.ExtraFiles = []*os.File{lf, pf}
	p := start(t, cmd)
	lf.Close()
	pf.Close()
	l.Close()
	pc.Close()
	if p.addr != l.Addr().String() {
		t.Errorf("serves on %s, not on %s", p.addr, l.Addr())
	}
	if err := p.client(t).Null(t.Context()); err != nil {
		t.Error(err)
	}
	told := func() string {
		b := make([]byte, 4096)
		n, err := notify.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	if s := told(); s != "READY=1" {
		t.Errorf("at first: %q", s)
	}
	p.Process.Signal(syscall.SIGHUP)
	if s := told(); !strings.HasPrefix(s, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("at a reload: %q", s)
	}
	if s := told(); s != "READY=1" {
		t.Errorf("after it: %q", s)
	}
	p.stop(t)
	if s := told(); s != "STOPPING=1" {
		t.Errorf("at last: %q", s)
	}
}

func TestConfigCheck(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, filepath.Join(t.TempDir(), "eddy.toml"), fmt.Sprintf(`
network = ["10.0.0.0/8"]
[[export]]
path = "/a"
dir = %[1]q
[[export]]
path = "/b"
dir = %[1]q
read-only = true
squash = "all"
insecure-ports = true
anon-uid = 99
`, dir))
	for _, c := range []struct{ as, want string }{
		{"10.0.0.7", `/a for 10.0.0.7:1023
  user 0 group 0: reads and writes as user 65534 group 65534: squash root: user 0 is anonymous; port 1023 is below 1024
  user 1000 group 1000: reads and writes as user 1000 group 1000: squash root: as it says, not being root; port 1023 is below 1024
/b for 10.0.0.7:1023
  user 0 group 0: only reads as user 99 group 65534: squash all: everybody is anonymous; any port will do (insecure-ports)
  user 1000 group 1000: only reads as user 99 group 65534: squash all: everybody is anonymous; any port will do (insecure-ports)
`},
		{"10.0.0.7:5000 --uid 5", `/a for 10.0.0.7:5000
  user 5 group 5: refused: port 5000 is above 1023, and insecure-ports is not set
/b for 10.0.0.7:5000
  user 5 group 5: only reads as user 99 group 65534: squash all: everybody is anonymous; any port will do (insecure-ports)
`},
		{"192.0.2.1 --uid 5", `/a for 192.0.2.1:1023
  user 5 group 5: refused: 192.0.2.1 is in no network of the export
/b for 192.0.2.1:1023
  user 5 group 5: refused: 192.0.2.1 is in no network of the export
`},
	} {
		args := append([]string{"config", "check", "--config", file, "--as"}, strings.Fields(c.as)...)
		if out, errs, code := eddy(args...); out != c.want || code != 0 {
			t.Errorf("--as %s: status %d\n%s%s", c.as, code, out, errs)
		}
	}
	out, _, _ := eddy("config", "check", "--config", file, "--workers", "2")
	for _, want := range []string{"# --workers", "# " + file + ":2", `addr = "127.0.0.1:2049"`, `path = "/b"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// Bounds of what is shipped: the program's size, and what it takes of memory
// while it has nothing to do.
func TestSizes(t *testing.T) {
	info, err := os.Stat(eddyPath)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() >= 20<<20 {
		t.Errorf("eddy has %d bytes", info.Size())
	}
	p := serve(t, t.TempDir())
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil || kib >= 25<<10 {
				t.Errorf("RssAnon is %s", rest)
			}
			t.Logf("eddy has %d bytes, RssAnon %d KiB", info.Size(), kib)
		}
	}
}
