package nfs3

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"testing"

	"eddy.example/bufpool"
	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"pgregory.net/rapid"
)

func TestRead(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	dir := mustMount(c, "/")
	data := pattern(10_000)
	fh := mustCreate(c, dir, "f", data)
	buf := make([]byte, 20_000)
	for _, tt := range []struct {
		off  uint64
		n    int
		want []byte
		eof  bool
	}{
		{0, 0, nil, false},
		{0, 1, data[:1], false},
		{1, 9998, data[1:9999], false},
		{0, 10_000, data, true},
		{9_999, 1, data[9_999:], true},
		{9_000, 20_000, data[9_000:], true},
		{10_000, 0, nil, true},
		{10_000, 1, nil, true},
		{1 << 62, 20_000, nil, true},
		{math.MaxInt64, 20_000, nil, true},
		{math.MaxUint64 - 1, 20_000, nil, true},
		{math.MaxUint64, 20_000, nil, true},
	} {
		name := fmt.Sprintf("%d bytes at %d", tt.n, tt.off)
		res, err := c.Read(ctx, fh, buf[:tt.n], tt.off)
		wantStatus(t, name, err, NFS3_OK)
		if !bytes.Equal(res.Resok.Data, tt.want) || int(res.Resok.Count) != len(tt.want) || res.Resok.Eof != tt.eof {
			t.Errorf("%s: count %d, %d bytes, eof %v", name, res.Resok.Count, len(res.Resok.Data), res.Resok.Eof)
		}
		wantAfter(t, name, c, fh, res.Resok.FileAttributes)
	}
	link := must(c.Symlink(ctx, dir, "l", "f", &Sattr3{})).Resok.Obj.Handle.Data
	for name, fh := range map[string][]byte{"directory": dir, "link": link} {
		res, err := c.Read(ctx, fh, buf, 0)
		wantStatus(t, name, err, NFS3ERR_INVAL)
		wantAfter(t, name, c, fh, res.Resfail.FileAttributes)
	}
}

// An empty file ends at once, whatever is asked for.
func TestReadEmpty(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	fh := mustCreate(c, mustMount(c, "/"), "f", nil)
	for _, n := range []int{0, 1, MaxTransfer} {
		res := must(c.Read(ctx, fh, make([]byte, n), 0))
		if res.Resok.Count != 0 || !res.Resok.Eof {
			t.Errorf("%d bytes: count %d, eof %v", n, res.Resok.Count, res.Resok.Eof)
		}
	}
}

// What a client asks for beyond rtmax comes as a short read.
func TestReadClamped(t *testing.T) {
	w, _ := serveMem(t)
	c := w.client(&user)
	data := pattern(MaxTransfer + 10)
	fh := mustCreate(c, mustMount(c, "/"), "f", data[:MaxTransfer])
	must(c.Write(ctx, fh, data[MaxTransfer:], MaxTransfer, FILE_SYNC))
	res := must(c.Read(ctx, fh, make([]byte, len(data)), 0))
	if !bytes.Equal(res.Resok.Data, data[:MaxTransfer]) || res.Resok.Eof {
		t.Errorf("%d bytes, eof %v", len(res.Resok.Data), res.Resok.Eof)
	}
}

