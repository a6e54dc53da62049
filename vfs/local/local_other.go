//go:build !linux

package local

import (
	"errors"
	"fmt"
	"runtime"

	"eddy.example/vfs"
)

// FS exists on Linux only.
type FS struct{ vfs.FS }

// Open returns an error that wraps errors.ErrUnsupported.
func Open(Config) (*FS, error) {
	return nil, fmt.Errorf("serving a directory on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Close does nothing.
func (f *FS) Close() error { return nil }

// Stats are zero.
func (f *FS) Stats() vfs.Stats { return vfs.Stats{} }

// SetAsyncMetadata does nothing.
func (f *FS) SetAsyncMetadata(bool) {}

// Describe is empty.
func (f *FS) Describe() Description { return Description{} }

// SetReadSource does nothing.
func (f *FS) SetReadSource(ReadSource) {}
