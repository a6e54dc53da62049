package nfs3

import (
	"errors"
	"math"
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/export"
	"github.com/google/go-cmp/cmp"
)

func TestFattr3(t *testing.T) {
	e := &export.Entry{ID: 7}
	a := vfs.Attr{
		Mask: vfs.AttrBasic, Type: vfs.TypeChar, Mode: 0o104755, Nlink: 2, UID: 3, GID: 4, Size: 5, Used: 6,
		RdevMajor: 8, RdevMinor: 9, FSID: 10, FileID: 11,
		Atime: vfs.Time{Sec: 12, Nsec: 13}, Mtime: vfs.Time{Sec: -1, Nsec: 14}, Ctime: vfs.Time{Sec: 1 << 40},
	}
	want := Fattr3{
		Type: NF3CHR, Mode: 0o4755, Nlink: 2, UID: 3, GID: 4, Size: 5, Used: 6, Fsid: 7, Fileid: 11,
		Atime: NFSTime3{12, 13}, Mtime: NFSTime3{}, Ctime: NFSTime3{math.MaxUint32, 999_999_999},
	}
	if d := cmp.Diff(want, fattr3(e, &a)); d != "" {
		t.Errorf("without rdev and fsid (-want +got):\n%s", d)
	}
	a.Mask |= vfs.AttrRdev | vfs.AttrFSID
	want.Rdev, want.Fsid = Specdata3{8, 9}, 10
	if d := cmp.Diff(want, fattr3(e, &a)); d != "" {
		t.Errorf("with rdev and fsid (-want +got):\n%s", d)
	}
}

func TestAttributesLeftOut(t *testing.T) {
	e := &export.Entry{}
	for bit := vfs.AttrMask(1); bit <= vfs.AttrBasic; bit <<= 1 {
		a := vfs.Attr{Mask: vfs.AttrBasic &^ bit}
		if got := postOp(e, &a).AttributesFollow; got != (vfs.AttrBasic&bit == 0) {
			t.Errorf("post_op_attr without %#x: %v", bit, got)
		}
		a.Mask = vfs.AttrWcc &^ bit
		if got := preOp(&a).AttributesFollow; got != (vfs.AttrWcc&bit == 0) {
			t.Errorf("pre_op_attr without %#x: %v", bit, got)
		}
	}
}

func TestSetAttr(t *testing.T) {
	s := Sattr3{
		Mode: SetMode3{true, 0o100640}, UID: SetUID3{true, 1}, GID: SetGID3{true, 2}, Size: SetSize3{true, 3},
		Atime: SetAtime{SET_TO_CLIENT_TIME, NFSTime3{math.MaxUint32, 5}}, Mtime: SetMtime{SetIt: SET_TO_SERVER_TIME},
	}
	want := vfs.SetAttr{
		Mask: vfs.AttrMode | vfs.AttrUID | vfs.AttrGID | vfs.AttrSize, Mode: 0o640, UID: 1, GID: 2, Size: 3,
		SetAtime: vfs.TimeGiven, Atime: vfs.Time{Sec: math.MaxUint32, Nsec: 5}, SetMtime: vfs.TimeServer,
	}
	got := vfs.SetAttr{Mask: vfs.AttrFSID}
	if err := setAttr(&got, &s, 3); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if err := setAttr(&got, &Sattr3{}, 0); err != nil || !got.IsZero() {
		t.Errorf("nothing to set: %+v, %v", got, err)
	}
	for _, tt := range []struct {
		name string
		s    Sattr3
		want error
	}{
		{"size", Sattr3{Size: SetSize3{true, 4}}, vfs.ErrFileTooBig},
		{"atime", Sattr3{Atime: SetAtime{SET_TO_CLIENT_TIME, NFSTime3{0, 1e9}}}, vfs.ErrInvalid},
		{"mtime", Sattr3{Mtime: SetMtime{SET_TO_CLIENT_TIME, NFSTime3{0, 1e9}}}, vfs.ErrInvalid},
	} {
		if err := setAttr(&got, &tt.s, 3); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}
