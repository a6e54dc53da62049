package nfs3

import (
	"bytes"
	"strings"
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
)

// makers make an object called name in dir, as each procedure can.
var makers = map[string]func(c *Client, dir []byte, name string) (CREATE3res, error){
	"CREATE": func(c *Client, dir []byte, name string) (CREATE3res, error) {
		return c.Create(ctx, dir, name, &Createhow3{Mode: GUARDED, ObjAttributes: Sattr3{Mode: SetMode3{true, 0o640}}})
	},
	"CREATE exclusively": func(c *Client, dir []byte, name string) (CREATE3res, error) {
		return c.Create(ctx, dir, name, &Createhow3{Mode: EXCLUSIVE, Verf: Createverf3{1}})
	},
	"MKDIR": func(c *Client, dir []byte, name string) (CREATE3res, error) {
		res, err := c.Mkdir(ctx, dir, name, &Sattr3{Mode: SetMode3{true, 0o640}})
		return CREATE3res{res.Status, CREATE3resok(res.Resok), CREATE3resfail(res.Resfail)}, err
	},
	"SYMLINK": func(c *Client, dir []byte, name string) (CREATE3res, error) {
		res, err := c.Symlink(ctx, dir, name, "text", &Sattr3{})
		return CREATE3res{res.Status, CREATE3resok(res.Resok), CREATE3resfail(res.Resfail)}, err
	},
	"MKNOD": func(c *Client, dir []byte, name string) (CREATE3res, error) {
		res, err := c.Mknod(ctx, dir, name, &Mknoddata3{Type: NF3FIFO, PipeAttributes: Sattr3{Mode: SetMode3{true, 0o640}}})
		return CREATE3res{res.Status, CREATE3resok(res.Resok), CREATE3resfail(res.Resfail)}, err
	},
}

func TestMake(t *testing.T) {
	for proc, make := range makers {
		t.Run(proc, func(t *testing.T) {
			w, _ := serveMem(t)
			c := w.client(&user)
			dir := mustMount(c, "/")
			before := mustGetattr(c, dir)
			res, err := make(c, dir, "new")
			wantStatus(t, "new", err, NFS3_OK)
			fh := res.Resok.Obj.Handle.Data
			if !bytes.Equal(fh, mustLookup(c, dir, "new")) {
				t.Error("the handle is not the one LOOKUP finds")
			}
			wantAfter(t, "object", c, fh, res.Resok.ObjAttributes)
			wantWcc(t, "directory", c, dir, before, res.Resok.DirWcc)
			if a := mustGetattr(c, fh); a.UID != user.UID || a.GID != user.GID {
				t.Errorf("owned by %d:%d", a.UID, a.GID)
			}

			file := mustCreate(c, dir, "file", nil)
			for _, tt := range []struct {
				dir  []byte
				name string
				want NFSStat3
			}{
				{dir, "file", NFS3ERR_EXIST},
				{dir, ".", NFS3ERR_EXIST},
				{dir, "..", NFS3ERR_EXIST},
				{dir, "", NFS3ERR_ACCES},
				{dir, "a/b", NFS3ERR_ACCES},
				{dir, "a\x00", NFS3ERR_ACCES},
				{dir, strings.Repeat("n", 256), NFS3ERR_NAMETOOLONG},
				{file, "name", NFS3ERR_NOTDIR},
			} {
				res, err := make(c, tt.dir, tt.name)
				wantStatus(t, tt.name, err, tt.want)
				wantAfter(t, tt.name, c, tt.dir, res.Resfail.DirWcc.After)
			}
			closed := must(c.Mkdir(ctx, dir, "closed", &Sattr3{Mode: SetMode3{true, 0o555}})).Resok.Obj.Handle.Data
			_, err = make(c, closed, "name")
			wantStatus(t, "no permission", err, NFS3ERR_ACCES)
		})
	}
}

func TestMakeOnReadOnlyExport(t *testing.T) {
	x := memExport(memfs.New(memfs.Config{RootMode: 0o777}))
	x.ReadOnly = true
	c := serve(t, x).client(&root)
	dir := mustMount(c, "/")
	for proc, make := range makers {
		res, err := make(c, dir, "new")
		wantStatus(t, proc, err, NFS3ERR_ROFS)
		wantAfter(t, proc, c, dir, res.Resfail.DirWcc.After)
	}
}

// readOnlyFS can change nothing, linkingFS can do one thing.
type readOnlyFS struct {
	vfs.FS
	vfs.Waiter
}

type linkingFS struct {
	readOnlyFS
	vfs.Linker
}

