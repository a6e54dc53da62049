package nfs3

import (
	"bytes"
	"strings"
	"testing"

	"eddy.example/vfs/memfs"
)

func TestRemove(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	fh := mustCreate(c, dir, "f", nil)
	sub := mustMkdir(c, dir, "d")
	before := mustGetattr(c, dir)
	res, err := c.Remove(ctx, dir, "f")
	wantStatus(t, "file", err, NFS3_OK)
	wantWcc(t, "file", c, dir, before, res.Resok.DirWcc)
	_, err = c.Getattr(ctx, fh)
	wantStatus(t, "what was removed", err, NFS3ERR_STALE)
	_, err = c.Getattr(ctx, sub)
	wantStatus(t, "what was not", err, NFS3_OK)

	file := mustCreate(c, dir, "g", nil)
	for _, tt := range []struct {
		dir  []byte
		name string
		want NFSStat3
	}{
		{dir, "f", NFS3ERR_NOENT},
		{dir, "d", NFS3ERR_ISDIR},
		{dir, ".", NFS3ERR_ISDIR},
		{dir, "..", NFS3ERR_ISDIR},
		{dir, "", NFS3ERR_ACCES},
		{dir, "d/x", NFS3ERR_ACCES},
		{dir, strings.Repeat("n", 256), NFS3ERR_NAMETOOLONG},
		{file, "x", NFS3ERR_NOTDIR},
	} {
		res, err := c.Remove(ctx, tt.dir, tt.name)
		wantStatus(t, "REMOVE "+tt.name, err, tt.want)
		wantAfter(t, "REMOVE "+tt.name, c, tt.dir, res.Resfail.DirWcc.After)
	}
}

func TestRmdir(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	sub := mustMkdir(c, dir, "d")
	other := mustMkdir(c, dir, "other")
	before := mustGetattr(c, dir)
	res, err := c.Rmdir(ctx, dir, "d")
	wantStatus(t, "directory", err, NFS3_OK)
	wantWcc(t, "directory", c, dir, before, res.Resok.DirWcc)
	_, err = c.Getattr(ctx, sub)
	wantStatus(t, "what was removed", err, NFS3ERR_STALE)
	_, err = c.Readdir(ctx, sub, 0, Cookieverf3{}, 4096)
	wantStatus(t, "list of what was removed", err, NFS3ERR_STALE)

	file := mustCreate(c, other, "f", nil)
	for _, tt := range []struct {
		dir  []byte
		name string
		want NFSStat3
	}{
		{dir, "d", NFS3ERR_NOENT},
		{dir, "other", NFS3ERR_NOTEMPTY},
		{other, "f", NFS3ERR_NOTDIR},
		{other, ".", NFS3ERR_INVAL},
		{other, "..", NFS3ERR_EXIST},
		{dir, "", NFS3ERR_ACCES},
		{dir, strings.Repeat("n", 256), NFS3ERR_NAMETOOLONG},
		{file, "x", NFS3ERR_NOTDIR},
	} {
		res, err := c.Rmdir(ctx, tt.dir, tt.name)
		wantStatus(t, "RMDIR "+tt.name, err, tt.want)
		wantAfter(t, "RMDIR "+tt.name, c, tt.dir, res.Resfail.DirWcc.After)
	}
}

