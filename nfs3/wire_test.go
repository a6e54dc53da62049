package nfs3

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"testing"

	"eddy.example/rpc/xdr"
	"eddy.example/rpc/xdrgen/xdrtest"
)

// The bytes below were put together by hand from RFC 1813 and, for version 1 of
// MOUNT, RFC 1094. Values that many messages share have a name.

var (
	wireFh   = NFSFh3{Data: []byte{0xf0, 0xf1, 0xf2, 0xf3, 0xf4}}
	wireAttr = PostOpAttr{AttributesFollow: true, Attributes: Fattr3{
		Type: NF3CHR, Mode: 0o644, Nlink: 2, UID: 1000, GID: 100, Size: 0x12345, Used: 0x13000,
		Rdev: Specdata3{Specdata1: 8, Specdata2: 1}, Fsid: 0xabcd, Fileid: 0x100000002,
		Atime: NFSTime3{Seconds: 0x65000000, Nseconds: 1},
		Mtime: NFSTime3{Seconds: 0x65000001, Nseconds: 2},
		Ctime: NFSTime3{Seconds: 0x65000002, Nseconds: 3},
	}}
	wireBefore = PreOpAttr{AttributesFollow: true, Attributes: WccAttr{
		Size:  0x12000,
		Mtime: NFSTime3{Seconds: 0x64000000, Nseconds: 4},
		Ctime: NFSTime3{Seconds: 0x64000001, Nseconds: 5},
	}}
	wireWcc    = WccData{Before: wireBefore, After: wireAttr}
	wireWhere  = Diropargs3{Dir: wireFh, Name: []byte("name.c")}
	wireNewFh  = PostOpFh3{HandleFollows: true, Handle: NFSFh3{Data: []byte{0xe0, 0xe1, 0xe2, 0xe3}}}
	wireSetAll = Sattr3{
		Mode:  SetMode3{SetIt: true, Mode: 0o4755},
		UID:   SetUID3{SetIt: true, UID: 1},
		GID:   SetGID3{SetIt: true, GID: 2},
		Size:  SetSize3{SetIt: true, Size: 0x300000000},
		Atime: SetAtime{SetIt: SET_TO_SERVER_TIME},
		Mtime: SetMtime{SetIt: SET_TO_CLIENT_TIME, Mtime: NFSTime3{Seconds: 6, Nseconds: 7}},
	}
	wireSetMode = Sattr3{Mode: SetMode3{SetIt: true, Mode: 0o700}}
)

const (
	fhBytes   = "00000005 f0f1f2f3 f4 000000 ; handle, padded\n"
	noBytes   = "00000000 ; does not follow\n"
	fattrText = `
		00000004 ; NF3CHR
		000001a4 ; mode
		00000002 ; nlink
		000003e8 ; uid
		00000064 ; gid
		0000000000012345 ; size
		0000000000013000 ; used
		00000008 00000001 ; rdev
		000000000000abcd ; fsid
		0000000100000002 ; fileid
		65000000 00000001 ; atime
		65000001 00000002 ; mtime
		65000002 00000003 ; ctime
	`
	attrBytes   = "00000001 ; attributes follow\n" + fattrText
	beforeBytes = `
		00000001 ; attributes follow
		0000000000012000 ; size
		64000000 00000004 ; mtime
		64000001 00000005 ; ctime
	`
	wccBytes    = beforeBytes + attrBytes
	whereBytes  = fhBytes + "00000006 6e616d652e63 0000 ; name\n"
	newFhBytes  = "00000001 00000004 e0e1e2e3 ; handle follows\n"
	setAllBytes = `
		00000001 000009ed ; mode
		00000001 00000001 ; uid
		00000001 00000002 ; gid
		00000001 0000000300000000 ; size
		00000001 ; atime: server's
		00000002 00000006 00000007 ; mtime: client's
	`
	setModeBytes = `
		00000001 000001c0 ; mode
		00000000 00000000 00000000 ; uid, gid, size
		00000000 00000000 ; atime, mtime
	`
)

type goldenMessage struct {
	name string
	v    xdrtest.Value
	wire string
}

