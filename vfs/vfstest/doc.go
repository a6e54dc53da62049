// Package vfstest is the test kit for backends: what a [vfs.FS] has to do so
// that NFS clients can live with it, as tests.
//
//	func TestConformance(t *testing.T) {
//		vfstest.Run(t, vfstest.Config{
//			New: func(t testing.TB) vfs.FS { return mine.New(t.TempDir()) },
//		})
//	}
//
// The cases follow from the interfaces that the FS implements: a read-only one
// gets those for reading, one with Rename those for renaming. None is
// skipped; what does not apply is not there.
//
// Where the protocol leaves a choice the kit accepts all of it, with one
// rule for errors: an operation that has several reasons to fail may name any.
//
// [FaultFS] is for the layers above: a backend that fails, or stops, exactly
// when a test wants it.
//
// The package needs nothing but the standard library, so that importing it
// brings no module along; random tests are driven by math/rand/v2 from seeds
// which a failure prints.
package vfstest
