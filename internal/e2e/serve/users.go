package serve

import (
	"os"
	"path/filepath"
	"testing"
)

// Program returns a copy of the test's own program that every user may run.
func Program(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	Reachable(t, program)
	return program
}

// Reachable lets every user get to what lies in a temporary directory of the test's.
func Reachable(t testing.TB, path string) {
	t.Helper()
	top := os.TempDir()
	for dir := filepath.Dir(path); dir != top && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
