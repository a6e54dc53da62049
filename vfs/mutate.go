package vfs

// In all methods here a *Change and the *Attr that gets a result may be nil, a
// *SetAttr never is. What is left out of a new object's SetAttr the backend
// chooses: the owner is the caller, and nobody else gets permissions.

// Stability is how durable a WRITE is: stable_how, RFC 1813 §3.3.7.
type Stability uint32

// Unstable data may be lost until a Commit; DataSync is on stable storage
// with what is needed to find it; FileSync with all attributes.
const (
	Unstable Stability = iota
	DataSync
	FileSync
)

// Verifier changes whenever data that was written Unstable may have been
// lost, RFC 1813 §3.3.7 writeverf3.
type Verifier [8]byte

// Writer takes data.
type Writer interface {
	// Write writes data at offset off of the regular file o. It returns how
	// many bytes were written, which stability was reached (at least how, if all
	// was written), and the verifier as it was before data was touched. The memory of
	// data lies so that its address ≡ off modulo the page size where the
	// transport could arrange it; it is valid until Write returns.
	// Concurrent writes to one range leave either one or the other.
	// Errors: ErrAccess, ErrNoSpace, ErrQuota, ErrFileTooBig, ErrIO, ErrInvalid.
	Write(c *Call, o Object, data []byte, off uint64, how Stability, chg *Change) (n int, did Stability, v Verifier, err error)
}

// Committer makes unstable data durable. An FS that implements Writer and not Committer
// answers every Write with FileSync.
type Committer interface {
	// Commit makes the n bytes at off (n = 0: to the end) durable, and all
	// data of the file if it likes. The verifier is the one valid after the sync.
	Commit(c *Call, o Object, off, n uint64, chg *Change) (Verifier, error)
}

// AttrSetter changes attributes, all or none.
type AttrSetter interface {
	// Setattr applies s to o. If guard is not nil and o's ctime is not
	// *guard it changes nothing and returns ErrNotSync; the test and the
	// change are one step (RFC 1813 §3.3.2).
	Setattr(c *Call, o Object, s *SetAttr, guard *Time, chg *Change) error
}

// CreateMode is how Create treats an existing file: createmode3, RFC 1813
// §3.3.8.
type CreateMode uint32

// CreateUnchecked opens an existing file (and applies AttrSize to it), CreateGuarded answers ErrExist,
// CreateExclusive answers ErrExist unless the file was created with the same verifier.
const (
	CreateUnchecked CreateMode = iota
	CreateGuarded
	CreateExclusive
)

// Creator creates regular files.
type Creator interface {
	// Create creates name in dir, or opens it as how says. verf is used in
	// mode CreateExclusive; all its 8 bytes are kept with the file until the
	// first Setattr. s is never nil. dirChg gets the directory's change, attr
	// the file's attributes; both may be nil.
	Create(c *Call, dir Object, name string, how CreateMode, verf [8]byte, s *SetAttr, attr *Attr, dirChg *Change) (Object, error)
}

// Mkdirer creates directories.
type Mkdirer interface {
	Mkdir(c *Call, dir Object, name string, s *SetAttr, attr *Attr, dirChg *Change) (Object, error)
}

// Symlinker creates symbolic links; target is kept as it is.
type Symlinker interface {
	Symlink(c *Call, dir Object, name, target string, s *SetAttr, attr *Attr, dirChg *Change) (Object, error)
}

// Mknoder creates devices, sockets and FIFOs.
type Mknoder interface {
	Mknod(c *Call, dir Object, name string, t Type, major, minor uint32, s *SetAttr, attr *Attr, dirChg *Change) (Object, error)
}

// Remover removes whatever is no directory. The object lives on, for those who
// hold its handle, only as long as the backend likes.
type Remover interface {
	Remove(c *Call, dir Object, name string, dirChg *Change) error
}

// Rmdirer removes empty directories: ErrNotEmpty, ErrNotDir, ErrInvalid for ".".
type Rmdirer interface {
	Rmdir(c *Call, dir Object, name string, dirChg *Change) error
}

// Renamer renames, replacing what is at the target in one step if the types
// allow it (RFC 1813 §3.3.14). Both changes may be of the same directory.
type Renamer interface {
	Rename(c *Call, from Object, fromName string, to Object, toName string, fromChg, toChg *Change) error
}

// Linker makes hard links. attr gets o's attributes after it.
type Linker interface {
	Link(c *Call, o Object, dir Object, name string, attr *Attr, dirChg *Change) error
}