// There is no open in NFSv3: the owner reads and writes what the mode forbids, and
// what may be executed may be read (RFC 1813 §4.4).
func TestOwnerOverride(t *testing.T) {
	w, fs := serveMem(t)
	if err := fs.WriteFile("/exec", []byte("#!"), 0o711); err != nil {
		t.Fatal(err)
	}
	owner, stranger := w.client(&user), w.client(nil)
	dir := mustMount(owner, "/")
	how := Createhow3{Mode: GUARDED, ObjAttributes: Sattr3{Mode: SetMode3{true, 0}}}
	fh := must(owner.Create(ctx, dir, "f", &how)).Resok.Obj.Handle.Data
	_, err := owner.Write(ctx, fh, []byte("mine"), 0, FILE_SYNC)
	wantStatus(t, "owner writes", err, NFS3_OK)
	_, err = owner.Read(ctx, fh, make([]byte, 4), 0)
	wantStatus(t, "owner reads", err, NFS3_OK)
	if res := must(owner.Access(ctx, fh, ACCESS3_READ|ACCESS3_MODIFY)); res.Resok.Access != 0 {
		t.Errorf("ACCESS gives %#x", res.Resok.Access)
	}
	for _, n := range []int{0, 4} {
		_, err = stranger.Read(ctx, fh, make([]byte, n), 0)
		wantStatus(t, "stranger reads", err, NFS3ERR_ACCES)
		_, err = stranger.Write(ctx, fh, make([]byte, n), 0, FILE_SYNC)
		wantStatus(t, "stranger writes", err, NFS3ERR_ACCES)
	}
	_, err = stranger.Read(ctx, mustLookup(stranger, dir, "exec"), make([]byte, 2), 0)
	wantStatus(t, "stranger reads what it may execute", err, NFS3_OK)
}

// segmentFS answers READ with memory of its own.
type segmentFS struct {
	*memfs.FS
	read     atomic.Pointer[segmentFunc]
	released atomic.Int32
}

type segmentFunc func(off uint64, n int) (s bufpool.Segment, eof bool, err error)

func (s *segmentFS) ReadSegment(_ *vfs.Call, _ vfs.Object, off uint64, n int) (bufpool.Segment, bool, error) {
	return (*s.read.Load())(off, n)
}

func (s *segmentFS) Release() { s.released.Add(1) }

func TestReadSegment(t *testing.T) {
	data := pattern(100_000)
	file, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(data); err != nil {
		t.Fatal(err)
	}
	fs := &segmentFS{FS: memfs.New(memfs.Config{RootMode: 0o777})}
	w := serve(t, memExport(fs))
	for _, c := range []*Client{w.client(&user), w.dial(w.listen(), &user)} {
		dir := mustMount(c, "/")
		fh := must(c.Create(ctx, dir, "f", &Createhow3{})).Resok.Obj.Handle.Data
		must(c.Write(ctx, fh, []byte("plain"), 0, FILE_SYNC))
		for _, tt := range []struct {
			name     string
			read     segmentFunc
			want     []byte
			status   NFSStat3
			released int32
		}{
			{"memory", func(off uint64, n int) (bufpool.Segment, bool, error) {
				return bufpool.Segment{Mem: data[off:][:n], Owner: fs}, false, nil
			}, data[7:][:50_001], NFS3_OK, 1},
			{"file", func(off uint64, n int) (bufpool.Segment, bool, error) {
				return bufpool.Segment{File: file, Off: int64(off), Len: n, Owner: fs}, true, nil
			}, data[7:][:50_001], NFS3_OK, 1},
			{"none", func(uint64, int) (bufpool.Segment, bool, error) {
				return bufpool.Segment{Owner: fs}, true, nil
			}, nil, NFS3_OK, 1},
			{"too much", func(uint64, int) (bufpool.Segment, bool, error) {
				return bufpool.Segment{Mem: data, Owner: fs}, true, nil
			}, nil, NFS3ERR_SERVERFAULT, 1},
			{"failure", func(uint64, int) (bufpool.Segment, bool, error) {
				return bufpool.Segment{}, false, vfs.ErrIO
			}, nil, NFS3ERR_IO, 0},
			{"pages after all", func(uint64, int) (bufpool.Segment, bool, error) {
				return bufpool.Segment{}, false, vfs.ErrNotSupported
			}, []byte(""), NFS3_OK, 0},
		} {
			fs.read.Store(&tt.read)
			fs.released.Store(0)
			res, err := c.Read(ctx, fh, make([]byte, 50_001), 7)
			wantStatus(t, tt.name, err, tt.status)
			if !bytes.Equal(res.Resok.Data, tt.want) {
				t.Errorf("%s: %d bytes that are not right", tt.name, len(res.Resok.Data))
			}
			if tt.status == NFS3_OK {
				wantAfter(t, tt.name, c, fh, res.Resok.FileAttributes)
			}
			if got := fs.released.Load(); got != tt.released {
				t.Errorf("%s: released %d times, want %d", tt.name, got, tt.released)
			}
		}
		must(c.Remove(ctx, dir, "f"))
	}
}

