package nfs3

import (
	"bytes"
	"strings"
	"testing"
)

func TestLookup(t *testing.T) {
	w, fs := serveMem(t)
	if err := fs.MkdirAll("/a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := fs.WriteFile("/a/f", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := w.client(&root)
	top := mustMount(c, "/")
	a := mustLookup(c, top, "a")
	b := mustLookup(c, a, "b")
	f := mustLookup(c, a, "f")

	for _, tt := range []struct {
		name string
		dir  []byte
		want []byte
	}{
		{"b", a, b}, {".", a, a}, {"..", b, a}, {"..", a, top}, {"..", top, top},
	} {
		res, err := c.Lookup(ctx, tt.dir, tt.name)
		wantStatus(t, tt.name, err, NFS3_OK)
		if !bytes.Equal(res.Resok.Object.Data, tt.want) {
			t.Errorf("%s: another object", tt.name)
		}
		wantAfter(t, tt.name, c, tt.want, res.Resok.ObjAttributes)
		wantAfter(t, tt.name+", directory", c, tt.dir, res.Resok.DirAttributes)
	}

	for _, tt := range []struct {
		name string
		dir  []byte
		want NFSStat3
	}{
		{"missing", a, NFS3ERR_NOENT},
		{"f", f, NFS3ERR_NOTDIR},
		{"", a, NFS3ERR_ACCES},
		{"b/c", a, NFS3ERR_ACCES},
		{"b\x00", a, NFS3ERR_ACCES},
		{strings.Repeat("n", 256), a, NFS3ERR_NAMETOOLONG},
	} {
		res, err := c.Lookup(ctx, tt.dir, tt.name)
		wantStatus(t, tt.name, err, tt.want)
		wantAfter(t, tt.name, c, tt.dir, res.Resfail.DirAttributes)
	}
	if _, err := c.Lookup(ctx, a, strings.Repeat("n", 255)); err == nil {
		t.Error("found a long name")
	}
}

func TestReadlink(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	for _, text := range []string{"x", "../elsewhere/\xff", strings.Repeat("l", 4096)} {
		name := "l" + text[:1]
		fh := must(c.Symlink(ctx, dir, name, text, &Sattr3{})).Resok.Obj.Handle.Data
		res, err := c.Readlink(ctx, fh)
		wantStatus(t, name, err, NFS3_OK)
		if string(res.Resok.Data) != text {
			t.Errorf("%q reads %q", text, res.Resok.Data)
		}
		wantAfter(t, name, c, fh, res.Resok.SymlinkAttributes)
	}
	for name, fh := range map[string][]byte{"directory": dir, "file": mustCreate(c, dir, "f", nil)} {
		res, err := c.Readlink(ctx, fh)
		wantStatus(t, name, err, NFS3ERR_INVAL)
		wantAfter(t, name, c, fh, res.Resfail.SymlinkAttributes)
	}
}
