package clients

import (
	"bufio"
	"bytes"
	"io"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"eddy.example/internal/netns"
)

// startCommand builds cmd/eddy and runs "eddy serve" in the namespace until t
// is over. It returns the commands of its banner by the words in front of them.
func startCommand(t *testing.T, ns *netns.NS, addr netip.AddrPort, args ...string) map[string]string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "eddy")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "eddy.example/cmd/eddy").CombinedOutput(); err != nil {
		t.Fatalf("building eddy: %v\n%s", err, out)
	}
	cmd := exec.Command(program, append([]string{"serve", "--addr", addr.String()}, args...)...)
	var log bytes.Buffer
	cmd.Stderr = &log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ns.Do(cmd.Start); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil || log.Len() > 0 {
			t.Errorf("eddy serve: %v; it logged\n%s", err, &log)
		}
	})

	commands := make(map[string]string)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		client, command, _ := strings.Cut(lines.Text(), " ")
		commands[client] = strings.TrimSpace(command)
		if client == "libnfs" { // the last line
			return commands
		}
	}
	t.Fatal("eddy serve ended before its banner did")
	return nil
}
