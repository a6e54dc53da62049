package memfs_test

import (
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
)

func TestConformance(t *testing.T) {
	vfstest.Run(t, vfstest.Config{
		New: func(testing.TB) vfs.FS { return memfs.New(memfs.Config{}) },
	})
}