// A backend that says it read more than it was asked for is not believed.
type lyingFS struct {
	*memfs.FS
	n int
}

func (l *lyingFS) Read(*vfs.Call, vfs.Object, []byte, uint64) (int, bool, error) {
	return l.n, false, nil
}

func (l *lyingFS) Write(_ *vfs.Call, _ vfs.Object, _ []byte, _ uint64, how vfs.Stability, _ *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	return l.n, how, vfs.Verifier{}, nil
}

func TestBackendLies(t *testing.T) {
	fs := &lyingFS{FS: memfs.New(memfs.Config{RootMode: 0o777})}
	c := serve(t, memExport(fs)).client(&user)
	fh := mustCreate(c, mustMount(c, "/"), "f", nil)
	for _, fs.n = range []int{-1, 11, math.MaxInt} {
		_, err := c.Read(ctx, fh, make([]byte, 10), 0)
		wantStatus(t, "read", err, NFS3ERR_SERVERFAULT)
		_, err = c.Write(ctx, fh, make([]byte, 10), 0, UNSTABLE)
		wantStatus(t, "write", err, NFS3ERR_SERVERFAULT)
	}
	fs.n = 0
	_, err := c.Write(ctx, fh, make([]byte, 10), 0, UNSTABLE)
	wantStatus(t, "nothing written", err, NFS3ERR_IO)
}

// Whatever is written where, reading gives it back.
func TestReadWriteModel(t *testing.T) {
	w, _ := serveMem(t)
	clients := []*Client{w.client(&user), w.dial(w.listen(), &user)}
	dir := mustMount(clients[0], "/")
	var files int
	rapid.Check(t, func(t *rapid.T) {
		files++
		fh := mustCreate(clients[0], dir, fmt.Sprint(files), nil)
		var model []byte
		const most = 150_000
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				off := rapid.IntRange(0, most).Draw(t, "off")
				data := pattern(rapid.IntRange(0, most-off).Draw(t, "n"))
				c := rapid.SampledFrom(clients).Draw(t, "client")
				how := StableHow(rapid.IntRange(0, 2).Draw(t, "how"))
				res := must(c.Write(ctx, fh, data, uint64(off), how))
				if int(res.Resok.Count) != len(data) || res.Resok.Committed < how {
					t.Fatalf("count %d of %d, %v", res.Resok.Count, len(data), res.Resok.Committed)
				}
				if end := off + len(data); len(data) > 0 && end > len(model) {
					model = append(model, make([]byte, end-len(model))...)
				}
				copy(model[min(off, len(model)):], data)
			},
			"truncate": func(t *rapid.T) {
				n := rapid.IntRange(0, most).Draw(t, "size")
				must(clients[0].Setattr(ctx, fh, &Sattr3{Size: SetSize3{true, uint64(n)}}, nil))
				model = append(model, make([]byte, most)...)[:n:n]
			},
			"read": func(t *rapid.T) {
				off := rapid.IntRange(0, most).Draw(t, "off")
				n := rapid.IntRange(0, most).Draw(t, "n")
				c := rapid.SampledFrom(clients).Draw(t, "client")
				res := must(c.Read(ctx, fh, make([]byte, n), uint64(off)))
				want := model[min(off, len(model)):min(off+n, len(model))]
				if !bytes.Equal(res.Resok.Data, want) || res.Resok.Eof != (off+n >= len(model)) {
					t.Fatalf("%d bytes at %d of %d: %d bytes, eof %v", n, off, len(model), len(res.Resok.Data), res.Resok.Eof)
				}
			},
		})
		must(clients[0].Remove(ctx, dir, fmt.Sprint(files)))
	})
}

// pattern returns n bytes that differ from place to place.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(n) | 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}
