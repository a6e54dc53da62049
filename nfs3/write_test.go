package nfs3

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
)

func TestWrite(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	fh := mustCreate(c, dir, "f", nil)
	for _, how := range []StableHow{UNSTABLE, DATA_SYNC, FILE_SYNC} {
		before := mustGetattr(c, fh)
		res, err := c.Write(ctx, fh, []byte("data"), before.Size, how)
		wantStatus(t, how.String(), err, NFS3_OK)
		wantWcc(t, how.String(), c, fh, before, res.Resok.FileWcc)
		if res.Resok.Count != 4 || res.Resok.Committed != how {
			t.Errorf("%v: count %d, %v", how, res.Resok.Count, res.Resok.Committed)
		}
		if verf := must(c.Commit(ctx, fh, 0, 0)).Resok.Verf; verf != res.Resok.Verf {
			t.Errorf("%v: verifier %x, COMMIT says %x", how, res.Resok.Verf, verf)
		}
	}
	before := mustGetattr(c, fh)
	res, err := c.Write(ctx, fh, nil, 0, FILE_SYNC)
	wantStatus(t, "nothing", err, NFS3_OK)
	if after := mustGetattr(c, fh); after != before || res.Resok.Count != 0 {
		t.Errorf("a WRITE of nothing: count %d, %+v became %+v", res.Resok.Count, before, after)
	}
	_, err = c.Write(ctx, fh, nil, math.MaxUint64, FILE_SYNC)
	wantStatus(t, "nothing at 2^64", err, NFS3_OK)

	for _, tt := range []struct {
		name string
		fh   []byte
		off  uint64
		want NFSStat3
	}{
		{"directory", dir, 0, NFS3ERR_INVAL},
		{"at 2^63", fh, math.MaxInt64, NFS3ERR_FBIG},
		{"across 2^63", fh, math.MaxInt64 - 3, NFS3ERR_FBIG},
		{"at 2^64", fh, math.MaxUint64, NFS3ERR_FBIG},
		{"across 2^64", fh, math.MaxUint64 - 3, NFS3ERR_FBIG},
	} {
		res, err := c.Write(ctx, tt.fh, []byte("data"), tt.off, FILE_SYNC)
		wantStatus(t, tt.name, err, tt.want)
		wantAfter(t, tt.name, c, tt.fh, res.Resfail.FileWcc.After)
	}
}

// count and the length of the data are two things, and neither is believed
// for the other.
func TestWriteCount(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	fh := mustCreate(c, mustMount(c, "/"), "f", nil)
	for _, tt := range []struct {
		name  string
		count uint32
		want  NFSStat3
		n     uint32
	}{
		{"shorter", 3, NFS3_OK, 3},
		{"zero", 0, NFS3_OK, 0},
		{"longer", 5, NFS3ERR_INVAL, 0},
		{"2^32", math.MaxUint32, NFS3ERR_INVAL, 0},
	} {
		args := WRITE3args{File: NFSFh3{fh}, Count: tt.count, Data: []byte("data")}
		var res WRITE3res
		if err := c.rpc.Call(ctx, NFS_PROGRAM, NFS_V3, NFSPROC3_WRITE, &user, &args, &res); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if res.Status != tt.want || res.Status == NFS3_OK && res.Resok.Count != tt.n {
			t.Errorf("%s: %v, count %d", tt.name, res.Status, res.Resok.Count)
		}
	}
	if got := must(c.Read(ctx, fh, make([]byte, 10), 0)).Resok.Data; string(got) != "dat" {
		t.Errorf("the file has %q", got)
	}
}

// A length that is not there is no argument at all.
func TestWriteCutOff(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	fh := mustCreate(c, mustMount(c, "/"), "f", nil)
	args := WRITE3args{File: NFSFh3{fh}, Count: 1000, Data: make([]byte, 1000)}
	b := args.AppendXDR(nil)
	for _, n := range []int{0, 3, 4, 20, len(b) - 1000, len(b) - 4} {
		err := c.rpc.Call(ctx, NFS_PROGRAM, NFS_V3, NFSPROC3_WRITE, &user, rawXDR(b[:n]), new(WRITE3res))
		if !errors.Is(err, rpc.ErrGarbageArgs) {
			t.Errorf("%d bytes of %d: %v", n, len(b), err)
		}
	}
	if size := mustGetattr(c, fh).Size; size != 0 {
		t.Errorf("something was written: %d bytes", size)
	}
}

// rawXDR is encoded already.
type rawXDR []byte

func (r rawXDR) AppendXDR(b []byte) []byte { return append(b, r...) }

// stableFS reaches a stability of its own choice, whatever is asked for.
type stableFS struct {
	*memfs.FS
	did vfs.Stability
	n   int
	err error
}

func (s *stableFS) Write(c *vfs.Call, o vfs.Object, data []byte, off uint64, how vfs.Stability, chg *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	n, _, v, err := s.FS.Write(c, o, data[:min(len(data), s.n)], off, how, chg)
	return n, s.did, v, errors.Join(err, s.err)
}

