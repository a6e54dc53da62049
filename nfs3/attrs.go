package nfs3

import (
	"math"

	"eddy.example/vfs"
	"eddy.example/vfs/export"
)

// wanted are the attributes that a backend is asked for.
const wanted = vfs.AttrBasic | vfs.AttrRdev | vfs.AttrFSID

// fattr3 is a on the wire. a has vfs.AttrBasic.
func fattr3(e *export.Entry, a *vfs.Attr) Fattr3 {
	f := Fattr3{
		Type:   Ftype3(a.Type),
		Mode:   Mode3(a.Mode & 0o7777),
		Nlink:  a.Nlink,
		UID:    UID3(a.UID),
		GID:    GID3(a.GID),
		Size:   Size3(a.Size),
		Used:   Size3(a.Used),
		Fsid:   uint64(e.ID),
		Fileid: Fileid3(a.FileID),
		Atime:  nfstime3(a.Atime),
		Mtime:  nfstime3(a.Mtime),
		Ctime:  nfstime3(a.Ctime),
	}
	if a.Has(vfs.AttrRdev) {
		f.Rdev = Specdata3{Specdata1: a.RdevMajor, Specdata2: a.RdevMinor}
	}
	if a.Has(vfs.AttrFSID) {
		f.Fsid = a.FSID
	}
	return f
}

// postOp is a as post_op_attr: absent unless all of it is known.
func postOp(e *export.Entry, a *vfs.Attr) PostOpAttr {
	if !a.Has(vfs.AttrBasic) {
		return PostOpAttr{}
	}
	return PostOpAttr{AttributesFollow: true, Attributes: fattr3(e, a)}
}

// preOp is a as pre_op_attr: absent unless all of it is known.
func preOp(a *vfs.Attr) PreOpAttr {
	if !a.Has(vfs.AttrWcc) {
		return PreOpAttr{}
	}
	return PreOpAttr{AttributesFollow: true, Attributes: WccAttr{
		Size:  Size3(a.Size),
		Mtime: nfstime3(a.Mtime),
		Ctime: nfstime3(a.Ctime),
	}}
}

// nfstime3 is t on the wire, or the nearest moment to it that there is one
// for: 1970 to 2106.
func nfstime3(t vfs.Time) NFSTime3 {
	switch {
	case t.Sec < 0:
		return NFSTime3{}
	case t.Sec > math.MaxUint32:
		return NFSTime3{Seconds: math.MaxUint32, Nseconds: 999_999_999}
	}
	return NFSTime3{Seconds: uint32(t.Sec), Nseconds: t.Nsec}
}

// vfsTime is t from the wire.
func vfsTime(t NFSTime3) (vfs.Time, error) {
	if t.Nseconds > 999_999_999 {
		return vfs.Time{}, vfs.ErrInvalid
	}
	return vfs.Time{Sec: int64(t.Seconds), Nsec: t.Nseconds}, nil
}

// setAttr fills to with what s sets. max is the biggest size a file may have.
func setAttr(to *vfs.SetAttr, s *Sattr3, max uint64) (err error) {
	*to = vfs.SetAttr{}
	if s.Mode.SetIt {
		to.Mask |= vfs.AttrMode
		to.Mode = uint32(s.Mode.Mode) & 0o7777
	}
	if s.UID.SetIt {
		to.Mask |= vfs.AttrUID
		to.UID = uint32(s.UID.UID)
	}
	if s.GID.SetIt {
		to.Mask |= vfs.AttrGID
		to.GID = uint32(s.GID.GID)
	}
	if s.Size.SetIt {
		to.Mask |= vfs.AttrSize
		if to.Size = uint64(s.Size.Size); to.Size > max {
			return vfs.ErrFileTooBig
		}
	}
	to.SetAtime, to.SetMtime = vfs.SetTime(s.Atime.SetIt), vfs.SetTime(s.Mtime.SetIt)
	if to.SetAtime == vfs.TimeGiven {
		if to.Atime, err = vfsTime(s.Atime.Atime); err != nil {
			return err
		}
	}
	if to.SetMtime == vfs.TimeGiven {
		to.Mtime, err = vfsTime(s.Mtime.Mtime)
	}
	return err
}
