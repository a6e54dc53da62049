package vfs

// Type is an object's type, with the values of ftype3 (RFC 1813 §2.5).
type Type uint32

// The types.
const (
	TypeRegular Type = 1 + iota
	TypeDirectory
	TypeBlock
	TypeChar
	TypeSymlink
	TypeSocket
	TypeFIFO
)

// Time is a moment: seconds since 1970 (before it: negative) and nanoseconds,
// 0 to 999,999,999.
type Time struct {
	Sec  int64
	Nsec uint32
}

// Before reports whether t lies before u.
func (t Time) Before(u Time) bool {
	return t.Sec < u.Sec || t.Sec == u.Sec && t.Nsec < u.Nsec
}

// AttrMask says which fields of an Attr are wanted, known or to be set.
type AttrMask uint32

// The fields. AttrBasic are those of fattr3, which every backend knows.
const (
	AttrType AttrMask = 1 << iota
	AttrMode
	AttrNlink
	AttrUID
	AttrGID
	AttrSize
	AttrUsed
	AttrRdev
	AttrFSID
	AttrFileID
	AttrAtime
	AttrMtime
	AttrCtime
	AttrChange
	AttrBtime

	AttrBasic = AttrType | AttrMode | AttrNlink | AttrUID | AttrGID | AttrSize |
		AttrUsed | AttrFileID | AttrAtime | AttrMtime | AttrCtime

	// AttrWcc are those of wcc_attr, RFC 1813 §2.6.
	AttrWcc = AttrSize | AttrMtime | AttrCtime
)

// Attr are an object's attributes. Only the fields in Mask mean anything.
type Attr struct {
	Mask      AttrMask
	Type      Type
	Mode      uint32 // permission, set-id and sticky bits: 0 to 07777
	Nlink     uint32
	UID, GID  uint32
	Size      uint64 // bytes
	Used      uint64 // bytes on the medium
	RdevMajor uint32
	RdevMinor uint32
	FSID      uint64
	FileID    uint64
	Atime     Time
	Mtime     Time
	Ctime     Time
	Change    uint64 // grows with every change of data or attributes
	Btime     Time
}

// Has reports whether all fields of m are known.
func (a *Attr) Has(m AttrMask) bool { return a.Mask&m == m }

// SetTime says what becomes of a time in SetAttr.
type SetTime uint32

// As in time_how, RFC 1813 §2.6: leave it, take the server's clock, take the value given.
const (
	TimeKeep SetTime = iota
	TimeServer
	TimeGiven
)

// SetAttr is what SETATTR and the creating operations set. Mask may have
// AttrMode, AttrUID, AttrGID and AttrSize; the times have their own switches.
type SetAttr struct {
	Mask     AttrMask
	Mode     uint32
	UID, GID uint32
	Size     uint64

	SetAtime, SetMtime SetTime
	Atime, Mtime       Time
}

// IsZero reports whether nothing is to be set.
func (s *SetAttr) IsZero() bool {
	return s.Mask == 0 && s.SetAtime == TimeKeep && s.SetMtime == TimeKeep
}

// Change is what a mutation did to one object: its attributes right before
// and right after. The backend fills them from the mutation itself, in one
// atomic step with it, or leaves the mask empty: NFS clients rely on "before" to
// tell their own changes from other people's (RFC 1813 §2.6 wcc_data).
type Change struct {
	Pre, Post Attr
}

// Reset forgets what was recorded.
func (c *Change) Reset() { c.Pre.Mask, c.Post.Mask = 0, 0 }
