package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A state that clients could change is refused before anything is made there.
func TestStateInRootIsRefused(t *testing.T) {
	root, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{root, filepath.Join(root, "a/b"), filepath.Join(link, "a")} {
		if f, err := Open(Config{Root: root, State: state}); !errors.Is(err, ErrStateInRoot) {
			t.Errorf("%s: %v, %v", state, f, err)
		}
	}
	if left, err := os.ReadDir(root); len(left) > 0 || err != nil {
		t.Errorf("made %v, %v", left, err)
	}
}
