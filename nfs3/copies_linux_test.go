package nfs3

import (
	"bytes"
	"sync/atomic"
	"testing"
	"unsafe"

	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"pgregory.net/rapid"
)

// placedFS is a backend that looks where its data lie.
type placedFS struct {
	*memfs.FS
	misplaced atomic.Int32
}

func (p *placedFS) Write(c *vfs.Call, o vfs.Object, data []byte, off uint64, how vfs.Stability, chg *vfs.Change) (int, vfs.Stability, vfs.Verifier, error) {
	if addr := uintptr(unsafe.Pointer(unsafe.SliceData(data))); len(data) > 4096 && (uint64(addr)-off)%4096 != 0 {
		p.misplaced.Add(1)
	}
	return p.FS.Write(c, o, data, off, how, chg)
}

func (p *placedFS) Read(c *vfs.Call, o vfs.Object, b []byte, off uint64) (int, bool, error) {
	if addr := uintptr(unsafe.Pointer(unsafe.SliceData(b))); addr%4096 != 0 || cap(b)-len(b) < 4096 {
		p.misplaced.Add(1)
	}
	return p.FS.Read(c, o, b, off)
}

// TestCopies finds that over TCP the data of a READ are copied nowhere, and those of a WRITE
// at most as far as they came with the first receive; and that both lie where
// backends want them.
func TestCopies(t *testing.T) {
	fs := &placedFS{FS: memfs.New(memfs.Config{RootMode: 0o777})}
	w := serve(t, memExport(fs))
	c := w.dial(w.listen(), &user)
	fh := mustCreate(c, mustMount(c, "/"), "f", nil)
	copied := w.xprt.Stats().PayloadCopied
	rapid.Check(t, func(t *rapid.T) {
		off := rapid.Uint64Range(0, 100_000).Draw(t, "off")
		data := pattern(rapid.IntRange(1, MaxTransfer).Draw(t, "n"))
		must(c.Write(ctx, fh, data, off, UNSTABLE))
		now := w.xprt.Stats().PayloadCopied
		if now-copied > 4096 {
			t.Fatalf("%d bytes of a WRITE of %d were copied", now-copied, len(data))
		}
		copied = now
		res := must(c.Read(ctx, fh, make([]byte, len(data)), off))
		if !bytes.Equal(res.Resok.Data, data) {
			t.Fatal("not what was written")
		}
		if now := w.xprt.Stats().PayloadCopied; now != copied {
			t.Fatalf("%d bytes of a READ were copied", now-copied)
		}
	})
	if n := fs.misplaced.Load(); n != 0 {
		t.Errorf("%d buffers lay elsewhere", n)
	}
}
