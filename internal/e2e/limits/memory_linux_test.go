package limits

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eddy.example/nfs3"
)

// TestSmallMemory serves 200 connections that transfer 1 MiB at a time from a
// control group of 64 MiB, with the bounds that a house of that size would set.
// All are served and the kernel kills nobody.
func TestSmallMemory(t *testing.T) {
	group := newGroup(t, 64<<20)
	dir := t.TempDir()
	d := start(t, dir, fmt.Sprintf("echo $$ > %s/cgroup.procs && export GOMEMLIMIT=32MiB", group),
		"--receive-bytes=8MiB", "--reply-bytes=8MiB", "--pool-bytes=2MiB")
	defer d.stop()
	const connections = 200
	done := make(chan error, connections)
	_, top := d.mount(&root)
	for n := range connections {
		c := d.dial(&root)
		go func() {
			fh, err := create(c, top, fmt.Sprint("file", n))
			data, got := pattern(n, 1<<20), make([]byte, 1<<20)
			for round := 0; round < 2 && err == nil; round++ {
				for at := 0; at < len(data) && err == nil; {
					var res nfs3.WRITE3res
					res, err = c.Write(ctx, fh, data[at:], uint64(at), nfs3.UNSTABLE)
					at += int(res.Resok.Count)
				}
				for at := 0; at < len(got) && err == nil; {
					var res nfs3.READ3res
					res, err = c.Read(ctx, fh, got[at:], uint64(at))
					at += int(res.Resok.Count)
				}
				if err == nil && !bytes.Equal(got, data) {
					err = fmt.Errorf("file %d has not what was written", n)
				}
			}
			done <- err
		}()
	}
	for range connections {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Logf("RssAnon: %d KiB", d.rssAnon())
}

// newGroup makes a control group with so much memory, by version 2 if that has
// the controller, else by version 1.
func newGroup(t *testing.T, limit int) string {
	t.Helper()
	parent, file := "/sys/fs/cgroup", "memory.max"
	if b, _ := os.ReadFile(parent + "/cgroup.subtree_control"); !strings.Contains(string(b), "memory") {
		parent, file = parent+"/memory", "memory.limit_in_bytes"
	}
	dir, err := os.MkdirTemp(parent, "eddy-")
	if err != nil {
		t.Fatalf("a control group with a limit of memory: %v", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, file), []byte(fmt.Sprint(limit)), 0); err != nil {
		t.Fatal(err)
	}
	return dir
}
