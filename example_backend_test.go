package eddy_test

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	eddy "eddy.example"
	"eddy.example/vfs"
	"eddy.example/xprt"
)

// notes is a backend of one's own: a directory of texts named "1", "2", …
// An object is a text's number, 0 the directory, and its handle is that number.
type notes []string

func (n notes) Resolve(_ *vfs.Call, h []byte) (vfs.Object, error) {
	i, _ := bytes.NewReader(h).ReadByte() // nobody can forge one, and none is the root's
	return int(i), nil
}

func (n notes) AppendHandle(b []byte, o vfs.Object) []byte { return append(b, byte(o.(int))) }

func (n notes) Lookup(c *vfs.Call, _ vfs.Object, name string, a *vfs.Attr) (vfs.Object, error) {
	i, _ := strconv.Atoi(name)
	if i < 0 || i > len(n) || i == 0 && name != "." && name != ".." {
		return nil, vfs.ErrNotExist
	}
	return i, n.Getattr(c, i, vfs.AttrBasic, a)
}

func (n notes) Getattr(_ *vfs.Call, o vfs.Object, _ vfs.AttrMask, a *vfs.Attr) error {
	if a == nil {
		return nil
	}
	*a = vfs.Attr{Mask: vfs.AttrBasic, Type: vfs.TypeDirectory, Mode: 0o555, Nlink: 2, FileID: 1}
	if i := o.(int); i > 0 {
		a.Type, a.Mode, a.Nlink, a.FileID, a.Size = vfs.TypeRegular, 0o444, 1, uint64(i)+1, uint64(len(n[i-1]))
	}
	return nil
}

func (n notes) Read(_ *vfs.Call, o vfs.Object, p []byte, off uint64) (int, bool, error) {
	if o == 0 {
		return 0, false, vfs.ErrIsDir
	}
	text := n[o.(int)-1]
	k := copy(p, text[min(off, uint64(len(text))):])
	return k, off+uint64(k) >= uint64(len(text)), nil
}

func (n notes) ReadDir(_ *vfs.Call, _ vfs.Object, after vfs.Cookie, _ vfs.AttrMask, fill func(*vfs.DirEntry) bool) (bool, error) {
	for i := max(int(after), 2) - 1; i <= len(n); i++ {
		if !fill(&vfs.DirEntry{Name: strconv.Itoa(i), Cookie: vfs.Cookie(i) + 2, FileID: uint64(i) + 1}) {
			return false, nil
		}
	}
	return true, nil
}

// A backend of one's own: six methods.
func Example_ownBackend() {
	s := &eddy.Server{Exports: []eddy.Export{{Path: "/", FS: notes{"buy milk\n", "water the plants\n"}}}}
	defer s.Shutdown(context.Background())
	server, client := xprt.Pipe()
	go s.ServeConn(server)
	fmt.Print(cat(client, "2"))
	// Output: water the plants
}
