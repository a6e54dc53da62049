package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const program = `package main

import (
	"fmt"
	"os"
	"runtime"
)

func main() {
	text, err := os.ReadFile("input/it's")
	fmt.Printf("%s %q %s %v\n", runtime.GOARCH, os.Args[1:], text, err)
	os.Exit(3)
}
`

func TestRun(t *testing.T) {
	dir := t.TempDir()
	build := func(out, src string, env ...string) string {
		t.Helper()
		out = filepath.Join(dir, out)
		cmd := exec.Command("go", "build", "-o", out, src)
		cmd.Env = append(os.Environ(), env...)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		return out
	}
	runner := build("run386", ".")
	src := filepath.Join(dir, "main.go")
	if err := os.WriteFile(src, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	program := build("program", src, "GOARCH=386", "CGO_ENABLED=0")

	work := t.TempDir()
	if err := os.Mkdir(filepath.Join(work, "input"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "input/it's"), []byte("found"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(runner, program, "-test.run=^$", "it's")
	cmd.Dir = work
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("got %v, want status 3", err)
	}
	if want := `386 ["-test.run=^$" "it's"] found <nil>`; !strings.Contains(string(out), want) {
		t.Errorf("got %s, want %s", out, want)
	}
}
