package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// loopback is where servers listen.
const loopback = "127.0.0.1"

// The ports that nfs-ganesha is told to use, and rpcbind's.
const (
	ganeshaPort      = "2049"
	ganeshaMountPort = "20048"
	rpcbindPort      = "111"
)

// errMissing is of servers that cannot be had here.
var errMissing = errors.New("missing")

// ganeshaConf is NFSv3 over TCP and else the defaults.
const ganeshaConf = `NFS_CORE_PARAM {
	Protocols = 3; NFS_Port = 2049; MNT_Port = 20048;
	Enable_NLM = false; Enable_RQUOTA = false;
}
NFSv4 { Graceless = true; }
EXPORT {
	Export_Id = 1; Path = %s; Pseudo = /export;
	Protocols = 3; Transports = TCP; SecType = sys;
	Access_Type = RW; Squash = No_Root_Squash;
	FSAL { Name = VFS; }
}
`

// haveGanesha tells what is missing.
func haveGanesha(isolated bool) error {
	if !isolated {
		return fmt.Errorf("%w: needs root", errMissing)
	}
	for program, pkg := range map[string]string{"ganesha.nfsd": "nfs-ganesha", "rpcbind": "rpcbind"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%w: apt-get install %s", errMissing, pkg)
		}
	}
	if found, _ := filepath.Glob("/usr/lib/*/ganesha/libfsalvfs.so"); len(found) == 0 {
		return fmt.Errorf("%w: apt-get install nfs-ganesha-vfs", errMissing)
	}
	return nil
}

// startRpcbind starts what nfs-ganesha registers with.
func startRpcbind(ctx context.Context) (*exec.Cmd, error) {
	cmd := exec.Command("rpcbind", "-f")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := answers(ctx, net.JoinHostPort(loopback, rpcbindPort)); err != nil {
		end(cmd)
		return nil, fmt.Errorf("rpcbind: %w", err)
	}
	return cmd, nil
}

// startGanesha starts nfs-ganesha on dir. host is one of its addresses, as it
// listens at all.
func startGanesha(ctx context.Context, host, dir, scratch string) (*server, error) {
	conf, log := filepath.Join(scratch, "ganesha.conf"), filepath.Join(scratch, "ganesha.log")
	if err := os.WriteFile(conf, fmt.Appendf(nil, ganeshaConf, dir), 0o600); err != nil {
		return nil, err
	}
	os.Remove(log)
	cmd := exec.Command("ganesha.nfsd", "-F", "-f", conf, "-L", log, "-p", filepath.Join(scratch, "ganesha.pid"))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{
		addr: net.JoinHostPort(host, ganeshaPort), mountAddr: net.JoinHostPort(host, ganeshaMountPort), path: dir,
		pid: cmd.Process.Pid, stop: func() { end(cmd) },
	}
	for _, addr := range []string{s.addr, s.mountAddr} {
		if err := answers(ctx, addr); err != nil {
			s.stop()
			text, _ := os.ReadFile(log)
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			return nil, fmt.Errorf("%w\n%s", err, strings.Join(lines[max(0, len(lines)-5):], "\n"))
		}
	}
	return s, nil
}

// startTime is for how long a server may be silent at first.
const startTime = 10 * time.Second

// answers waits until somebody listens at addr.
func answers(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, "tcp", addr)
		if err == nil {
			return c.Close()
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("nobody listens at %s: %w", addr, err)
		}
	}
}

// end ends a program of ours.
func end(cmd *exec.Cmd) {
	cmd.Process.Signal(os.Interrupt)
	timer := time.AfterFunc(startTime, func() { cmd.Process.Kill() })
	defer timer.Stop()
	cmd.Wait()
}
