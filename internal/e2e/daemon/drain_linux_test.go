package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/internal/loopfs"
	"eddy.example/nfs3"
)

// ioctls of linux/fs.h
const (
	fiFreeze = 0xC0045877
	fiThaw   = 0xC0045878
)

// A call that is stopped in the file system when the server is told to end is
// answered before it does.
func TestDrain(t *testing.T) {
	dir := loopfs.New(t, "ext4", 64)
	if err := os.Chmod(dir, 0o777); err != nil { // the client has no identity
		t.Fatal(err)
	}
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	p := serve(t, dir)
	c := p.client(t)
	fh, err := c.Mount(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	freeze := func(how uint) {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, d.Fd(), uintptr(how), 0); errno != 0 {
			t.Fatal(errno)
		}
	}
	freeze(fiFreeze)
	thawed := false
	thaw := func() {
		if !thawed {
			thawed = true
			freeze(fiThaw)
		}
	}
	t.Cleanup(thaw)

	answered := make(chan error, 1)
	go func() {
		_, err := c.Mkdir(t.Context(), fh, "made", &nfs3.Sattr3{})
		answered <- err
	}()
	for inFlight(t, p) == 0 {
	}
	p.Process.Signal(syscall.SIGTERM)
	p.waitFor(t, "stopping")
	select {
	case err := <-answered:
		t.Errorf("the call was answered while the file system was frozen: %v", err)
	case <-p.ended:
		t.Error("the server ended before the call")
	default:
	}
	thaw()
	if err := <-answered; err != nil {
		t.Errorf("the call: %v", err)
	}
	<-p.ended
	if p.err != nil {
		t.Errorf("the server: %v\n%s", p.err, p.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "made")); err != nil {
		t.Error(err)
	}
}

// inFlight counts the calls that eddy status shows.
func inFlight(t *testing.T, p *process) int {
	t.Helper()
	out, errs, _ := eddy("status", "--json", "--state", p.state)
	var st struct{ Calls []json.RawMessage }
	if err := json.Unmarshal([]byte(out), &st); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	return len(st.Calls)
}