func goldenMessages() []goldenMessage {
	return []goldenMessage{
		{"GETATTR call", &GETATTR3args{Object: wireFh}, fhBytes},
		{"GETATTR ok", &GETATTR3res{Resok: GETATTR3resok{ObjAttributes: wireAttr.Attributes}}, "00000000" + fattrText},
		{"GETATTR fails", &GETATTR3res{Status: NFS3ERR_STALE}, "00000046"},

		{"SETATTR call", &SETATTR3args{Object: wireFh, NewAttributes: wireSetAll, Guard: Sattrguard3{Check: true, ObjCtime: NFSTime3{Seconds: 8, Nseconds: 9}}},
			fhBytes + setAllBytes + "00000001 00000008 00000009 ; guard"},
		{"SETATTR call without guard", &SETATTR3args{Object: wireFh, NewAttributes: wireSetMode}, fhBytes + setModeBytes + noBytes},
		{"SETATTR ok", &SETATTR3res{Resok: SETATTR3resok{ObjWcc: wireWcc}}, "00000000" + wccBytes},
		{"SETATTR fails", &SETATTR3res{Status: NFS3ERR_NOT_SYNC, Resfail: SETATTR3resfail{ObjWcc: WccData{After: wireAttr}}},
			"00002712" + noBytes + attrBytes},

		{"LOOKUP call", &LOOKUP3args{What: wireWhere}, whereBytes},
		{"LOOKUP ok", &LOOKUP3res{Resok: LOOKUP3resok{Object: wireFh, ObjAttributes: wireAttr}},
			"00000000" + fhBytes + attrBytes + noBytes},
		{"LOOKUP fails", &LOOKUP3res{Status: NFS3ERR_NOENT, Resfail: LOOKUP3resfail{DirAttributes: wireAttr}}, "00000002" + attrBytes},

		{"ACCESS call", &ACCESS3args{Object: wireFh, Access: ACCESS3_READ | ACCESS3_LOOKUP | ACCESS3_MODIFY | ACCESS3_EXTEND | ACCESS3_DELETE | ACCESS3_EXECUTE},
			fhBytes + "0000003f"},
		{"ACCESS ok", &ACCESS3res{Resok: ACCESS3resok{ObjAttributes: wireAttr, Access: ACCESS3_READ}}, "00000000" + attrBytes + "00000001"},
		{"ACCESS fails", &ACCESS3res{Status: NFS3ERR_SERVERFAULT}, "00002716" + noBytes},

		{"READLINK call", &READLINK3args{Symlink: wireFh}, fhBytes},
		{"READLINK ok", &READLINK3res{Resok: READLINK3resok{SymlinkAttributes: wireAttr, Data: []byte("../a")}},
			"00000000" + attrBytes + "00000004 2e2e2f61"},
		{"READLINK fails", &READLINK3res{Status: NFS3ERR_INVAL, Resfail: READLINK3resfail{SymlinkAttributes: wireAttr}}, "00000016" + attrBytes},

		{"READ call", &READ3args{File: wireFh, Offset: 0x1ffffffff, Count: 47008}, fhBytes + "00000001ffffffff 0000b7a0"},
		{"READ ok", &READ3res{Resok: READ3resok{FileAttributes: wireAttr, Count: 3, Eof: true, Data: []byte{1, 2, 3}}},
			"00000000" + attrBytes + "00000003 00000001 00000003 010203 00"},
		{"READ fails", &READ3res{Status: NFS3ERR_ISDIR, Resfail: READ3resfail{FileAttributes: wireAttr}}, "00000015" + attrBytes},

		{"WRITE call", &WRITE3args{File: wireFh, Offset: 0x100000000, Count: 5, Stable: DATA_SYNC, Data: []byte{1, 2, 3, 4, 5}},
			fhBytes + "0000000100000000 00000005 00000001 00000005 0102030405 000000"},
		{"WRITE ok", &WRITE3res{Resok: WRITE3resok{FileWcc: wireWcc, Count: 5, Committed: FILE_SYNC, Verf: Writeverf3{1, 2, 3, 4, 5, 6, 7, 8}}},
			"00000000" + wccBytes + "00000005 00000002 0102030405060708"},
		{"WRITE fails", &WRITE3res{Status: NFS3ERR_NOSPC, Resfail: WRITE3resfail{FileWcc: wireWcc}}, "0000001c" + wccBytes},

		{"CREATE call, UNCHECKED", &CREATE3args{Where: wireWhere, How: Createhow3{Mode: UNCHECKED, ObjAttributes: wireSetAll}},
			whereBytes + "00000000" + setAllBytes},
		{"CREATE call, GUARDED", &CREATE3args{Where: wireWhere, How: Createhow3{Mode: GUARDED, ObjAttributes: wireSetMode}},
			whereBytes + "00000001" + setModeBytes},
		{"CREATE call, EXCLUSIVE", &CREATE3args{Where: wireWhere, How: Createhow3{Mode: EXCLUSIVE, Verf: Createverf3{1, 2, 3, 4, 5, 6, 7, 8}}},
			whereBytes + "00000002 0102030405060708"},
		{"CREATE ok", &CREATE3res{Resok: CREATE3resok{Obj: wireNewFh, ObjAttributes: wireAttr, DirWcc: wireWcc}},
			"00000000" + newFhBytes + attrBytes + wccBytes},
		{"CREATE fails", &CREATE3res{Status: NFS3ERR_EXIST, Resfail: CREATE3resfail{DirWcc: wireWcc}}, "00000011" + wccBytes},

		{"MKDIR call", &MKDIR3args{Where: wireWhere, Attributes: wireSetMode}, whereBytes + setModeBytes},
		{"MKDIR ok", &MKDIR3res{Resok: MKDIR3resok{ObjAttributes: wireAttr, DirWcc: wireWcc}}, "00000000" + noBytes + attrBytes + wccBytes},
		{"MKDIR fails", &MKDIR3res{Status: NFS3ERR_ROFS, Resfail: MKDIR3resfail{DirWcc: wireWcc}}, "0000001e" + wccBytes},

		{"SYMLINK call", &SYMLINK3args{Where: wireWhere, Symlink: Symlinkdata3{SymlinkAttributes: wireSetMode, SymlinkData: []byte("/t")}},
			whereBytes + setModeBytes + "00000002 2f74 0000"},
		{"SYMLINK ok", &SYMLINK3res{Resok: SYMLINK3resok{Obj: wireNewFh, DirWcc: wireWcc}}, "00000000" + newFhBytes + noBytes + wccBytes},
		{"SYMLINK fails", &SYMLINK3res{Status: NFS3ERR_NOTSUPP, Resfail: SYMLINK3resfail{DirWcc: wireWcc}}, "00002714" + wccBytes},

		{"MKNOD call, device", &MKNOD3args{Where: wireWhere, What: Mknoddata3{Type: NF3BLK, Device: Devicedata3{DevAttributes: wireSetMode, Spec: Specdata3{7, 8}}}},
			whereBytes + "00000003" + setModeBytes + "00000007 00000008"},
		{"MKNOD call, FIFO", &MKNOD3args{Where: wireWhere, What: Mknoddata3{Type: NF3FIFO, PipeAttributes: wireSetMode}},
			whereBytes + "00000007" + setModeBytes},
		{"MKNOD call, socket", &MKNOD3args{Where: wireWhere, What: Mknoddata3{Type: NF3SOCK, PipeAttributes: wireSetMode}},
			whereBytes + "00000006" + setModeBytes},
		{"MKNOD call, directory", &MKNOD3args{Where: wireWhere, What: Mknoddata3{Type: NF3DIR}}, whereBytes + "00000002"},
		{"MKNOD call, no type at all", &MKNOD3args{Where: wireWhere, What: Mknoddata3{Type: 99}}, whereBytes + "00000063"},
		{"MKNOD ok", &MKNOD3res{Resok: MKNOD3resok{Obj: wireNewFh, ObjAttributes: wireAttr, DirWcc: wireWcc}},
			"00000000" + newFhBytes + attrBytes + wccBytes},
		{"MKNOD fails", &MKNOD3res{Status: NFS3ERR_BADTYPE, Resfail: MKNOD3resfail{DirWcc: wireWcc}}, "00002717" + wccBytes},

		{"REMOVE call", &REMOVE3args{Object: wireWhere}, whereBytes},
		{"REMOVE ok", &REMOVE3res{Resok: REMOVE3resok{DirWcc: wireWcc}}, "00000000" + wccBytes},
		{"REMOVE fails", &REMOVE3res{Status: NFS3ERR_ACCES, Resfail: REMOVE3resfail{DirWcc: wireWcc}}, "0000000d" + wccBytes},

		{"RMDIR call", &RMDIR3args{Object: wireWhere}, whereBytes},
		{"RMDIR ok", &RMDIR3res{Resok: RMDIR3resok{DirWcc: wireWcc}}, "00000000" + wccBytes},
		{"RMDIR fails", &RMDIR3res{Status: NFS3ERR_NOTEMPTY, Resfail: RMDIR3resfail{DirWcc: wireWcc}}, "00000042" + wccBytes},

		{"RENAME call", &RENAME3args{From: wireWhere, To: Diropargs3{Dir: wireFh, Name: []byte("b")}},
			whereBytes + fhBytes + "00000001 62 000000"},
		{"RENAME ok", &RENAME3res{Resok: RENAME3resok{FromdirWcc: wireWcc}}, "00000000" + wccBytes + noBytes + noBytes},
		{"RENAME fails", &RENAME3res{Status: NFS3ERR_XDEV, Resfail: RENAME3resfail{TodirWcc: wireWcc}}, "00000012" + noBytes + noBytes + wccBytes},

		{"LINK call", &LINK3args{File: wireFh, Link: wireWhere}, fhBytes + whereBytes},
		{"LINK ok", &LINK3res{Resok: LINK3resok{FileAttributes: wireAttr, LinkdirWcc: wireWcc}}, "00000000" + attrBytes + wccBytes},
		{"LINK fails", &LINK3res{Status: NFS3ERR_MLINK, Resfail: LINK3resfail{FileAttributes: wireAttr}}, "0000001f" + attrBytes + noBytes + noBytes},

		{"READDIR call", &READDIR3args{Dir: wireFh, Cookie: 0x200000001, Cookieverf: Cookieverf3{1, 2, 3, 4, 5, 6, 7, 8}, Count: 4096},
			fhBytes + "0000000200000001 0102030405060708 00001000"},
		{"READDIR ok", &READDIR3res{Resok: READDIR3resok{DirAttributes: wireAttr, Cookieverf: Cookieverf3{8}, Reply: Dirlist3{
			Entries: []Entry3{{Fileid: 1, Name: []byte("."), Cookie: 2}, {Fileid: 3, Name: []byte("name"), Cookie: 4}}, Eof: true,
		}}}, "00000000" + attrBytes + `
			0800000000000000 ; cookieverf
			00000001 0000000000000001 00000001 2e 000000 0000000000000002 ; entry
			00000001 0000000000000003 00000004 6e616d65 0000000000000004 ; entry
			00000000 00000001 ; no more entries, eof
		`},
		{"READDIR ok, empty", &READDIR3res{}, "00000000" + noBytes + "0000000000000000 00000000 00000000"},
		{"READDIR fails", &READDIR3res{Status: NFS3ERR_BAD_COOKIE, Resfail: READDIR3resfail{DirAttributes: wireAttr}}, "00002713" + attrBytes},

		{"READDIRPLUS call", &READDIRPLUS3args{Dir: wireFh, Cookie: 1, Cookieverf: Cookieverf3{2}, Dircount: 512, Maxcount: 32768},
			fhBytes + "0000000000000001 0200000000000000 00000200 00008000"},
		{"READDIRPLUS ok", &READDIRPLUS3res{Resok: READDIRPLUS3resok{DirAttributes: wireAttr, Reply: Dirlistplus3{Entries: []Entryplus3{
			{Fileid: 1, Name: []byte("ab"), Cookie: 2, NameAttributes: wireAttr, NameHandle: wireNewFh}, {Fileid: 3, Name: []byte("c"), Cookie: 4},
		}}}}, "00000000" + attrBytes + `
			0000000000000000 ; cookieverf
			00000001 0000000000000001 00000002 6162 0000 0000000000000002 ; entry
			` + attrBytes + newFhBytes + `
			00000001 0000000000000003 00000001 63 000000 0000000000000004 ; entry
			` + noBytes + noBytes + `
			00000000 00000000 ; no more entries here, but not eof
		`},
		{"READDIRPLUS fails", &READDIRPLUS3res{Status: NFS3ERR_TOOSMALL, Resfail: READDIRPLUS3resfail{DirAttributes: wireAttr}}, "00002715" + attrBytes},

		{"FSSTAT call", &FSSTAT3args{Fsroot: wireFh}, fhBytes},
		{"FSSTAT ok", &FSSTAT3res{Resok: FSSTAT3resok{ObjAttributes: wireAttr, Tbytes: 1 << 40, Fbytes: 1 << 39, Abytes: 1 << 38, Tfiles: 6, Ffiles: 5, Afiles: 4, Invarsec: 3}},
			"00000000" + attrBytes + `
			0000010000000000 0000008000000000 0000004000000000 ; tbytes, fbytes, abytes
			0000000000000006 0000000000000005 0000000000000004 ; tfiles, ffiles, afiles
			00000003 ; invarsec
		`},
		{"FSSTAT fails", &FSSTAT3res{Status: NFS3ERR_IO, Resfail: FSSTAT3resfail{ObjAttributes: wireAttr}}, "00000005" + attrBytes},

		{"FSINFO call", &FSINFO3args{Fsroot: wireFh}, fhBytes},
		{"FSINFO ok", &FSINFO3res{Resok: FSINFO3resok{
			ObjAttributes: wireAttr, Rtmax: 1 << 20, Rtpref: 1 << 19, Rtmult: 4096, Wtmax: 1 << 18, Wtpref: 1 << 17, Wtmult: 512, Dtpref: 65536,
			Maxfilesize: 1<<63 - 1, TimeDelta: NFSTime3{Nseconds: 1}, Properties: FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME,
		}}, "00000000" + attrBytes + `
			00100000 00080000 00001000 ; rtmax, rtpref, rtmult
			00040000 00020000 00000200 ; wtmax, wtpref, wtmult
			00010000 ; dtpref
			7fffffffffffffff ; maxfilesize
			00000000 00000001 ; time_delta
			0000001b ; properties
		`},
		{"FSINFO fails", &FSINFO3res{Status: NFS3ERR_BADHANDLE}, "00002711" + noBytes},

		{"PATHCONF call", &PATHCONF3args{Object: wireFh}, fhBytes},
		{"PATHCONF ok", &PATHCONF3res{Resok: PATHCONF3resok{ObjAttributes: wireAttr, Linkmax: 32000, NameMax: 255, NoTrunc: true, ChownRestricted: true, CasePreserving: true}},
			"00000000" + attrBytes + "00007d00 000000ff 00000001 00000001 00000000 00000001"},
		{"PATHCONF fails", &PATHCONF3res{Status: NFS3ERR_JUKEBOX}, "00002718" + noBytes},

		{"COMMIT call", &COMMIT3args{File: wireFh, Offset: 4096, Count: 8192}, fhBytes + "0000000000001000 00002000"},
		{"COMMIT ok", &COMMIT3res{Resok: COMMIT3resok{FileWcc: wireWcc, Verf: Writeverf3{0xff}}}, "00000000" + wccBytes + "ff00000000000000"},
		{"COMMIT fails", &COMMIT3res{Status: NFS3ERR_IO, Resfail: COMMIT3resfail{FileWcc: wireWcc}}, "00000005" + wccBytes},
		{"a status nobody knows", &COMMIT3res{Status: 12345, Resfail: COMMIT3resfail{FileWcc: wireWcc}}, "00003039" + wccBytes},

		{"MNT call", goldenPtr(Dirpath("/data")), "00000005 2f64617461 000000"},
		{"MNT ok", &Mountres3{Mountinfo: Mountres3Ok{Fhandle: wireFh.Data, AuthFlavors: []uint32{1, 390003, 0}}},
			"00000000" + fhBytes + "00000003 00000001 0005f373 00000000"},
		{"MNT fails", &Mountres3{FhsStatus: MNT3ERR_ACCES}, "0000000d"},
		{"MNT ok, version 1", &Fhstatus{Directory: Fhandle{0: 1, 31: 2}},
			"00000000 01000000 00000000 00000000 00000000 00000000 00000000 00000000 00000002"},
		{"MNT fails, version 1", &Fhstatus{Status: 2}, "00000002"},
		{"DUMP", &Mountlist{{MlHostname: []byte("h1"), MlDirectory: []byte("/a")}, {MlHostname: []byte("h2"), MlDirectory: []byte("/b")}}, `
			00000001 00000002 6831 0000 00000002 2f61 0000
			00000001 00000002 6832 0000 00000002 2f62 0000
			00000000
		`},
		{"DUMP, empty", &Mountlist{}, "00000000"},
		{"EXPORT", &Exports{{ExDir: []byte("/"), ExGroups: Groups{{GrName: []byte("10.0.0.0/8")}, {GrName: []byte("@g")}}}, {ExDir: []byte("/data")}}, `
			00000001 00000001 2f 000000 ; a directory
			  00000001 0000000a 31302e302e302e302f38 0000 ; a group
			  00000001 00000002 4067 0000 ; a group
			  00000000
			00000001 00000005 2f64617461 000000 ; a directory
			  00000000 ; for everybody
			00000000
		`},
	}
}

