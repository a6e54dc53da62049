package archtest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing in the tree may point at what only one machine has.
func TestNoForeignPaths(t *testing.T) {
	foreign := []string{"../" + "shared", "/wo" + "rk/"}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) >= 0 {
			return nil // a capture, or a program that was built here
		}
		for line := range strings.Lines(string(text)) {
			for _, f := range foreign {
				if strings.Contains(line, f) {
					t.Errorf("%s: %s", strings.TrimPrefix(path, "../../"), strings.TrimSpace(line))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
