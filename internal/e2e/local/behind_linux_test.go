package local

import (
	_ "embed"
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/internal/e2e/guest"
	"eddy.example/internal/kernelclient"
	"eddy.example/vfs/export"
)

//go:embed testdata/behind.sh
var behind string

// What is changed on the host, behind the server's back, is seen by the guest.
func TestBehindTheServersBack(t *testing.T) {
	t.Parallel()
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) {
		w := newWorld(t)
		for _, dir := range []string{"dir", "dir/sub", "dir/sub/deep", "gone"} {
			if err := os.Mkdir(w.path(dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"grows", "shrinks", "changes", "replaced", "removed", "renamed", "dir/old", "mode", "doomed", "kind"} {
			w.write(t, name, []byte(name+"\n"))
		}
		w.write(t, "swap", []byte("b"))
		w.write(t, "swapped", []byte("a"))
		if err := os.Symlink("first", w.path("link")); err != nil {
			t.Fatal(err)
		}
		all := func(errs ...error) {
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
		}
		w.run(t, kernelclient.Config{Kernel: k, Console: guest.OnCue{
			"change": func() {
				grows, err := os.OpenFile(w.path("grows"), os.O_WRONLY|os.O_APPEND, 0)
				all(err)
				_, err = grows.WriteString("and appended\n")
				all(
					err, grows.Close(),
					os.Truncate(w.path("shrinks"), 3),
					os.WriteFile(w.path("changes"), []byte("CHANGES\n"), 0),
					os.WriteFile(w.path("new"), []byte("what came after"), 0o644),
					os.Rename(w.path("new"), w.path("replaced")),
					os.Remove(w.path("removed")),
					os.Rename(w.path("renamed"), w.path("renamed2")),
					os.Remove(w.path("gone")),
					os.Remove(w.path("dir/old")),
					os.WriteFile(w.path("dir/new"), []byte("new"), 0o644),
					os.Chmod(w.path("mode"), 0o600),
					os.Chown(w.path("mode"), 1001, -1),
					os.Remove(w.path("link")),
					os.Symlink("second", w.path("link")),
					unix.Renameat2(unix.AT_FDCWD, w.path("swap"), unix.AT_FDCWD, w.path("swapped"), unix.RENAME_EXCHANGE),
					os.Remove(w.path("kind")),
					os.Mkdir(w.path("kind"), 0o755),
				)
			},
			"remove": func() { all(os.Remove(w.path("doomed"))) },
			"move":   func() { all(os.Rename(w.path("dir"), w.path("moved"))) },
			"rmdir":  func() { all(os.RemoveAll(w.path("moved/sub"))) },
		}.Console()}, behind, w.open(t, "/", export.SquashNone))
	})
}