func goldenPtr[T any](v T) *T { return &v }

func TestGolden(t *testing.T) {
	for _, tc := range goldenMessages() {
		t.Run(tc.name, func(t *testing.T) { xdrtest.Golden(t, tc.v, tc.wire) })
	}
}

// wireTypes returns the types that the golden messages consist of, by name.
func wireTypes() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		types[t.Name()] = t
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				walk(t.Field(i).Type)
			}
		}
	}
	for _, m := range goldenMessages() {
		walk(reflect.TypeOf(m.v))
	}
	return types
}

// Every type of the .x files is part of a golden message.
func TestGoldenIsComplete(t *testing.T) {
	seen := wireTypes()
	declared := 0
	for _, path := range []string{"zz_nfs3.go", "zz_mount.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				spec := spec.(*ast.TypeSpec)
				if spec.Assign.IsValid() { // an alias
					continue
				}
				if declared++; seen[spec.Name.Name] == nil {
					t.Errorf("%s is in no golden message", spec.Name.Name)
				}
			}
		}
	}
	if declared < 100 {
		t.Errorf("found only %d types", declared)
	}
}

var wireLimits = xdrtest.Limits{
	"NFSFh3.Data": NFS3_FHSIZE, "Fhandle3": FHSIZE3, "Dirpath": 40, "Filename3": 40,
}

