package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// eddyPath is the program, stripped as it is shipped.
var eddyPath string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "eddy-daemon-")
	if err != nil {
		panic(err)
	}
	eddyPath = filepath.Join(dir, "eddy")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", eddyPath, "eddy.example/cmd/eddy")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n%v\n", out, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
