package newcomer

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"eddy.example/internal/netns"
)

const userID = 1000

// machine is where the newcomer sits.
type machine struct {
	t    *testing.T
	ns   *netns.NS
	home string // where everything lies; the program is there as "eddy"
}

func newMachine(t *testing.T) *machine {
	m := &machine{t, netns.New(t), t.TempDir()}
	for _, dir := range []string{filepath.Dir(m.home), m.home} {
		m.ok(os.Chmod(dir, 0o755))
	}
	m.ok(os.Chown(m.home, userID, userID))
	out, err := exec.Command("go", "build", "-o", m.path("eddy"), "eddy.example/cmd/eddy").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	m.ok(os.Mkdir(m.path("files"), 0o755))
	m.ok(os.WriteFile(m.path("files/first.txt"), []byte("hello\n"), 0o644))
	return m
}

func (m *machine) ok(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) path(name string) string { return filepath.Join(m.home, name) }

// command is a line for the shell, run by a user.
func (m *machine) command(uid uint32, line string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Dir = m.home
	cmd.Env = []string{"HOME=" + m.home, "PATH=" + m.home + ":/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	return cmd
}

// serve runs a line that serves until the test ends, and returns its banner.
func (m *machine) serve(line string) (banner string) {
	m.t.Helper()
	cmd := m.command(userID, "exec "+line)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	m.ok(err)
	m.ok(m.ns.Do(cmd.Start))
	m.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			m.t.Errorf("%s: %v: %s", line, err, complaints.String())
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		banner += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "libnfs") {
			return banner
		}
	}
	m.t.Fatalf("%s ended: %s", line, complaints.String())
	return ""
}

// run runs a line to its end.
func (m *machine) run(uid uint32, line string) (stdout, stderr string, status int) {
	m.t.Helper()
	cmd := m.command(uid, line)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := m.ns.Do(cmd.Run)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// readme finds what a line of README.md has in a group.
func readme(t *testing.T, pattern string) string {
	t.Helper()
	b, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?m)" + pattern).FindSubmatch(b)
	if found == nil {
		t.Fatalf("README.md has no line like %s", pattern)
	}
	return string(found[1])
}

// TestFirstFile is the two commands to the first file, as README.md has them, and
// what the program itself has for the second.
func TestFirstFile(t *testing.T) {
	m := newMachine(t)
	serve := readme(t, `^    go run \./cmd/(eddy serve DIR) .*$`)
	list := readme(t, `^    libnfs +(nfs-ls .*)$`)
	mount := readme(t, `^    (Linux +sudo mount .*)$`)
	banner := m.serve(strings.Replace(serve, "DIR", "files", 1))
	for _, line := range []string{list, mount} {
		if !strings.Contains(banner, line) {
			t.Errorf("README.md says %q, and the program\n%s", line, banner)
		}
	}
	for _, line := range []string{list, "eddy ls nfs://127.0.0.1/"} {
		if out, complaint, status := m.run(userID, line); status != 0 || !strings.Contains(out, "first.txt") {
			t.Errorf("%s: status %d\n%s%s", line, status, out, complaint)
		}
	}
}

// TestWrongTurns takes them.
func TestWrongTurns(t *testing.T) {
	m := newMachine(t)
	m.ok(os.Mkdir(m.path("private"), 0o700))
	m.ok(os.WriteFile(m.path("bad.toml"), []byte("read-only = true\naddr = \n"), 0o644))
	m.ok(os.WriteFile(m.path("unknown.toml"), []byte("read-onyl = true\n"), 0o644))
	taken := map[string]net.Listener{"127.0.0.1:2049": nil, "0.0.0.0:111": nil}
	for addr := range taken {
		m.ok(m.ns.Do(func() (err error) {
			taken[addr], err = net.Listen("tcp4", addr)
			return err
		}))
		defer taken[addr].Close()
	}
	for _, turn := range []struct {
		line string
		uid  uint32
		says string // what it names, and what to do
	}{
		{"eddy serve files", userID, `127\.0\.0\.1:2049 is in use.*--addr`},
		{"eddy serve file", userID, `no such directory: file: make it`},
		{"eddy serve files/first.txt", userID, `not a directory: files/first\.txt: name`},
		{"eddy serve private --addr=127.0.0.1:0", userID, `no rights to read private: run as`},
		{"eddy serve files --adr=127.0.0.1:0", userID, `--adr.*--addr`},
		{"eddy serve files --addr=127.0.0.1:0 --state=none --rpcbind=own", 0, `111.*rpcbind`},
		{"eddy serve --config=bad.toml", userID, `bad\.toml.*2`},
		{"eddy serve --config=unknown.toml", userID, `unknown\.toml.*read-onyl`},
		{"eddy serve --config=none.toml", userID, `none\.toml`},
		{"eddy serve files --squash=root,none", userID, `squash.*root`},
		{"eddy serve files --addr=192.0.2.1:2049", userID, `192\.0\.2\.1.*address`},
	} {
		_, complaint, status := m.run(turn.uid, turn.line)
		if status != 1 || strings.Count(complaint, "\n") != 1 || !regexp.MustCompile(turn.says).MatchString(complaint) {
			t.Errorf("%s: status %d, want 1; it says\n%swhere one line like %s is wanted", turn.line, status, complaint, turn.says)
		}
	}
}
