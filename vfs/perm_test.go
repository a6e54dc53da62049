package vfs

import "testing"

// The modes in these tests give each class another set of permissions.

var (
	owner  = Cred{UID: 10, GID: 1}
	member = Cred{UID: 11, GID: 1, Groups: []uint32{2, 20}}
	other  = Cred{UID: 12, GID: 1}
	root   = Cred{}
)

func file(mode uint32) *Attr { return &Attr{Type: TypeRegular, Mode: mode, UID: 10, GID: 20} }
func dir(mode uint32) *Attr  { return &Attr{Type: TypeDirectory, Mode: mode, UID: 10, GID: 20} }

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		name string
		cred Cred
		a    *Attr
		want Perm // all that is allowed
	}{
		{"owner", owner, file(0o421), PermRead},
		{"group", member, file(0o421), PermWrite},
		{"first group", Cred{UID: 11, GID: 20}, file(0o421), PermWrite},
		{"other", other, file(0o421), PermExec},
		{"the owner's class only", owner, file(0o077), 0},
		{"the group's class only", member, file(0o707), 0},
		{"root", root, file(0), PermRead | PermWrite},
		{"root, somebody may execute", root, file(0o001), PermRead | PermWrite | PermExec},
		{"root, directory", root, dir(0), PermRead | PermWrite | PermExec},
		{"set-id and sticky bits are no permission", other, file(0o7770), 0},
	} {
		for want := Perm(0); want < 8; want++ {
			allowed := want&^tc.want == 0
			if err := tc.cred.Check(tc.a, want); (err == nil) != allowed || err != nil && err != ErrAccess {
				t.Errorf("%s: %b: %v, want allowed: %v", tc.name, want, err, allowed)
			}
		}
	}
}

func TestCheckIO(t *testing.T) {
	for _, tc := range []struct {
		name string
		cred Cred
		a    *Attr
		want Perm
	}{
		{"the owner always", owner, file(0), PermRead | PermWrite},
		{"group", member, file(0o020), PermWrite},
		{"other", other, file(0o004), PermRead},
		{"execution is reading", other, file(0o001), PermRead},
		{"but not another class's", member, file(0o001), 0},
		{"root", root, file(0), PermRead | PermWrite},
	} {
		for _, want := range []Perm{PermRead, PermWrite, PermRead | PermWrite} {
			allowed := want&^tc.want == 0
			if err := tc.cred.CheckIO(tc.a, want); (err == nil) != allowed {
				t.Errorf("%s: %b: %v, want allowed: %v", tc.name, want, err, allowed)
			}
		}
	}
}

func TestCheckDelete(t *testing.T) {
	mine, others := file(0), &Attr{Type: TypeRegular, UID: 99}
	for _, tc := range []struct {
		name   string
		cred   Cred
		dir    *Attr
		victim *Attr
		want   error
	}{
		{"with both", other, dir(0o003), others, nil},
		{"without search", other, dir(0o002), others, ErrAccess},
		{"without write", other, dir(0o001), others, ErrAccess},
		{"the directory's owner has no privilege", owner, dir(0o077), others, ErrAccess},
		{"root", root, dir(0), others, nil},
		{"sticky, not mine", other, dir(0o1777), others, ErrPerm},
		{"sticky, my file", Cred{UID: 99}, dir(0o1777), others, nil},
		{"sticky, my directory", owner, dir(0o1777), others, nil},
		{"sticky, mine without write", owner, dir(0o1555), mine, ErrAccess},
		{"sticky, root", root, dir(0o1000), others, nil},
	} {
		if err := tc.cred.CheckDelete(tc.dir, tc.victim); err != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
}

const everyAccess = AccessRead | AccessLookup | AccessModify | AccessExtend | AccessDelete | AccessExecute

func TestAccess(t *testing.T) {
	for _, tc := range []struct {
		name string
		cred Cred
		a    *Attr
		want Access
	}{
		{"read a file", other, file(0o4), AccessRead},
		{"write a file", other, file(0o2), AccessModify | AccessExtend},
		{"execute a file", other, file(0o1), AccessExecute},
		{"the owner, by the mode alone", owner, file(0o077), 0},
		{"root and a file", root, file(0), AccessRead | AccessModify | AccessExtend},
		{"read a directory", other, dir(0o4), AccessRead},
		{"search a directory", other, dir(0o1), AccessLookup},
		{"write without search is nothing", other, dir(0o2), 0},
		{"write and search a directory", other, dir(0o3), AccessLookup | AccessModify | AccessExtend | AccessDelete},
	} {
		for _, want := range []Access{everyAccess, AccessRead, AccessModify | AccessDelete, 0} {
			if got := tc.cred.Access(tc.a, want); got != tc.want&want {
				t.Errorf("%s: asked for %#x: %#x, want %#x", tc.name, want, got, tc.want&want)
			}
		}
	}
}

// Backends with less and less.
type (
	readOnly  struct{ FS }
	onlyWrite struct {
		FS
		Writer
	}
	onlyMkdir struct {
		FS
		Mkdirer
	}
	onlyRemove struct {
		FS
		Remover
	}
	onlyRename struct {
		FS
		Renamer
	}
)

func TestDefaultAccess(t *testing.T) {
	for _, tc := range []struct {
		name string
		fs   FS
		a    *Attr
		want Access
	}{
		{"read-only file", readOnly{}, file(0o777), AccessRead | AccessExecute},
		{"read-only directory", readOnly{}, dir(0o777), AccessRead | AccessLookup},
		{"writable file", onlyWrite{}, file(0o777), AccessRead | AccessExecute | AccessModify | AccessExtend},
		{"adding only", onlyMkdir{}, dir(0o777), AccessRead | AccessLookup | AccessModify | AccessExtend},
		{"removing only", onlyRemove{}, dir(0o777), AccessRead | AccessLookup | AccessModify | AccessDelete},
		{"renaming only", onlyRename{}, dir(0o777), AccessRead | AccessLookup | AccessModify | AccessExtend | AccessDelete},
		{"what the mode forbids", onlyRename{}, dir(0o770), 0},
	} {
		caps := CapabilitiesOf(tc.fs)
		if got := caps.DefaultAccess(&other, tc.a, everyAccess); got != tc.want {
			t.Errorf("%s: %#x, want %#x", tc.name, got, tc.want)
		}
		if got, want := caps.DefaultAccess(&other, tc.a, AccessModify), tc.want&AccessModify; got != want {
			t.Errorf("%s, asked for AccessModify alone: %#x, want %#x", tc.name, got, want)
		}
	}
}

func TestCapabilitiesOf(t *testing.T) {
	caps := CapabilitiesOf(onlyWrite{})
	if caps.Write == nil || caps.Create != nil || caps.MayWait || caps.Exclusive {
		t.Errorf("%+v", caps)
	}
	if caps.Limits != DefaultLimits() {
		t.Errorf("limits %+v", caps.Limits)
	}
}
