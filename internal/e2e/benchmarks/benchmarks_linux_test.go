package benchmarks

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"eddy.example/internal/loopfs"
)

// build builds the program.
func build(t *testing.T) string {
	loopfs.NeedRoot(t)
	program := filepath.Join(t.TempDir(), "benchmarks")
	if out, err := exec.Command("go", "build", "-o", program, "eddy.example/benchmarks").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// report is what the program prints.
type report struct {
	Machine string
	Rows    []struct {
		Server, Op, Mode string
		Conns            int
		OpsPerSec        float64 `json:"ops_s"`
		CPU              float64 `json:"server_cpu_us_per_op"`
		P99              float64 `json:"p99_us"`
		RSS              float64 `json:"rss_anon_mib"`
	}
	Ratios []struct {
		Name, Of, To string
		Value        *float64
	}
}

// nfs-ganesha need not be here.
func TestQuick(t *testing.T) {
	program := build(t)
	for _, c := range []struct {
		args []string
		want []string // server, operation, mode
	}{
		{
			[]string{"peers", "--only=getattr,create_remove,randread,randwrite", "--servers=eddy,go-nfs,limit"},
			[]string{
				"eddy getattr pages", "go-nfs getattr ", "eddy create_remove pages", "eddy create_remove durable", "go-nfs create_remove user",
				"eddy randread pages", "eddy randread mmap", "eddy randread splice", "limit randread splice", "eddy randwrite pages,user",
			},
		},
		{
			[]string{"transports", "--only=getattr"},
			[]string{"eddy getattr pages"},
		},
		{
			[]string{"reply-churn", "--servers=eddy"},
			[]string{"eddy read pages", "eddy read pages,always", "eddy read pages,late acks"},
		},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			cmd := exec.Command(program, append(c.args, "--quick", "--json")...)
			var progress bytes.Buffer
			cmd.Stderr = &progress
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, &progress)
			}
			var r report
			if err := json.Unmarshal(out, &r); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var got []string
			for _, m := range r.Rows {
				got = append(got, m.Server+" "+m.Op+" "+m.Mode)
				if m.OpsPerSec <= 0 || m.CPU <= 0 || m.P99 <= 0 || m.RSS <= 0 {
					t.Errorf("not measured: %+v", m)
				}
			}
			for _, w := range c.want {
				if !slices.Contains(got, w) {
					t.Errorf("no row %q in %q", w, got)
				}
			}
			for _, x := range r.Ratios {
				if x.Value == nil || *x.Value <= 0 {
					t.Errorf("not a ratio: %+v", x)
				}
			}
		})
	}
}

// However it ends, its servers, mounts and devices end with it.
func TestKilled(t *testing.T) {
	program := build(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			cmd := exec.Command(program, "peers", "--only=getattr", "--servers=eddy,go-nfs", "--time=1h")
			// What it starts has its standard error.
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd.Stderr = w
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			for len(servers(t, program)) < 2 {
				select {
				case err := <-ended:
					t.Fatal(err)
				default:
				}
			}
			cmd.Process.Signal(sig)
			if err := <-ended; err == nil {
				t.Error("it has ended well")
			}
			// The pipe ends with the last process that has it.
			if _, err := new(bytes.Buffer).ReadFrom(r); err != nil {
				t.Fatal(err)
			}
			if left := servers(t, program); len(left) > 0 {
				t.Errorf("left: %d", left)
			}
		})
	}
}

// servers are the processes that the program has started as servers.
func servers(t *testing.T, program string) (pids []int) {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		cmdline, err := os.ReadFile(filepath.Join("/proc", d.Name(), "cmdline"))
		if err == nil && strings.HasPrefix(string(cmdline), program+"\x00serve\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}
