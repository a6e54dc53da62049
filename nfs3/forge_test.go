package nfs3

import (
	"bytes"
	"errors"
	"testing"

	"eddy.example/rpc"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
	"pgregory.net/rapid"
)

// Every procedure says BADHANDLE to a handle that this server did not make,
// whatever has been changed in it, and STALE when what a good one names is gone.
func TestForgedHandles(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&root)
	good := newFixture(c, "dir")

	flipped := *good
	for _, fh := range []*[]byte{&flipped.dir, &flipped.file, &flipped.link, &flipped.sub} {
		*fh = bytes.Clone(*fh)
		(*fh)[9] ^= 1
	}
	gone := newFixture(c, "gone")
	top := mustMount(c, "/")
	must(c.Remove(ctx, gone.dir, "file"))
	must(c.Remove(ctx, gone.dir, "link"))
	must(c.Rmdir(ctx, gone.dir, "sub"))
	must(c.Rmdir(ctx, top, "gone"))

	foreign, err := export.NewTable(export.NewKey(), memExport(memfs.New(memfs.Config{})))
	if err != nil {
		t.Fatal(err)
	}
	e := foreign.Entries()[0]
	fh := foreign.AppendHandle(nil, e, must(e.FS.Resolve(nil, nil)))
	other := fixture{fh, fh, fh, fh}

	for _, tt := range []struct {
		name string
		f    *fixture
		want NFSStat3
	}{{"flipped", &flipped, NFS3ERR_BADHANDLE}, {"foreign", &other, NFS3ERR_BADHANDLE}, {"gone", gone, NFS3ERR_STALE}} {
		for _, p := range failures {
			_, err := p.call(c, tt.f)
			wantStatus(t, NFSV3ProcName(p.proc)+", "+tt.name, err, tt.want)
		}
	}

	rapid.Check(t, func(t *rapid.T) {
		forged := bytes.Clone(good.file)
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			bit := rapid.IntRange(0, 8*len(forged)-1).Draw(t, "bit")
			forged[bit/8] ^= 1 << (bit % 8)
		case 1:
			forged = forged[:rapid.IntRange(0, len(forged)-1).Draw(t, "length")]
		default:
			forged = rapid.SliceOfN(rapid.Byte(), 0, NFS3_FHSIZE).Draw(t, "handle")
		}
		_, err := c.Getattr(ctx, forged)
		if !errors.Is(err, NFS3ERR_BADHANDLE) {
			t.Fatalf("%x: %v", forged, err)
		}
	})
	if _, err := c.Getattr(ctx, make([]byte, NFS3_FHSIZE+1)); !errors.Is(err, rpc.ErrGarbageArgs) {
		t.Errorf("a handle of 65 bytes: %v", err)
	}
}

// Handles outlive the export's entry, but not its absence.
func TestExportRemoved(t *testing.T) {
	fs := memfs.New(memfs.Config{})
	w := serve(t, memExport(fs))
	c := w.client(&root)
	fh := mustMount(c, "/")
	if err := w.table.Remove("/"); err != nil {
		t.Fatal(err)
	}
	_, err := c.Getattr(ctx, fh)
	wantStatus(t, "removed", err, NFS3ERR_STALE)
	if err := w.table.Add(memExport(fs)); err != nil {
		t.Fatal(err)
	}
	_, err = c.Getattr(ctx, fh)
	wantStatus(t, "added again", err, NFS3_OK)
}
