package iofs

import (
	"testing"
	"testing/fstest"

	"eddy.example/vfs"
	"eddy.example/vfs/vfstest"
)

func TestConformance(t *testing.T) {
	vfstest.Run(t, vfstest.Config{
		NewTree: func(_ testing.TB, tree fstest.MapFS) vfs.FS { return New(tree, Config{}) },
	})
}
