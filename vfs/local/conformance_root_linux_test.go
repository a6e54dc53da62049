package local

import (
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/vfstest"
)

// These tests need root: handles of the file system's, and the identities of
// several users.

func TestConformance(t *testing.T) {
	for _, handles := range []Handles{HandlesKernel, HandlesMap} {
		t.Run(handles.String(), func(t *testing.T) {
			vfstest.Run(t, vfstest.Config{
				New: func(t testing.TB) vfs.FS {
					f := open(t, Config{Handles: handles})
					f.syncHook = func(target) error { return nil }
					return f
				},
			})
		})
	}
}
