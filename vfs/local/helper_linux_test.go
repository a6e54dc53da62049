package local

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"eddy.example/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open serves c.Root, or a new directory, until the test ends.
func open(t testing.TB, c Config) *FS {
	t.Helper()
	if c.Root == "" {
		c.Root = t.TempDir()
	}
	f, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return f
}

// root is a call of root's that may wait.
func root() *vfs.Call { return &vfs.Call{Context: context.Background(), MayWait: true} }