func TestMissingMethods(t *testing.T) {
	fs := memfs.New(memfs.Config{RootMode: 0o777})
	if err := fs.WriteFile("/file", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	readOnly := readOnlyFS{fs, fs}
	some := memExport(linkingFS{readOnly, fs})
	some.Path = "/some"
	w := serve(t, memExport(readOnly), some)
	c := w.client(&root)
	for path, want := range map[string]NFSStat3{"/": NFS3ERR_ROFS, "/some": NFS3ERR_NOTSUPP} {
		dir := mustMount(c, path)
		for proc, make := range makers {
			_, err := make(c, dir, "new")
			wantStatus(t, path+" "+proc, err, want)
		}
		_, err := c.Rmdir(ctx, dir, "x")
		wantStatus(t, path+" RMDIR", err, want)
		_, err = c.Rename(ctx, dir, "x", dir, "y")
		wantStatus(t, path+" RENAME", err, want)
		// These have no NOTSUPP.
		_, err = c.Remove(ctx, dir, "x")
		wantStatus(t, path+" REMOVE", err, NFS3ERR_ROFS)
		_, err = c.Setattr(ctx, dir, &Sattr3{Mode: SetMode3{true, 0}}, nil)
		wantStatus(t, path+" SETATTR", err, NFS3ERR_ROFS)
		_, err = c.Write(ctx, mustLookup(c, dir, "file"), []byte("x"), 0, UNSTABLE)
		wantStatus(t, path+" WRITE", err, NFS3ERR_ROFS)
	}
	dir := mustMount(c, "/")
	_, err := c.Link(ctx, mustLookup(c, dir, "file"), dir, "link")
	wantStatus(t, "LINK", err, NFS3ERR_ROFS)
	if _, err := fs.Symlink(&vfs.Call{Context: ctx}, must(fs.Resolve(nil, nil)), "l", "x", &vfs.SetAttr{}, nil, nil); err != nil {
		t.Fatal(err)
	}
	_, err = c.Readlink(ctx, mustLookup(c, dir, "l"))
	wantStatus(t, "READLINK", err, NFS3ERR_NOTSUPP)
}

func TestCreateUnchecked(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	fh := mustCreate(c, dir, "f", []byte("data"))
	for _, tt := range []struct {
		attrs Sattr3
		size  uint64
	}{
		{Sattr3{Mode: SetMode3{true, 0}}, 4},
		{Sattr3{Size: SetSize3{true, 2}}, 2},
	} {
		before := mustGetattr(c, dir)
		res, err := c.Create(ctx, dir, "f", &Createhow3{Mode: UNCHECKED, ObjAttributes: tt.attrs})
		wantStatus(t, "file", err, NFS3_OK)
		if !bytes.Equal(res.Resok.Obj.Handle.Data, fh) || res.Resok.ObjAttributes.Attributes.Size != tt.size {
			t.Errorf("%+v", res.Resok)
		}
		wantWcc(t, "directory", c, dir, before, res.Resok.DirWcc)
	}
	mustMkdir(c, dir, "d")
	_, err := c.Create(ctx, dir, "d", &Createhow3{Mode: UNCHECKED})
	wantStatus(t, "directory", err, NFS3ERR_EXIST)
	_, err = c.Create(ctx, dir, "new", &Createhow3{ObjAttributes: Sattr3{Size: SetSize3{true, 1<<64 - 1}}})
	wantStatus(t, "size at 2^64", err, NFS3ERR_NOSPC)
}

// All 8 bytes of the verifier count, until the first SETATTR.
func TestCreateExclusive(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	verf := Createverf3{1, 2, 3, 4, 5, 6, 7, 8}
	create := func(verf Createverf3) ([]byte, error) {
		res, err := c.Create(ctx, dir, "f", &Createhow3{Mode: EXCLUSIVE, Verf: verf})
		return res.Resok.Obj.Handle.Data, err
	}
	fh := must(create(verf))
	again, err := create(verf)
	wantStatus(t, "again", err, NFS3_OK)
	if !bytes.Equal(fh, again) {
		t.Error("another file")
	}
	for i := range verf {
		other := verf
		other[i] ^= 0x80
		_, err := create(other)
		wantStatus(t, "other verifier", err, NFS3ERR_EXIST)
	}
	must(c.Setattr(ctx, fh, &Sattr3{Mode: SetMode3{true, 0o600}}, nil))
	_, err = create(verf)
	wantStatus(t, "after SETATTR", err, NFS3ERR_EXIST)
}

func TestMknod(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&root)
	dir := mustMount(c, "/")
	for _, tt := range []struct {
		typ  Ftype3
		want NFSStat3
	}{
		{NF3CHR, NFS3_OK}, {NF3BLK, NFS3_OK}, {NF3SOCK, NFS3_OK}, {NF3FIFO, NFS3_OK},
		{NF3REG, NFS3ERR_BADTYPE}, {NF3DIR, NFS3ERR_BADTYPE}, {NF3LNK, NFS3ERR_BADTYPE},
	} {
		mode := Sattr3{Mode: SetMode3{true, 0o620}}
		what := Mknoddata3{Type: tt.typ, Device: Devicedata3{mode, Specdata3{5, 6}}, PipeAttributes: mode}
		res, err := c.Mknod(ctx, dir, tt.typ.String(), &what)
		wantStatus(t, tt.typ.String(), err, tt.want)
		if err != nil {
			continue
		}
		a := mustGetattr(c, res.Resok.Obj.Handle.Data)
		dev := Specdata3{}
		if tt.typ == NF3CHR || tt.typ == NF3BLK {
			dev = Specdata3{5, 6}
		}
		if a.Type != tt.typ || a.Mode != 0o620 || a.Rdev != dev {
			t.Errorf("%v: %+v", tt.typ, a)
		}
	}
	_, err := w.client(&user).Mknod(ctx, dir, "x", &Mknoddata3{Type: NF3CHR})
	wantStatus(t, "device by a user", err, NFS3ERR_ACCES)
}

func TestSymlinkTooLong(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	_, err := c.Symlink(ctx, mustMount(c, "/"), "l", strings.Repeat("l", 4097), &Sattr3{})
	wantStatus(t, "4097 bytes", err, NFS3ERR_NAMETOOLONG)
}

func TestNoSpace(t *testing.T) {
	fs := memfs.New(memfs.Config{RootMode: 0o777, Bytes: 64 << 10})
	c := serve(t, export.Export{Path: "/", FS: fs, InsecurePorts: true}).client(&user)
	dir := mustMount(c, "/")
	fh := mustCreate(c, dir, "f", nil)
	res, err := c.Write(ctx, fh, make([]byte, 128<<10), 0, UNSTABLE)
	wantStatus(t, "more than fits", err, NFS3_OK)
	_, err = c.Write(ctx, fh, make([]byte, 128<<10), uint64(res.Resok.Count)+4096, UNSTABLE)
	wantStatus(t, "nothing fits", err, NFS3ERR_NOSPC)
}
