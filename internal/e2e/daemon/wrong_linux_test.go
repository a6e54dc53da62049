package daemon

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Each wrong turn is one line that says what to do, and exit status 1.
func TestWrongTurns(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().String()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	bad := writeFile(t, filepath.Join(t.TempDir(), "eddy.toml"), "\nread-olny = true\n")
	longName := filepath.Join(t.TempDir(), strings.Repeat("n", 120))

	for _, c := range []struct{ args, want string }{
		{"serve " + dir + " --state none --addr " + port, port + " is in use: stop what serves there or choose another port with --addr"},
		{"serve " + dir + " --state none --addr 192.0.2.77:2049", "192.0.2.77:2049 is no address of this machine: see `ip address` and choose one with --addr"},
		{"serve --addr localhost", `--addr: addr wants HOST:PORT, such as 127.0.0.1:2049 or [::1]:2049, not "localhost"`},
		{"serve /no/such", "export /: no such directory: /no/such: make it (mkdir -p /no/such) or name another"},
		{"serve " + file, "export /: not a directory: " + file + ": name the directory that the file is in"},
		{"serve --adr x", `unknown flag --adr, did you mean "--addr"?`},
		{"serve --config " + bad, bad + `:2: unknown key "read-olny": did you mean read-only?`},
		{"serve --config /no/such.toml", "no such file: /no/such.toml: give another with --config, or none"},
		{"serve " + dir + " --network 10.0.0.0/33", `--network: wants networks such as 192.0.2.0/24 or 2001:db8::/32, not "10.0.0.0/33"`},
		{"serve --export /a=" + dir + " --export /a/=" + dir, "--export /a/: there are two exports with the path /a: give one another path"},
		{"serve --export /a=" + dir + ",rad-only", `--export: /a: unknown key "rad-only": did you mean read-only?`},
		{"serve --root " + dir + " --export /a=../x", "export /a: ../x leads out of --root " + dir + ": name a directory below it"},
		{"serve --root " + dir + " --export /a=link", "export /a: link is a link that leads out of --root " + dir + ", to /etc"},
		{"serve --root " + dir + " --export /a=" + dir + "/x", "export /a: directories are below --root " + dir + ": write x instead of " + dir + "/x"},
		{"serve --root /no/such --export /a=b", "--root: no such directory: /no/such: make it (mkdir -p /no/such) or name another"},
		{"serve " + dir + " --state /proc/eddy", "cannot keep state in /proc/eddy: no such file or directory: choose a directory of your own with --state, or none"},
		{"serve " + dir + " --state none --addr 127.0.0.1:0 --control " + file, "control socket " + file + " is a file already: choose another name with --control"},
		{"serve " + dir + " --state none --addr 127.0.0.1:0 --control " + longName, "control socket " + longName + ": the name is longer than 103 bytes: choose a shorter one with --control"},
		{"serve " + dir + " --state none --addr 127.0.0.1:0 --metrics " + port, port + " is in use: stop what serves there or choose another port with --metrics"},
		{"serve --versions 4", "--versions: versions: only NFS version 3 is served by now: write 3"},
		{"config check --as nowhere", `--as wants an address such as 192.0.2.7, 192.0.2.7:1023 or [2001:db8::7]:1023, not "nowhere"`},
		{"status --control /no/such", "no server answers at /no/such: start one (eddy serve DIR), or name its socket with --control"},
		{"set frobnicate=on", `"frobnicate" cannot be set: the keys are log-level, async-metadata, read-source and read-only, the last three also for one export: /data:read-only=on`},
	} {
		oneLine(t, exec.Command(eddyPath, strings.Fields(c.args)...), c.want)
	}
}

func oneLine(t *testing.T, cmd *exec.Cmd, want string) {
	t.Helper()
	out, errs, code := output(cmd)
	if errs != "eddy: "+want+"\n" || out != "" || code != 1 {
		t.Errorf("eddy %s: status %d\n%s got %swant eddy: %s", strings.Join(cmd.Args[1:], " "), code, out, errs, want)
	}
}

