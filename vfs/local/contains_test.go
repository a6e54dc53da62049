package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestContains(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"root/sub", "rooted", "out"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"in":           "root/sub",
		"rootlink":     filepath.Join(top, "root"),
		"out/again":    "../in",
		"root/leave":   "../out",
		"out/through":  "../root/leave/x",
		"out/loop":     "loop",
		"out/dangling": "../root/new",
	} {
		if err := os.Symlink(to, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{"root", "rootlink"} {
		for path, want := range map[string]bool{
			"root":             true,
			"root/new":         true,
			"root/sub/new/sub": true,
			"rootlink/state":   true,
			"in":               true,
			"in/state":         true,
			"out/again/new":    true,
			"root/leave":       true, // a client can make it lead elsewhere
			"root/leave/state": true,
			"out/through":      true,
			"out/dangling":     true,
			"":                 false,
			"rooted":           false,
			"rooted/new":       false,
			"out":              false,
			"out/new/root":     false,
			"new/../out":       false,
		} {
			got, err := Contains(filepath.Join(top, root), filepath.Join(top, path))
			if err != nil || got != want {
				t.Errorf("%s in %s: %v, %v", path, root, got, err)
			}
		}
	}
	if _, err := Contains(filepath.Join(top, "root"), filepath.Join(top, "out/loop/x")); err == nil || !strings.Contains(err.Error(), "too many links") {
		t.Errorf("a loop: %v", err)
	}
	if got, err := Contains(filepath.Join(top, "missing"), top); got || err != nil {
		t.Errorf("a root that is not there: %v, %v", got, err)
	}
	if got, err := Contains("/", top); !got || err != nil {
		t.Errorf("/: %v, %v", got, err)
	}
}
