package nfs3

import (
	"sync"
	"testing"

	"eddy.example/vfs"
	"eddy.example/vfs/memfs"
	"eddy.example/vfs/vfstest"
)

// TestIsolation stops READs in the backend and finds everybody else served.
func TestIsolation(t *testing.T) {
	for name, backend := range map[string]func(f *vfstest.FaultFS) vfs.FS{
		"says when it would wait": func(f *vfstest.FaultFS) vfs.FS { return f.Waiter() },
		"does not say":            func(f *vfstest.FaultFS) vfs.FS { return f },
	} {
		t.Run(name, func(t *testing.T) {
			mem := memfs.New(memfs.Config{RootMode: 0o777})
			if err := mem.WriteFile("/f", []byte("data"), 0o666); err != nil {
				t.Fatal(err)
			}
			fs := vfstest.NewFaultFS(mem)
			w := serve(t, memExport(backend(fs)))
			addr := w.listen()
			first := w.dial(addr, &user)
			fh := mustLookup(first, mustMount(first, "/"), "f")

			stop := fs.Stop(vfstest.Read)
			var reads sync.WaitGroup
			read := func(c *Client) {
				reads.Go(func() {
					if _, err := c.Read(ctx, fh, make([]byte, 4), 0); err != nil {
						t.Error(err)
					}
				})
			}
			defer reads.Wait()
			defer stop.Release()

			read(first)
			<-stop.Entered()
			for range 1000 {
				mustGetattr(first, fh)
			}
			for range 64 {
				c := w.dial(addr, &user)
				for range 4 {
					read(c)
				}
			}
			for range 256 {
				<-stop.Entered()
			}
			last := w.dial(addr, &user)
			for range 1000 {
				mustGetattr(last, fh)
			}
		})
	}
}
