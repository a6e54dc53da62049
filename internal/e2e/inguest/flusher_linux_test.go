package inguest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"eddy.example/internal/e2e/guest"
	"eddy.example/internal/kernelclient"
	"eddy.example/nfs3"
)

// A server that may is part of how its machine writes back memory, however it was
// built.
func TestFlusher(t *testing.T) {
	files := map[string]string{static: build(t, "0"), withCgo: build(t, "1")}
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) {
		run(t, k, "Flusher", kernelclient.Config{Files: files}, "")
	})
}

// flusher is the deed.
func flusher(t *testing.T) {
	command := func(name string, args ...string) *exec.Cmd {
		return exec.Command(name, append(args, arguments("/mnt")...)...)
	}
	for name, program := range map[string]string{"static": static, "with cgo": withCgo} {
		t.Run(name, func(t *testing.T) {
			t.Run("allowed", func(t *testing.T) {
				d := start(t, command(program))
				d.flushes(true)
				d.same()
			})
			t.Run("not allowed", func(t *testing.T) {
				cmd := command(program)
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user1, Gid: user1}}
				d := start(t, cmd)
				d.flushes(false)
				d.says("PR_SET_IO_FLUSHER: operation not permitted")
			})
			// What systemd hands over is for the process of this id.
			t.Run("activated", func(t *testing.T) {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				f, err := l.(*net.TCPListener).File()
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				cmd := command("bash", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"`, "bash", program)
				cmd.ExtraFiles = []*os.File{f}
				d := start(t, cmd)
				if d.addr != l.Addr().String() {
					t.Errorf("eddy serves on %s, and was given %v", d.addr, l.Addr())
				}
				d.flushes(true)
			})
		})
	}
	// One that finds itself started anew, and nothing changed, does not try again.
	t.Run("in vain", func(t *testing.T) {
		d := start(t, command("bash", "-c", `EDDY_FLUSHER=$$ exec "$@"`, "bash", withCgo))
		d.flushes(false)
		d.same()
		d.says("execve has undone it")
	})
}

// ioFlusher is PF_MEMALLOC_NOIO and PF_LOCAL_THROTTLE of the kernel's sched.h.
const ioFlusher = 0x0018_0000

// flushes checks that all threads have the flags, or none, after some work.
func (d *daemon) flushes(want bool) {
	d.t.Helper()
	c, top := d.mount(0)
	results := make(chan error)
	const calls = 32
	for range calls {
		go func() { results <- drop(c.Getattr(ctx, top)) }()
	}
	for range calls {
		d.is(nfs3.NFS3_OK, "GETATTR", <-results)
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", d.Process.Pid))
	d.ok(err)
	for _, task := range tasks {
		stat, err := os.ReadFile(task)
		if os.IsNotExist(err) {
			continue // the thread has ended
		}
		d.ok(err)
		flags := fields(d.t, string(stat))[9-3]
		n, err := strconv.ParseUint(flags, 10, 32)
		d.ok(err)
		if has := n&ioFlusher == ioFlusher; has != want || n&ioFlusher != 0 && !has {
			d.t.Errorf("%s has flags %#x", task, n)
		}
	}
	d.t.Logf("%d threads", len(tasks))
}

// same checks that the process is called, and has been told, what it was at first.
func (d *daemon) same() {
	d.t.Helper()
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", d.Process.Pid))
	d.ok(err)
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", d.Process.Pid))
	d.ok(err)
	if string(comm) != "eddy\n" || !strings.HasSuffix(strings.TrimSuffix(string(line), "\x00"), strings.Join(d.Args[len(d.Args)-4:], "\x00")) {
		d.t.Errorf("the process is %q with %q", comm, line)
	}
}

// says stops the server, and looks for what it has written.
func (d *daemon) says(text string) {
	d.t.Helper()
	d.stop()
	if !strings.Contains(d.log.String(), text) {
		d.t.Errorf("eddy does not say %q: %s", text, d.log.String())
	}
}

// fields are those of a stat file from the third on, which is after the name.
func fields(t *testing.T, stat string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(stat, ") ")
	if !ok {
		t.Fatalf("stat: %q", stat)
	}
	return strings.Fields(rest)
}
