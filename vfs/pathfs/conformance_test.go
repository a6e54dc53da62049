package pathfs

import (
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/vfstest"
)

func TestConformance(t *testing.T) {
	vfstest.Run(t, vfstest.Config{
		New:        func(t testing.TB) vfs.FS { return New(newMemStore(), Config{}) },
		Permissive: true,
	})
}
