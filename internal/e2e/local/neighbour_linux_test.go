package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	eddy "eddy.example"
	"eddy.example/internal/e2e/serve"
	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/vfs/export"
	"eddy.example/xprt"
)

// knockVar has the address of a server: a process with it is another user of this
// host, who wants to mount.
const knockVar = "EDDY_TEST_KNOCK"

// Exit statuses of such a process.
const (
	admitted = 0
	failed   = 1
	refused  = 13
)

// knock mounts "/" as any user can and says he is root. It never returns.
func knock() {
	os.Exit(func() int {
		cred := &rpc.Cred{Flavor: rpc.AUTH_SYS, Machine: []byte("here")}
		ctx, addr := context.Background(), os.Getenv(knockVar)
		c, err := nfs3.Dial(ctx, "tcp", addr, cred, rpc.ClientConfig{})
		if err != nil {
			println(err.Error())
			return failed
		}
		defer c.Close()
		fh, err := c.Mount(ctx, "/")
		if err == nil {
			_, err = c.Lookup(ctx, fh, "file")
		}
		switch {
		case err == nil:
			return admitted
		case errors.Is(err, nfs3.NFS3ERR_ACCES):
			return refused
		}
		println(err.Error())
		return failed
	}())
}

func TestNeighbour(t *testing.T) {
	program := serve.Program(t)
	for _, tc := range []struct {
		name     string
		uid      uint32
		insecure bool
		want     int
	}{
		{"another", 1001, false, refused},
		{"another, let in", 1001, true, admitted},
		{"root", 0, false, admitted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(t, "file", []byte("text"))
			x := w.open(t, "/", export.SquashRoot)
			x.Networks, x.InsecurePorts = nil, tc.insecure
			// Whom a socket belongs to is known in the server's own network only.
			l, err := xprt.Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			serve.Start(t, &eddy.Server{Exports: []eddy.Export{x}}, l)

			cmd := exec.Command(program)
			cmd.Env = append(os.Environ(), knockVar+"="+l.Addr().String())
			cmd.Stderr = t.Output()
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: tc.uid, Gid: tc.uid}}
			err = cmd.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != tc.want {
				t.Errorf("status %d, want %d", got, tc.want)
			}
		})
	}
}