func TestStability(t *testing.T) {
	fs := &stableFS{FS: memfs.New(memfs.Config{RootMode: 0o777})}
	c := serve(t, memExport(fs)).client(&user)
	fh := mustCreate(c, mustMount(c, "/"), "f", nil)
	for _, tt := range []struct {
		name     string
		how      StableHow
		did      vfs.Stability
		n        int
		err      error
		want     NFSStat3
		wantStab StableHow
	}{
		{"more", UNSTABLE, vfs.FileSync, 4, nil, NFS3_OK, FILE_SYNC},
		{"as asked", DATA_SYNC, vfs.DataSync, 4, nil, NFS3_OK, DATA_SYNC},
		{"less", FILE_SYNC, vfs.DataSync, 4, nil, NFS3ERR_IO, 0},
		{"no such", UNSTABLE, 3, 4, nil, NFS3ERR_IO, 0},
		{"a part", FILE_SYNC, vfs.FileSync, 3, nil, NFS3_OK, FILE_SYNC},
		{"a part, then an error", FILE_SYNC, vfs.FileSync, 3, vfs.ErrNoSpace, NFS3_OK, FILE_SYNC},
		{"sync fails", FILE_SYNC, vfs.Unstable, 4, vfs.ErrNoSpace, NFS3ERR_NOSPC, 0},
		{"nothing", UNSTABLE, vfs.Unstable, 0, vfs.ErrQuota, NFS3ERR_DQUOT, 0},
	} {
		fs.did, fs.n, fs.err = tt.did, tt.n, tt.err
		res, err := c.Write(ctx, fh, []byte("data"), 0, tt.how)
		wantStatus(t, tt.name, err, tt.want)
		if tt.want == NFS3_OK && (res.Resok.Committed != tt.wantStab || int(res.Resok.Count) != tt.n) {
			t.Errorf("%s: count %d, %v", tt.name, res.Resok.Count, res.Resok.Committed)
		}
	}
}

// noCommit is a backend that is no vfs.Committer: what it writes is safe.
type noCommit struct {
	vfs.FS
	vfs.Waiter
	vfs.Creator
	fs  *memfs.FS
	did vfs.Stability
}

func (n *noCommit) Write(c *vfs.Call, o vfs.Object, data []byte, off uint64, how vfs.Stability, chg *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	done, _, v, err := n.fs.Write(c, o, data, off, how, chg)
	return done, n.did, v, err
}

func TestWithoutCommit(t *testing.T) {
	mem := memfs.New(memfs.Config{RootMode: 0o777})
	fs := &noCommit{FS: mem, Waiter: mem, Creator: mem, fs: mem, did: vfs.FileSync}
	c := serve(t, memExport(fs)).client(&user)
	dir := mustMount(c, "/")
	fh := mustCreate(c, dir, "f", nil)
	res := must(c.Write(ctx, fh, []byte("data"), 0, UNSTABLE))
	commit := must(c.Commit(ctx, fh, 0, 0))
	if res.Resok.Committed != FILE_SYNC || res.Resok.Verf != commit.Resok.Verf {
		t.Errorf("%v, verifiers %x and %x", res.Resok.Committed, res.Resok.Verf, commit.Resok.Verf)
	}
	_, err := c.Commit(ctx, dir, 0, 0)
	wantStatus(t, "COMMIT of a directory", err, NFS3ERR_INVAL)
	fs.did = vfs.Unstable
	_, err = c.Write(ctx, fh, []byte("data"), 0, UNSTABLE)
	wantStatus(t, "data that nobody will commit", err, NFS3ERR_IO)
}

func TestCommit(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	fh := mustCreate(c, dir, "f", []byte("data"))
	verf := must(c.Commit(ctx, fh, 0, 0)).Resok.Verf
	for _, off := range []uint64{0, 4, math.MaxInt64, math.MaxUint64} {
		before := mustGetattr(c, fh)
		res, err := c.Commit(ctx, fh, off, math.MaxUint32)
		wantStatus(t, "commit", err, NFS3_OK)
		wantWcc(t, "commit", c, fh, before, res.Resok.FileWcc)
		if res.Resok.Verf != verf {
			t.Errorf("verifier changed from %x to %x", verf, res.Resok.Verf)
		}
	}
	res, err := c.Commit(ctx, dir, 0, 0)
	wantStatus(t, "directory", err, NFS3ERR_INVAL)
	wantAfter(t, "directory", c, dir, res.Resfail.FileWcc.After)
}

func TestWriteToReadOnlyExport(t *testing.T) {
	fs := memfs.New(memfs.Config{RootMode: 0o777})
	if err := fs.WriteFile("/f", []byte("data"), 0o666); err != nil {
		t.Fatal(err)
	}
	x := memExport(fs)
	x.ReadOnly = true
	c := serve(t, x).client(&root)
	fh := mustLookup(c, mustMount(c, "/"), "f")
	res, err := c.Write(ctx, fh, []byte("more"), 0, UNSTABLE)
	wantStatus(t, "write", err, NFS3ERR_ROFS)
	wantAfter(t, "write", c, fh, res.Resfail.FileWcc.After)
	if got := must(c.Read(ctx, fh, make([]byte, 4), 0)).Resok.Data; !bytes.Equal(got, []byte("data")) {
		t.Errorf("the file has %q", got)
	}
}
