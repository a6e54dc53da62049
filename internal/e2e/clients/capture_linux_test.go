package clients

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"eddy.example/internal/netns"
)

// A capture is all that goes over the loopback device of a namespace.
type capture struct {
	t     *testing.T
	ns    *netns.NS
	cmd   *exec.Cmd
	file  string
	found chan struct{} // closed when the mark has been captured
	mark  []byte
	ended sync.WaitGroup
	log   bytes.Buffer
}

// startCapture returns when everything that is sent from now on is captured.
func startCapture(t *testing.T, ns *netns.NS) *capture {
	t.Helper()
	c := &capture{
		t: t, ns: ns,
		cmd:   exec.Command("tcpdump", "-B", "65536", "-i", "lo", "--immediate-mode", "-U", "-w", "-"),
		file:  filepath.Join(t.TempDir(), "capture"),
		found: make(chan struct{}),
		mark:  []byte(rand.Text()),
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(c.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := ns.Do(c.cmd.Start); err != nil {
		t.Fatal(err)
	}
	c.ended.Go(func() {
		defer file.Close()
		c.record(file, stdout)
	})
	ready := make(chan struct{})
	c.ended.Go(func() {
		ready := sync.OnceFunc(func() { close(ready) })
		defer ready()
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			c.log.WriteString(lines.Text() + "\n")
			if strings.Contains(lines.Text(), "listening on lo") {
				ready()
			}
		}
	})
	<-ready
	return c
}

// record copies what tcpdump writes and looks for the mark in it.
func (c *capture) record(file io.Writer, stdout io.Reader) {
	var seen []byte // the end of what was copied
	for p := make([]byte, 64<<10); ; {
		n, err := stdout.Read(p)
		file.Write(p[:n])
		if c.mark != nil {
			if seen = append(seen, p[:n]...); bytes.Contains(seen, c.mark) {
				c.mark = nil
				close(c.found)
			}
			seen = append(seen[:0], seen[max(0, len(seen)-100):]...)
		}
		if err != nil {
			return
		}
	}
}

// finish ends the capture when all that was sent before is in it, and returns
// the name of its file.
func (c *capture) finish() string {
	c.t.Helper()
	mark := bytes.Clone(c.mark)
	if err := c.ns.Do(func() error {
		conn, err := net.Dial("udp", "127.0.0.1:9")
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.Write(mark)
		return err
	}); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { c.ended.Wait(); close(ended) }()
	select {
	case <-c.found:
	case <-ended: // by itself
	}
	c.cmd.Process.Signal(syscall.SIGINT)
	<-ended
	if err := c.cmd.Wait(); err != nil || !complete.Match(c.log.Bytes()) {
		c.t.Fatalf("tcpdump: %v\n%s", err, &c.log)
	}
	return c.file
}

var complete = regexp.MustCompile(`(?m)^0 packets dropped by kernel`)
