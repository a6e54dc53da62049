package restart

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"eddy.example/internal/netns"
)

// A life is one of the server's, and what happens between its end and the next one's
// beginning.
type life struct {
	death
	then func()
}

// lives is a server that lives as often as it is told to, and once more.
type lives struct {
	t       *testing.T
	ns      *netns.NS
	program string
	uid     uint32
	server  server

	mu    sync.Mutex
	stop  io.Closer // standard input of the present life
	over  bool
	ended chan struct{}
}

// begin starts the first life. They end when end is called.
func (l *lives) begin(plan []life) {
	l.ended = make(chan struct{})
	go func() {
		defer close(l.ended)
		for _, life := range plan {
			err := l.live(life.death)
			if !killed(err) {
				l.t.Errorf("the server was to die of %+v: %v", life.death, err)
				break
			}
			if life.then != nil {
				life.then()
			}
		}
		if err := l.live(death{}); err != nil {
			l.t.Errorf("the last server: %v", err)
		}
	}()
}

// end tells the last server to stop, and waits for it.
func (l *lives) end() {
	l.mu.Lock()
	l.over = true
	if l.stop != nil {
		l.stop.Close()
	}
	l.mu.Unlock()
	<-l.ended
}

// live runs a server to its end.
func (l *lives) live(d death) error {
	s := l.server
	s.Death = d
	told, err := json.Marshal(s)
	if err != nil {
		return err
	}
	cmd := exec.Command(l.program)
	cmd.Env = append(os.Environ(), serverVar+"="+string(told))
	cmd.Stderr = l.t.Output()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: l.uid, Gid: l.uid}}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	l.mu.Lock()
	if l.over {
		stdin.Close()
	}
	l.stop = stdin
	l.mu.Unlock()
	if err := l.ns.Do(cmd.Start); err != nil {
		return err
	}
	return cmd.Wait()
}

func killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
