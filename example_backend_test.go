package eddy_test

import (
	"context"
	"fmt"
	"strings"

	eddy "eddy.example"
	"eddy.example/vfs"
	"eddy.example/xprt"
)

// notes is a backend of one's own: a directory of texts that is as long as the
// slice. An object is its number, the root -1; a handle is the number's byte.
type notes []string

func (n notes) Resolve(_ *vfs.Call, h []byte) (vfs.Object, error) {
	switch {
	case len(h) == 0:
		return -1, nil
	case int(h[0]) < len(n):
		return int(h[0]), nil
	}
	return nil, vfs.ErrStale
}

func (n notes) AppendHandle(b []byte, o vfs.Object) []byte {
	if o == -1 {
		return b
	}
	return append(b, byte(o.(int)))
}

func (n notes) Lookup(c *vfs.Call, dir vfs.Object, name string, a *vfs.Attr) (vfs.Object, error) {
	for i := -1; i < len(n); i++ {
		if name == n.name(i) {
			return i, n.Getattr(c, i, 0, a)
		}
	}
	return nil, vfs.ErrNotExist
}

func (n notes) name(i int) string {
	if i < 0 {
		return "."
	}
	return fmt.Sprintf("note-%d.txt", i)
}

func (n notes) Getattr(_ *vfs.Call, o vfs.Object, _ vfs.AttrMask, a *vfs.Attr) error {
	i := o.(int)
	if a == nil {
		return nil
	}
	*a = vfs.Attr{Mask: vfs.AttrBasic, Type: vfs.TypeDirectory, Mode: 0o555, Nlink: 2, FileID: uint64(i + 2)}
	if i >= 0 {
		a.Type, a.Mode, a.Nlink, a.Size = vfs.TypeRegular, 0o444, 1, uint64(len(n[i]))
	}
	return nil
}
func (n notes) Read(_ *vfs.Call, o vfs.Object, p []byte, off uint64) (int, bool, error) {
	r := strings.NewReader(n[o.(int)])
	got, _ := r.ReadAt(p, int64(min(off, 1<<62)))
	return got, off+uint64(got) >= uint64(r.Size()), nil
}
func (n notes) ReadDir(c *vfs.Call, _ vfs.Object, after vfs.Cookie, want vfs.AttrMask, fill func(*vfs.DirEntry) bool) (bool, error) {
	return true, nil
}

// A backend of one's own: six methods.
func Example_ownBackend() {
	s := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: notes{"buy milk\n", "water plants\n"}}}}
	defer s.Shutdown(context.Background())
	server, client := xprt.Pipe()
	go s.ServeConn(server)
	fmt.Print(cat(client, "note-1.txt"))
	// Output: water plants
}