func TestRoundTrip(t *testing.T) {
	for name, typ := range wireTypes() {
		if v, ok := reflect.New(typ).Interface().(xdrtest.Value); ok && name != "" {
			t.Run(name, func(t *testing.T) { xdrtest.RoundTrip(t, v, wireLimits) })
		}
	}
}

func TestBounds(t *testing.T) {
	for _, tc := range []struct {
		name  string
		bound int
		build func(n int) xdrtest.Value
	}{
		{"nfs_fh3", 64, func(n int) xdrtest.Value { return &NFSFh3{Data: make([]byte, n)} }},
		{"nfs_fh3 of READ", 64, func(n int) xdrtest.Value { return &READ3args{File: NFSFh3{Data: make([]byte, n)}} }},
		{"nfs_fh3 of CREATE's result", 64, func(n int) xdrtest.Value {
			return &CREATE3res{Resok: CREATE3resok{Obj: PostOpFh3{HandleFollows: true, Handle: NFSFh3{Data: make([]byte, n)}}}}
		}},
		{"fhandle3", 64, func(n int) xdrtest.Value { return &Mountres3{Mountinfo: Mountres3Ok{Fhandle: make([]byte, n)}} }},
		{"dirpath", 1024, func(n int) xdrtest.Value { return goldenPtr(Dirpath(make([]byte, n))) }},
		{"ml_hostname", 255, func(n int) xdrtest.Value { return &Mountlist{{MlHostname: make([]byte, n)}} }},
		{"ml_directory", 1024, func(n int) xdrtest.Value { return &Mountlist{{MlDirectory: make([]byte, n)}} }},
		{"ex_dir", 1024, func(n int) xdrtest.Value { return &Exports{{ExDir: make([]byte, n)}} }},
		{"gr_name", 255, func(n int) xdrtest.Value { return &Exports{{ExGroups: Groups{{GrName: make([]byte, n)}}}} }},
	} {
		t.Run(tc.name, func(t *testing.T) { xdrtest.Bound(t, tc.bound, tc.build) })
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		v    xdrtest.Value
		wire string
		want error
	}{
		{"ftype3", new(GETATTR3res), "00000000 00000008" + fattrText[len("\n\t\t00000004"):], xdr.ErrEnum},
		{"ftype3 0", new(Ftype3), "00000000", xdr.ErrEnum},
		{"stable_how", new(WRITE3args), fhBytes + "0000000000000000 00000000 00000003 00000000", xdr.ErrEnum},
		{"createmode3", new(CREATE3args), whereBytes + "00000003", xdr.ErrUnion},
		{"time_how", new(SetAtime), "00000003", xdr.ErrUnion},
		{"set_it of a mode", new(SetMode3), "00000002 000001c0", xdr.ErrEnum},
		{"attributes_follow", new(PostOpAttr), "ffffffff", xdr.ErrEnum},
		{"eof", new(READ3resok), noBytes + "00000000 00000100 00000000", xdr.ErrEnum},
		{"another entry follows", new(Dirlist3), "00000002", xdr.ErrEnum},
		{"WRITE of more than there is", new(WRITE3args), fhBytes + "0000000000000000 ffffffff 00000000 ffffffff 00000000", xdr.ErrShort},
		{"more flavours than there are", new(Mountres3Ok), "00000000 3fffffff 00000001", xdr.ErrShort},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := tc.v.ConsumeXDR(xdrtest.Wire(t, tc.wire)); err != tc.want {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

// READ's reply and WRITE's call with a payload that lies elsewhere.
func TestPayloadElsewhere(t *testing.T) {
	payload := []byte("payload")
	read := READ3resok{FileAttributes: wireAttr, Count: 7, Eof: true, Data: payload}
	head := (&READ3resok{FileAttributes: wireAttr, Count: 7, Eof: true}).AppendXDRHead(nil, 7)
	if got, want := xdr.AppendFixed(head, payload), read.AppendXDR(nil); string(got) != string(want) {
		t.Errorf("READ:\n got %x\nwant %x", got, want)
	}
	write := WRITE3args{File: wireFh, Offset: 1, Count: 7, Stable: FILE_SYNC}
	var got WRITE3args
	n, rest, err := got.ConsumeXDRHead(write.AppendXDRHead(nil, 1<<20))
	if n != 1<<20 || len(rest) != 0 || err != nil || got.Offset != 1 || got.Stable != FILE_SYNC {
		t.Errorf("WRITE: %d bytes follow, %x left, %v; %+v", n, rest, err, got)
	}
}

// Numbers from the lists of procedures, RFC 1813 §3 and §5.2.
func TestProcedureNumbers(t *testing.T) {
	if NFS_PROGRAM != 100003 || NFS_V3 != 3 || MOUNT_PROGRAM != 100005 || MOUNT_V1 != 1 || MOUNT_V3 != 3 {
		t.Error("numbers of programs and versions")
	}
	check := func(name func(uint32) string, want ...string) {
		for i, want := range append(want, "") {
			if got := name(uint32(i)); got != want {
				t.Errorf("procedure %d is %q, want %q", i, got, want)
			}
		}
	}
	check(NFSV3ProcName, "NULL", "GETATTR", "SETATTR", "LOOKUP", "ACCESS", "READLINK", "READ", "WRITE", "CREATE", "MKDIR", "SYMLINK",
		"MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK", "READDIR", "READDIRPLUS", "FSSTAT", "FSINFO", "PATHCONF", "COMMIT")
	check(MOUNTV1ProcName, "NULL", "MNT", "DUMP", "UMNT", "UMNTALL", "EXPORT")
	check(MOUNTV3ProcName, "NULL", "MNT", "DUMP", "UMNT", "UMNTALL", "EXPORT")
}
