package restart

import (
	"bytes"
	_ "embed"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"eddy.example/internal/e2e/guest"
	"eddy.example/internal/e2e/serve"
	"eddy.example/internal/kernelclient"
	"eddy.example/internal/loopfs"
	"eddy.example/internal/netns"
	"eddy.example/nfs3"
	"eddy.example/vfs/export"
	"eddy.example/vfs/local"
)

func TestMain(m *testing.M) {
	if told := os.Getenv(serverVar); told != "" {
		serveAsTold(told)
		return
	}
	goleak.VerifyTestMain(m)
}

//go:embed testdata/restart.sh
var script string

// usual is what a kernel says about a server that goes away and comes back.
var usual = regexp.MustCompile(`nfs: server \S+ (not responding, still trying|OK)`)

func TestRestart(t *testing.T) {
	t.Parallel()
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) { testRestart(t, k, 0, local.HandlesKernel) })
}

func TestRestartWithoutRoot(t *testing.T) {
	t.Parallel()
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) { testRestart(t, k, 4711, local.HandlesMap) })
}

// testRestart lets a server of a user die while a guest works.
func testRestart(t *testing.T, k *kernelclient.Kernel, uid uint32, handles local.Handles) {
	dir, state, program := loopfs.New(t, "xfs", 512), t.TempDir(), serve.Program(t)
	serve.Reachable(t, dir)
	serve.Reachable(t, state)
	data := make([]byte, 4<<20)
	rand.NewChaCha8([32]byte{2}).Read(data)
	write(t, filepath.Join(dir, "random"), data)
	if err := os.Mkdir(filepath.Join(dir, "many"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		write(t, filepath.Join(dir, "many", "entry-"+strconv.Itoa(10001 + i)[1:]), nil)
	}
	for _, d := range []string{dir, state} {
		own(t, d, int(uid))
	}

	// What happens to the directories while there is no server.
	rename := func(from, to string) {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Error(err)
		}
	}
	plan := []life{
		{death{Proc: nfs3.NFSPROC3_COMMIT, N: 1}, func() { zero(t, filepath.Join(dir, "uncommitted")) }},
		{death{Proc: nfs3.NFSPROC3_WRITE, N: 50}, func() { rename("sit/uno/two", "sit/uno/due") }},
		{death{Proc: nfs3.NFSPROC3_READDIRPLUS, N: 5}, func() { rename("sit", "sat") }},
		{death{Proc: nfs3.NFSPROC3_WRITE, N: 30, Done: true}, nil},
		{death{Proc: nfs3.NFSPROC3_READ, N: 60}, func() { rename("sat/uno", "elsewhere") }},
		{death{Proc: nfs3.NFSPROC3_COMMIT, N: 3, Done: true}, nil},
		{death{Proc: nfs3.NFSPROC3_GETATTR, N: 20}, func() {
			write(t, filepath.Join(dir, "enough"), nil)
			rename("elsewhere/due", "elsewhere/two")
		}},
	}
	for _, proc := range []uint32{
		nfs3.NFSPROC3_MKDIR, nfs3.NFSPROC3_CREATE, nfs3.NFSPROC3_SETATTR, nfs3.NFSPROC3_LINK,
		nfs3.NFSPROC3_RENAME, nfs3.NFSPROC3_REMOVE,
	} {
		plan = append(plan, life{death{Proc: proc, N: 1}, nil})
	}
	ns := netns.New(t)
	network := kernelclient.TAP(ns, 0)
	l := &lives{t: t, ns: ns, program: program, uid: uid, server: server{
		Addr: network.Server().String() + ":2049", Root: dir, State: state, Key: export.NewKey(), Handles: handles,
	}}
	l.begin(plan)
	t.Cleanup(l.end) // after a failure
	out := guest.Run(t, kernelclient.Config{
		Kernel: k, Net: network, Script: script,
	}, usual)
	l.end()

	t.Logf("%d deaths; rounds written through the cache and past it, listed, read, sat: %s", len(plan), out["rounds"])
	if got, want := string(out["made"]), ". .. exclusive fifo moved soft "; got != want {
		t.Errorf("the guest has made %q, want %q", got, want)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "elsewhere/two/three/file")); string(got) != "still\n" {
		t.Errorf("who sat in a directory has left %q, %v", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "elsewhere/found")); string(got) != "found\n" {
		t.Errorf("who went up from there has left %q, %v", got, err)
	}
	written, err := filepath.Glob(filepath.Join(dir, "written-*"))
	if err != nil || len(written) != 8 {
		t.Errorf("%d files were written: %v", len(written), err)
	}
	for _, name := range append(written, filepath.Join(dir, "uncommitted")) {
		if got, err := os.ReadFile(name); !bytes.Equal(got, data) {
			t.Errorf("%s is not what the guest wrote: %v", name, err)
		}
	}
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Error(err)
	}
}

// zero loses a file's content, as a power cut may do to what was not committed.
func zero(t *testing.T, name string) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Error(err)
		return
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, info.Size())); err != nil {
		t.Error(err)
	}
}

// own gives a user all that is in a directory.
func own(t *testing.T, dir string, uid int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	})
	if err != nil {
		t.Fatal(err)
	}
}
