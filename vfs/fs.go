package vfs

import "eddy.example/bufpool"

// MaxHandle is the longest handle, in bytes, that a backend may give an
// object. An NFSv3 handle is at most 64 bytes (RFC 1813 §2.3.3); the export
// table needs the rest for its own header and checksum.
const MaxHandle = 40

// MaxName is the longest name of a directory entry, in bytes, that is passed
// to a backend.
const MaxName = 255

// Object is a file, directory or other object of one FS. The backend chooses
// its dynamic type and gets back what it gave. Two Objects of one FS are the
// same object exactly if they compare equal.
type Object any

// FS is the core of a backend. All methods may be called concurrently, for
// the same object too.
type FS interface {
	// Resolve finds the object that a handle names; an empty handle names the
	// root. h is only valid during the call. Errors: ErrStale if the object
	// is gone (or then from the methods that use it, where finding that out
	// costs as much as they do), ErrBadHandle if AppendHandle never made such a
	// handle, ErrDelay if the answer needs time.
	Resolve(c *Call, h []byte) (Object, error)

	// AppendHandle appends o's handle, at most MaxHandle bytes, to b. It
	// does not block and, like append, allocates only if b is too short.
	AppendHandle(b []byte, o Object) []byte

	// Lookup finds name in the directory dir. name is never empty and has no
	// slash; "." and ".." do occur: "." is dir, ".." its parent, and the root's is
	// the root. attr, if not nil, gets the attributes of what was found.
	// Errors: ErrNotExist, ErrNotDir, ErrAccess, ErrNameTooLong.
	Lookup(c *Call, dir Object, name string, attr *Attr) (Object, error)

	// Getattr fills attr with o's attributes. want says what the caller
	// will use; the backend may know more or less, attr.Mask tells.
	Getattr(c *Call, o Object, want AttrMask, attr *Attr) error

	// Read reads len(p) bytes at offset off of the regular file o into p and
	// returns how many there were. p lies page aligned, with a page of slack
	// in its capacity. eof is true exactly if off+n is at or behind the end
	// of the file; only at the end n may be less than len(p). A symbolic link is no
	// file: see [LinkReader].
	Read(c *Call, o Object, p []byte, off uint64) (n int, eof bool, err error)

	// ReadDir reports the entries of dir to fill, in the order of their
	// cookies, from the first whose cookie is greater than after (0: from
	// the beginning), until fill returns false or the directory ends; then
	// eof is true. "." and ".." are not reported. The work of a call is
	// bounded by what fill accepts. A cookie stays a position while
	// entries come and go: an entry that is there all the time is seen exactly
	// once by a listing that is continued.
	// fill keeps nothing of the entry, and calls no method of the FS but AppendHandle.
	ReadDir(c *Call, dir Object, after Cookie, want AttrMask, fill func(*DirEntry) bool) (eof bool, err error)
}

// Cookie is a position in a directory, RFC 1813 §3.3.16 cookie3. 0 is the
// beginning; backends use values from FirstCookie on.
type Cookie uint64

// FirstCookie is the smallest cookie of a backend's own entry. The protocol
// layer gives 1 and 2 to "." and "..".
const FirstCookie Cookie = 3

// DirEntry is one entry as ReadDir reports it. The backend owns it and may
// use it again for the next entry.
type DirEntry struct {
	Name   string
	Cookie Cookie
	FileID uint64
	// Object is the entry's object and Attr its attributes, if want was not
	// zero and they were to be had without waiting; else nil and an empty mask.
	Object Object
	Attr   Attr
}

// SegmentReader is implemented by an FS that can answer a READ without
// filling the caller's pages: with its own memory and an owner who is told
// when it was sent, or with a range of a file. The segment is at most n bytes.
// ErrNotSupported sends the call to Read.
type SegmentReader interface {
	ReadSegment(c *Call, o Object, off uint64, n int) (s bufpool.Segment, eof bool, err error)
}

// Waiter is declared by an FS that honours Call.MayWait: with MayWait false
// it never waits for a disk, a network or a contended lock, but returns
// ErrWouldBlock before it has changed anything. Its methods then run on the
// transport's event loops.
type Waiter interface {
	HonoursMayWait()
}

// Exclusive is declared by an FS whose data nobody changes but through this
// process.
type Exclusive interface {
	ExclusiveAccess()
}

// LinkReader reads symbolic links. The target is passed on as it is; nobody
// on the server's side follows it.
type LinkReader interface {
	Readlink(c *Call, o Object) (target string, err error)
}

// Accesser answers ACCESS by itself. Without it the answer follows from mode,
// owner and group (RFC 1813 §3.3.4 leaves the rules to the server). want and
// the result are made of the AccessX bits.
type Accesser interface {
	Access(c *Call, o Object, want Access) (Access, error)
}

// Access is a set of ACCESS bits, RFC 1813 §3.3.4.
type Access uint32

// The bits of ACCESS.
const (
	AccessRead    Access = 0x0001
	AccessLookup  Access = 0x0002
	AccessModify  Access = 0x0004
	AccessExtend  Access = 0x0008
	AccessDelete  Access = 0x0010
	AccessExecute Access = 0x0020
)

// Statfser reports the size of the file system.
type Statfser interface {
	Statfs(c *Call, o Object, s *Statfs) error
}

// Statfs is the state of a file system, RFC 1813 §3.3.18: bytes and file
// slots in all, free, and free to the caller.
type Statfs struct {
	TotalBytes, FreeBytes, AvailBytes uint64
	TotalFiles, FreeFiles, AvailFiles uint64
}

// Limiter reports limits and properties that differ from the defaults in
// DefaultLimits.
type Limiter interface {
	Limits() Limits
}

// Limits are the properties FSINFO and PATHCONF report (RFC 1813 §3.3.19,
// §3.3.20).
type Limits struct {
	MaxFileSize     uint64
	MaxName         uint32
	MaxLink         uint32
	TimeDelta       uint32 // ns, granularity of times that can be set
	CaseInsensitive bool
	CasePreserving  bool
	ChownRestricted bool
	NoTrunc         bool
}

// DefaultLimits are those of a usual Unix file system.
func DefaultLimits() Limits {
	return Limits{
		MaxFileSize: 1<<63 - 1, MaxName: MaxName, MaxLink: 32000, TimeDelta: 1,
		CasePreserving: true, ChownRestricted: true, NoTrunc: true,
	}
}