// What a client could change is refused, by whatever links it is reached, and nothing
// is made there.
func TestOwnFilesInAnExport(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	link := filepath.Join(outside, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	outer := writeFile(t, filepath.Join(outside, "eddy.toml"), "state = \"none\"\n[[export]]\npath = \"/x\"\ndir = \""+dir+"\"\n")
	log, control := filepath.Join(dir, "log"), filepath.Join(link, "control.sock")
	for _, c := range []struct{ args, want string }{
		{dir + " --state " + dir + "/s", "the state directory " + dir + "/s is inside export / (" + dir + "), where clients could change it: choose another directory with --state, or none"},
		{dir + " --state " + link, "the state directory " + link + " is inside export / (" + dir + "), where clients could change it: choose another directory with --state, or none"},
		{link + " --state " + dir + "/a/b", "the state directory " + dir + "/a/b is inside export / (" + dir + "), where clients could change it: choose another directory with --state, or none"},
		{dir + " --state none --control " + control, "the control socket " + control + " is inside export / (" + dir + "), where clients could change it: choose another name with --control, or none"},
		{dir + " --state none --log-file " + log, "the log file " + log + " is inside export / (" + dir + "), where clients could change it: choose another with --log-file"},
		{outside + " --state none --config " + outer, "the file " + outer + " is inside export / (" + outside + "), where clients could change it: move it out of there"},
		{"--config " + outer + " --control " + control, "the control socket " + control + " is inside export /x (" + dir + "), where clients could change it: choose another name with --control, or none"},
	} {
		for _, command := range []string{"serve ", "config check "} {
			oneLine(t, exec.Command(eddyPath, strings.Fields(command+c.args)...), c.want)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("made %v, %v", left, err)
	}

	// Below the state directory an export is in nobody's way, but where that keeps an
	// export's own.
	state := filepath.Join(outside, "state")
	shared, exports := filepath.Join(state, "shared"), filepath.Join(state, "exports")
	for _, d := range []string{shared, exports} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs, code := eddy("config", "check", shared, "--state", state); code != 0 {
		t.Error(errs)
	}
	if _, errs, code := eddy("config", "check", exports, "--state", state); code != 1 || !strings.Contains(errs, "is inside export / ("+exports+")") {
		t.Errorf("status %d: %s", code, errs)
	}
}

// A reload is refused for the same reason, and changes nothing.
func TestReloadWithOwnFilesInAnExport(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "eddy.toml")
	table := func(path, dir string) string { return fmt.Sprintf("[[export]]\npath = %q\ndir = %q\n", path, dir) }
	writeFile(t, file, table("/a", dir))
	p := serve(t, "--config", file)
	writeFile(t, file, table("/a", dir)+table("/b", p.state))
	_, errs, code := eddy("reload", "--state", p.state)
	want := "eddy: the state directory " + p.state + " is inside export /b (" + p.state + "), where clients could change it"
	if code != 1 || !strings.HasPrefix(errs, want) || strings.Count(errs, "\n") != 1 {
		t.Errorf("status %d: %s", code, errs)
	}
	if _, err := p.client(t).Mount(t.Context(), "/a"); err != nil {
		t.Error(err)
	}
}

func TestPort111IsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.2:111")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	oneLine(t, exec.Command(eddyPath, "serve", t.TempDir(), "--state", "none", "--addr", "127.0.0.2:0", "--rpcbind", "own"),
		"127.0.0.2:111 is in use, by rpcbind as a rule: register there with --rpcbind system, or stop it")
}

// A user without rights is told so. The tests' own user is root.
func TestNoRights(t *testing.T) {
	shut := t.TempDir()
	if err := os.Chmod(shut, 0o700); err != nil {
		t.Fatal(err)
	}
	open, err := os.MkdirTemp("/tmp", "eddy-open-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(open)
	os.Chmod(open, 0o755)
	program := filepath.Join(open, "eddy")
	text, err := os.ReadFile(eddyPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"serve " + shut, "export /: no rights to read " + shut + ": run as its owner or as root, or change its mode"},
		{"serve " + open + " --state " + shut + "/x", "cannot keep state in " + shut + "/x: permission denied: choose a directory of your own with --state, or none"},
		{"serve " + open + " --state none --addr 127.0.0.1:80", "127.0.0.1:80 is not allowed for this user: run as root or choose a port above 1023 with --addr"},
		{"serve " + open + " --state none --addr 127.0.0.1:0 --rpcbind own", "127.0.0.1:111 is not allowed for this user: run as root, or leave --rpcbind off and tell clients the port"},
	} {
		cmd := exec.Command(program, strings.Fields(c.args)...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		oneLine(t, cmd, c.want)
	}
}

func TestStateIsLocked(t *testing.T) {
	p := serve(t, t.TempDir())
	_, errs, code := eddy("serve", t.TempDir(), "--addr", "127.0.0.1:0", "--state", p.state)
	want := "eddy: state directory " + p.state + " is in use by process "
	if code != 1 || !strings.HasPrefix(errs, want) || strings.Count(errs, "\n") != 1 {
		t.Errorf("status %d: %s", code, errs)
	}
	_, errs, code = eddy("serve", t.TempDir(), "--addr", "127.0.0.1:0", "--state", "none", "--control", p.state+"/control.sock")
	if code != 1 || !strings.Contains(errs, "is in use by a running server") {
		t.Errorf("status %d: %s", code, errs)
	}
}

// What a killed server leaves behind is in nobody's way, and its key is used
// again.
func TestAfterKill(t *testing.T) {
	dir := t.TempDir()
	p := serve(t, dir)
	fh, err := p.client(t).Mount(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.Stat(filepath.Join(p.state, "handle.key"))
	if err != nil || key.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", key, err)
	}
	sock, err := os.Stat(filepath.Join(p.state, "control.sock"))
	if err != nil || sock.Mode().Perm() != 0o600 {
		t.Errorf("the control socket: %v, %v", sock, err)
	}
	p.Process.Kill()
	<-p.ended
	q := start(t, exec.Command(eddyPath, "serve", dir, "--addr", p.addr, "--state", p.state))
	if res, err := q.client(t).Getattr(t.Context(), fh); err != nil || res.Status != 0 {
		t.Errorf("the handle from before: %v %v", res.Status, err)
	}
	q.stop(t)
	if _, err := os.Stat(filepath.Join(p.state, "control.sock")); !os.IsNotExist(err) {
		t.Errorf("the control socket is left: %v", err)
	}
}