func TestRename(t *testing.T) {
	other := memExport(memfs.New(memfs.Config{RootMode: 0o777}))
	other.Path = "/other"
	w := serve(t, memExport(memfs.New(memfs.Config{RootMode: 0o777})), other)
	c := w.client(&user)
	dir := mustMount(c, "/")
	fh := mustCreate(c, dir, "f", nil)
	sub := mustMkdir(c, dir, "d")
	before, subBefore := mustGetattr(c, dir), mustGetattr(c, sub)
	res, err := c.Rename(ctx, dir, "f", sub, "g")
	wantStatus(t, "file", err, NFS3_OK)
	wantWcc(t, "from", c, dir, before, res.Resok.FromdirWcc)
	wantWcc(t, "to", c, sub, subBefore, res.Resok.TodirWcc)
	if !bytes.Equal(fh, mustLookup(c, sub, "g")) {
		t.Error("the handle is another one")
	}
	before = mustGetattr(c, sub)
	res, err = c.Rename(ctx, sub, "g", sub, "h")
	wantStatus(t, "in place", err, NFS3_OK)
	wantWcc(t, "from", c, sub, before, res.Resok.FromdirWcc)
	wantWcc(t, "to", c, sub, before, res.Resok.TodirWcc)

	// A directory above moves: handles below stay.
	must(c.Rename(ctx, dir, "d", dir, "e"))
	mustGetattr(c, fh)

	file := mustCreate(c, dir, "file", nil)
	full := mustMkdir(c, dir, "full")
	mustCreate(c, full, "x", nil)
	mustMkdir(c, dir, "empty")
	for _, tt := range []struct {
		from     []byte
		fromName string
		to       []byte
		toName   string
		want     NFSStat3
	}{
		{dir, "nothing", dir, "x", NFS3ERR_NOENT},
		{dir, "file", dir, "empty", NFS3ERR_ISDIR},
		{dir, "empty", dir, "file", NFS3ERR_NOTDIR},
		{dir, "empty", dir, "full", NFS3ERR_NOTEMPTY},
		{dir, "full", full, "x2", NFS3ERR_INVAL},
		{dir, ".", dir, "x", NFS3ERR_INVAL},
		{dir, "file", dir, "..", NFS3ERR_INVAL},
		{dir, "", dir, "x", NFS3ERR_ACCES},
		{dir, "file", dir, "a/b", NFS3ERR_ACCES},
		{dir, "file", dir, strings.Repeat("n", 256), NFS3ERR_NAMETOOLONG},
		{file, "x", dir, "y", NFS3ERR_NOTDIR},
		{dir, "file", file, "y", NFS3ERR_NOTDIR},
		{dir, "file", mustMount(c, "/other"), "file", NFS3ERR_XDEV},
	} {
		name := "RENAME " + tt.fromName + " to " + tt.toName
		res, err := c.Rename(ctx, tt.from, tt.fromName, tt.to, tt.toName)
		wantStatus(t, name, err, tt.want)
		wantAfter(t, name+", from", c, tt.from, res.Resfail.FromdirWcc.After)
		wantAfter(t, name+", to", c, tt.to, res.Resfail.TodirWcc.After)
	}
}

func TestLink(t *testing.T) {
	other := memExport(memfs.New(memfs.Config{RootMode: 0o777}))
	other.Path = "/other"
	w := serve(t, memExport(memfs.New(memfs.Config{RootMode: 0o777})), other)
	c := w.client(&user)
	dir := mustMount(c, "/")
	fh := mustCreate(c, dir, "f", nil)
	before := mustGetattr(c, dir)
	res, err := c.Link(ctx, fh, dir, "g")
	wantStatus(t, "file", err, NFS3_OK)
	wantAfter(t, "file", c, fh, res.Resok.FileAttributes)
	wantWcc(t, "directory", c, dir, before, res.Resok.LinkdirWcc)
	if n := mustGetattr(c, fh).Nlink; n != 2 || !bytes.Equal(fh, mustLookup(c, dir, "g")) {
		t.Errorf("%d links", n)
	}

	for _, tt := range []struct {
		fh, dir []byte
		name    string
		want    NFSStat3
	}{
		{fh, dir, "f", NFS3ERR_EXIST},
		{fh, dir, ".", NFS3ERR_EXIST},
		{fh, dir, "", NFS3ERR_ACCES},
		{fh, dir, strings.Repeat("n", 256), NFS3ERR_NAMETOOLONG},
		{fh, fh, "x", NFS3ERR_NOTDIR},
		{dir, dir, "x", NFS3ERR_INVAL},
		{fh, mustMount(c, "/other"), "x", NFS3ERR_XDEV},
	} {
		res, err := c.Link(ctx, tt.fh, tt.dir, tt.name)
		wantStatus(t, "LINK "+tt.name, err, tt.want)
		wantAfter(t, "LINK "+tt.name+", file", c, tt.fh, res.Resfail.FileAttributes)
		wantAfter(t, "LINK "+tt.name+", directory", c, tt.dir, res.Resfail.LinkdirWcc.After)
	}
}

func TestRemoveOnReadOnlyExport(t *testing.T) {
	fs := memfs.New(memfs.Config{})
	if err := fs.MkdirAll("/d", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := fs.WriteFile("/d/f", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	x := memExport(fs)
	x.ReadOnly = true
	c := serve(t, x).client(&root)
	dir := mustMount(c, "/d")
	_, err := c.Remove(ctx, dir, "f")
	wantStatus(t, "REMOVE", err, NFS3ERR_ROFS)
	_, err = c.Rmdir(ctx, dir, "f")
	wantStatus(t, "RMDIR", err, NFS3ERR_ROFS)
	_, err = c.Rename(ctx, dir, "f", dir, "g")
	wantStatus(t, "RENAME", err, NFS3ERR_ROFS)
	_, err = c.Link(ctx, mustLookup(c, dir, "f"), dir, "g")
	wantStatus(t, "LINK", err, NFS3ERR_ROFS)
	_, err = c.Setattr(ctx, dir, &Sattr3{}, nil)
	wantStatus(t, "SETATTR", err, NFS3ERR_ROFS)
}
