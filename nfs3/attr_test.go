package nfs3

import (
	"testing"

	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
)

func TestGetattr(t *testing.T) {
	w, fs := serveMem(t)
	if err := fs.WriteFile("/f", []byte("hello"), 0o640); err != nil {
		t.Fatal(err)
	}
	c := w.client(&root)
	dir := mustMount(c, "/")
	if a := mustGetattr(c, dir); a.Type != NF3DIR || a.Mode != 0o777 || a.Nlink != 2 {
		t.Errorf("root: %+v", a)
	}
	a := mustGetattr(c, mustLookup(c, dir, "f"))
	if a.Type != NF3REG || a.Mode != 0o640 || a.Nlink != 1 || a.Size != 5 || a.Used == 0 || a.Fileid == 0 || a.Fsid == 0 {
		t.Errorf("file: %+v", a)
	}
}

func TestSetattr(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	fh := mustCreate(c, dir, "f", []byte("hello"))
	before := mustGetattr(c, fh)

	attrs := Sattr3{
		Mode: SetMode3{true, 0o600}, Size: SetSize3{true, 3},
		Atime: SetAtime{SET_TO_CLIENT_TIME, NFSTime3{1, 2}}, Mtime: SetMtime{SET_TO_CLIENT_TIME, NFSTime3{3, 4}},
	}
	res, err := c.Setattr(ctx, fh, &attrs, &before.Ctime)
	wantStatus(t, "guarded", err, NFS3_OK)
	wantWcc(t, "guarded", c, fh, before, res.Resok.ObjWcc)
	a := mustGetattr(c, fh)
	if a.Mode != 0o600 || a.Size != 3 || a.Atime != (NFSTime3{1, 2}) || a.Mtime != (NFSTime3{3, 4}) {
		t.Errorf("set: %+v", a)
	}

	res, err = c.Setattr(ctx, fh, &Sattr3{Mode: SetMode3{true, 0o777}}, &before.Ctime)
	wantStatus(t, "old guard", err, NFS3ERR_NOT_SYNC)
	wantAfter(t, "old guard", c, fh, res.Resfail.ObjWcc.After)

	res, err = c.Setattr(ctx, fh, &Sattr3{}, nil)
	wantStatus(t, "nothing", err, NFS3_OK)
	wantAfter(t, "nothing", c, fh, res.Resok.ObjWcc.After)
	if got := mustGetattr(c, fh); got != a {
		t.Errorf("setting nothing changed %+v to %+v", a, got)
	}

	for _, tt := range []struct {
		name  string
		fh    []byte
		attrs Sattr3
		guard *NFSTime3
		want  NFSStat3
	}{
		{"owner", fh, Sattr3{UID: SetUID3{true, 1}}, nil, NFS3ERR_PERM},
		{"nanoseconds", fh, Sattr3{Mtime: SetMtime{SET_TO_CLIENT_TIME, NFSTime3{0, 1e9}}}, nil, NFS3ERR_INVAL},
		{"guard's nanoseconds", fh, Sattr3{}, &NFSTime3{0, 1e9}, NFS3ERR_INVAL},
		{"size at 2^64", fh, Sattr3{Size: SetSize3{true, 1<<64 - 1}}, nil, NFS3ERR_INVAL},
		{"directory's size", dir, Sattr3{Size: SetSize3{true, 0}}, nil, NFS3ERR_INVAL},
	} {
		_, err := c.Setattr(ctx, tt.fh, &tt.attrs, tt.guard)
		wantStatus(t, tt.name, err, tt.want)
	}
}

func TestAccess(t *testing.T) {
	w, fs := serveMem(t)
	if err := fs.WriteFile("/f", nil, 0o754); err != nil {
		t.Fatal(err)
	}
	const all = ACCESS3_READ | ACCESS3_LOOKUP | ACCESS3_MODIFY | ACCESS3_EXTEND | ACCESS3_DELETE | ACCESS3_EXECUTE
	const file = all &^ (ACCESS3_LOOKUP | ACCESS3_DELETE)
	superuser, other := w.client(&root), w.client(&user)
	dir := mustMount(superuser, "/")
	fh := mustLookup(superuser, dir, "f")
	for _, tt := range []struct {
		name       string
		c          *Client
		fh         []byte
		want, have uint32
	}{
		{"root, file", superuser, fh, all, file},
		{"root, directory", superuser, dir, all, all &^ ACCESS3_EXECUTE},
		{"other, file", other, fh, all, ACCESS3_READ},
		{"other, nothing asked", other, fh, 0, 0},
		{"other, unknown bits", other, fh, 0xffffffc0 | ACCESS3_READ, ACCESS3_READ},
	} {
		res, err := tt.c.Access(ctx, tt.fh, tt.want)
		wantStatus(t, tt.name, err, NFS3_OK)
		if res.Resok.Access != tt.have {
			t.Errorf("%s: %#x, want %#x", tt.name, res.Resok.Access, tt.have)
		}
		wantAfter(t, tt.name, tt.c, tt.fh, res.Resok.ObjAttributes)
	}
}

func TestAccessOfReadOnlyExport(t *testing.T) {
	fs := memfs.New(memfs.Config{})
	x := memExport(fs)
	x.ReadOnly = true
	c := serve(t, x).client(&root)
	res := must(c.Access(ctx, mustMount(c, "/"), 0x3f))
	if want := uint32(ACCESS3_READ | ACCESS3_LOOKUP); res.Resok.Access != want {
		t.Errorf("%#x, want %#x", res.Resok.Access, want)
	}
}

func TestSquash(t *testing.T) {
	fs := memfs.New(memfs.Config{RootMode: 0o777})
	x := memExport(fs)
	x.Squash = export.SquashRoot
	w := serve(t, x)
	for name, cred := range map[string]*struct {
		c    *Client
		want uint32
	}{
		"root":      {w.client(&root), export.Nobody},
		"user":      {w.client(&user), 1000},
		"anonymous": {w.client(nil), export.Nobody},
	} {
		fh := mustCreate(cred.c, mustMount(cred.c, "/"), name, nil)
		if a := mustGetattr(cred.c, fh); a.UID != cred.want {
			t.Errorf("%s: files belong to %d, want %d", name, a.UID, cred.want)
		}
	}
}
