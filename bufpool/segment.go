package bufpool

import "io"

// Owner is told when memory that was lent for sending is no longer looked at.
type Owner interface {
	Release()
}

// File is what a range of a file is sent from: an *os.File, or a descriptor of
// a backend's own. Both methods may be called until the segment's owner was
// released.
type File interface {
	// Fd is the descriptor, for the kernel to send from.
	Fd() uintptr

	// ReadAt is for where the kernel can't.
	io.ReaderAt
}

// Segment is one piece of a reply: memory with an owner, or a range of a
// file. Whoever accepts a Segment releases its owner exactly once.
type Segment struct {
	// Mem is the memory, if File is nil. Nobody changes it before Owner was
	// released; a nil Owner promises that nobody ever does.
	Mem   []byte
	Owner Owner

	// File, Off and Len name Len bytes of a file, which must stay open until Owner
	// was released.
	File File
	Off  int64
	Len  int
}

// Size is the segment's length in bytes.
func (s *Segment) Size() int {
	if s.File != nil {
		return s.Len
	}
	return len(s.Mem)
}
