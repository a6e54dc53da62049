package rpcbind

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"eddy.example/internal/netns"
)

// The client commands find a server by its host alone: through the port mapper,
// or, where there is none, at the usual port. Root's calls come from a reserved
// port, so that an export that asks for one lets them in.
func TestClientFindsPorts(t *testing.T) {
	program := filepath.Join(t.TempDir(), "eddy")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "eddy.example/cmd/eddy").CombinedOutput(); err != nil {
		t.Fatalf("building eddy: %v\n%s", err, out)
	}
	mapped, usual := netns.New(t), netns.New(t)
	s := newServer()
	s.Exports[0].InsecurePorts = false
	serve(t, mapped, s, "4", "127.0.0.1:0")
	portMapper(t, mapped, s, "4", "127.0.0.1:111")
	s = newServer()
	s.Exports[0].InsecurePorts = false
	serve(t, usual, s, "4", "127.0.0.1:2049")

	for ns, said := range map[*netns.NS]string{mapped: "", usual: "no rpcbind answers"} {
		run(t, ns, program, "cp", "/etc/hostname", "nfs://127.0.0.1/file")
		if out := run(t, ns, program, "ls", "nfs://127.0.0.1/"); !strings.HasSuffix(out, "file\n") || !strings.Contains(out, said) || said == "" && out != "file\n" {
			t.Errorf("ls: %q", out)
		}
		if out := run(t, ns, program, "ping", "-c", "1", "nfs://127.0.0.1"); !strings.Contains(out, "MOUNT: 1 of 1 answered") {
			t.Errorf("ping: %q", out)
		}
	}

	// A port mapper without services.
	empty := netns.New(t)
	s = newServer()
	defer s.Close()
	portMapper(t, empty, s, "4", "127.0.0.1:111")
	if out, err := try(t.Context(), empty, program, "ls", "nfs://127.0.0.1/"); err == nil || !strings.Contains(out, "knows no NFS version 3") {
		t.Errorf("without services: %v: %q", err, out)
	}
}
