package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestChoose(t *testing.T) {
	all := []step{{name: "vet"}, {name: "build:linux/arm"}, {name: "build:linux/386"}, {name: "race"}}
	for _, c := range []struct {
		only string
		want string
		err  string
	}{
		{only: "", want: "vet build:linux/arm build:linux/386 race"},
		{only: "race,vet", want: "vet race"},
		{only: "build", want: "build:linux/arm build:linux/386"},
		{only: "build:linux/386", want: "build:linux/386"},
		{only: "vet,biuld", err: "no step \"biuld\""},
	} {
		var only []string
		if c.only != "" {
			only = strings.Split(c.only, ",")
		}
		chosen, err := choose(all, only)
		var names []string
		for _, s := range chosen {
			names = append(names, s.name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: got %s, want %s", c.only, got, c.want)
		}
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got error %v, want %q", c.only, err, c.err)
		}
	}
}

func TestCIInstallsWhatStepsNeed(t *testing.T) {
	text, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "packages=(\n")
	list, _, _ = strings.Cut(list, "\n)\n")
	packages := make(map[string]bool)
	for line := range strings.Lines(list) {
		line, _, _ = strings.Cut(line, "#")
		for p := range strings.FieldsSeq(line) {
			packages[p] = true
		}
	}
	for _, s := range steps(true) {
		for _, p := range s.needs {
			if !packages[debian[p]] {
				t.Errorf("%s needs %s, and .ci/run does not install a package that has it", s.name, p)
			}
		}
	}
}

func TestMissingProgramSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", "")
	r := step{needs: []string{"gcc", "xz"}}.execute(t.Context())
	if r.failed != 1 || !strings.Contains(r.details, "apt-get install gcc xz-utils") {
		t.Errorf("got %+v", r)
	}
}

// An interrupted step leaves nothing running, whatever its commands started.
func TestInterruptEndsDescendants(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	// The fifo is open for writing as long as a descendant is alive.
	fifo := t.TempDir() + "/alive"
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := run(ctx, command{
			env:   []string{"FIFO=" + fifo},
			args:  []string{"sh", "-c", `(trap "" INT; exec >"$FIFO"; echo up; while :; do sleep 3600; done) & wait`},
			grace: time.Millisecond,
		})
		done <- err
	}()
	r, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	up := make([]byte, 3)
	if _, err := r.Read(up); err != nil {
		t.Fatal(err)
	}
	interrupt()
	var exit *exec.ExitError
	if err := <-done; !errors.As(err, &exit) && !errors.Is(err, context.Canceled) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Errorf("got %v", err)
	}
	if n, _ := r.Read(up); n != 0 {
		t.Errorf("read %q", up[:n])
	}
}
