package daemon

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// process is a running eddy serve.
type process struct {
	*exec.Cmd
	lines  chan string // of standard output
	said   []string    // those that were read
	stderr *lockedBuffer
	addr   string
	state  string
	ended  chan struct{}
	err    error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serve starts eddy serve on a free port with a state directory of its own and
// returns when it has said that it serves.
func serve(t *testing.T, args ...string) *process {
	t.Helper()
	state := t.TempDir()
	args = append([]string{"serve", "--addr", "127.0.0.1:0", "--state", state}, args...)
	p := start(t, exec.Command(eddyPath, args...))
	p.state = state
	return p
}

var servesOn = regexp.MustCompile(`tcp (\S+:\d+)`)

func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{Cmd: cmd, lines: make(chan string, 1000), stderr: new(lockedBuffer), ended: make(chan struct{})}
	out, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = cmd.Wait()
		w.Close()
		close(p.ended)
	}()
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
		close(p.lines)
	}()
	t.Cleanup(func() {
		p.Process.Kill()
		<-p.ended
	})
	if m := servesOn.FindStringSubmatch(p.waitFor(t, "eddy serves")); m != nil {
		p.addr = m[1]
	}
	p.waitFor(t, "libnfs")
	return p
}

// waitFor returns the next line with this text.
func (p *process) waitFor(t *testing.T, text string) string {
	t.Helper()
	for line := range p.lines {
		p.said = append(p.said, line)
		if strings.Contains(line, text) {
			return line
		}
	}
	<-p.ended
	t.Fatalf("eddy ended (%v) without a line with %q:\n%s", p.err, text, p.stderr)
	return ""
}

// stop sends SIGTERM and checks that all ends well.
func (p *process) stop(t *testing.T) {
	t.Helper()
	p.Process.Signal(syscall.SIGTERM)
	<-p.ended
	if p.err != nil {
		t.Errorf("eddy ended with %v:\n%s", p.err, p.stderr)
	}
}

// eddy runs a command to its end.
func eddy(args ...string) (stdout, stderr string, code int) {
	cmd := exec.Command(eddyPath, args...)
	return output(cmd)
}

func output(cmd *exec.Cmd) (stdout, stderr string, code int) {
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Run()
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// client is a client of the process, as root on this machine.
func (p *process) client(t *testing.T) *nfs3.Client {
	t.Helper()
	c, err := nfs3.Dial(context.Background(), "tcp", p.addr, nil, rpc.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}
