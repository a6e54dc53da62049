package nfs3

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"eddy.example/rpc"
	"eddy.example/vfs"
	"eddy.example/vfs/export"
	"eddy.example/vfs/memfs"
	"github.com/google/go-cmp/cmp"
)

func TestMount(t *testing.T) {
	fs := memfs.New(memfs.Config{})
	if err := fs.MkdirAll("/a/b", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := fs.MkdirAll("/closed/in", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := fs.WriteFile("/a/f", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	x := memExport(fs)
	x.Path = "/export"
	c := serve(t, x).client(&user)
	top := mustMount(c, "/export")
	for path, want := range map[string][]byte{
		"/export/":      top,
		"//export/./":   top,
		"/export/a/b":   mustLookup(c, top, "a", "b"),
		"/export/a//b/": mustLookup(c, top, "a", "b"),
	} {
		if got, err := c.Mount(ctx, path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: another handle, or %v", path, err)
		}
	}
	for path, want := range map[string]NFSStat3{
		"":                                    NFS3ERR_NOENT,
		"/":                                   NFS3ERR_NOENT,
		"export":                              NFS3ERR_NOENT,
		"/exp":                                NFS3ERR_NOENT,
		"/exports":                            NFS3ERR_NOENT,
		"/export/../export":                   NFS3ERR_NOENT,
		"/export/x":                           NFS3ERR_NOENT,
		"/export/a/f":                         NFS3ERR_NOTDIR,
		"/export/a/f/x":                       NFS3ERR_NOTDIR,
		"/export/closed/in":                   NFS3ERR_ACCES,
		"/export/" + strings.Repeat("n", 256): NFS3ERR_NAMETOOLONG,
	} {
		_, err := c.Mount(ctx, path)
		wantStatus(t, "mount "+path, err, want)
	}
	if _, err := c.Mount(ctx, "/"+strings.Repeat("x/", 512)); !errors.Is(err, rpc.ErrGarbageArgs) {
		t.Errorf("a path of 1025 bytes: %v", err)
	}
	var res Mountres3
	path := Dirpath("/export")
	if err := c.rpc.Call(ctx, MOUNT_PROGRAM, MOUNT_V3, MOUNTPROC3_MNT, nil, &path, &res); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]uint32{rpc.AUTH_SYS, rpc.AUTH_NONE}, res.Mountinfo.AuthFlavors); d != "" {
		t.Errorf("flavors (-want +got):\n%s", d)
	}
}

func TestMountRefused(t *testing.T) {
	fs := memfs.New(memfs.Config{RootMode: 0o777})
	open := memExport(fs)
	elsewhere := open
	elsewhere.Path, elsewhere.Networks = "/elsewhere", []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	w := serve(t, open, elsewhere)
	inside, c := w.client(&user), w.dial(w.listen(), &user)
	_, err := c.Mount(ctx, "/elsewhere")
	wantStatus(t, "mount", err, NFS3ERR_ACCES)
	// Having a handle does not help.
	fh := mustMount(inside, "/elsewhere")
	_, err = c.Getattr(ctx, fh)
	wantStatus(t, "GETATTR", err, NFS3ERR_ACCES)
	_, err = c.Lookup(ctx, fh, "x")
	wantStatus(t, "LOOKUP", err, NFS3ERR_ACCES)
	mustMount(c, "/")
	for _, m := range must(c.Mounts(ctx)) {
		if string(m.MlHostname) == "127.0.0.1" && string(m.MlDirectory) != "/" {
			t.Errorf("%s is listed as mounted", m.MlDirectory)
		}
	}
}

func TestMountLists(t *testing.T) {
	a := memExport(memfs.New(memfs.Config{}))
	b := a
	b.Path, b.Networks = "/b", []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("127.0.0.0/8")}
	w := serve(t, a, b)
	pipe, tcp := w.client(&user), w.dial(w.listen(), &user)
	mustMount(pipe, "/")
	mustMount(tcp, "/b")
	mustMount(tcp, "/")
	check := func(what string, want ...string) {
		t.Helper()
		var got []string
		for _, m := range must(pipe.Mounts(ctx)) {
			got = append(got, fmt.Sprintf("%s:%s", m.MlHostname, m.MlDirectory))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	check("mounted", "localhost:/", "127.0.0.1:/b", "127.0.0.1:/")
	if err := tcp.Unmount(ctx, "/b"); err != nil {
		t.Error(err)
	}
	check("one unmounted", "localhost:/", "127.0.0.1:/")
	if err := pipe.UnmountAll(ctx); err != nil {
		t.Error(err)
	}
	check("the other unmounted", "127.0.0.1:/")

	want := Exports{
		{ExDir: Dirpath("/"), ExGroups: Groups{{GrName: []byte("localhost")}}},
		{ExDir: Dirpath("/b"), ExGroups: Groups{{GrName: []byte("192.0.2.0/24")}, {GrName: []byte("127.0.0.0/8")}}},
	}
	if d := cmp.Diff(want, must(tcp.Exports(ctx))); d != "" {
		t.Errorf("exports (-want +got):\n%s", d)
	}
}

// However long the paths are, the list stays a list.
func TestMountListsBounded(t *testing.T) {
	fs := memfs.New(memfs.Config{})
	w := serve(t, memExport(fs))
	w.srv.MaxMounts = 100
	c := w.client(&root)
	for i := range 110 {
		mustMount(c, strings.Repeat("/", i+1)+strings.Repeat("./", 450))
	}
	for i := range 200 {
		x := export.Export{Path: fmt.Sprintf("/%d%s", i, strings.Repeat("x", 1000)), FS: fs}
		if err := w.table.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(must(c.Mounts(ctx))); n < 20 || n > maxMountReply/900 {
		t.Errorf("%d mounts", n)
	}
	if n := len(must(c.Exports(ctx))); n < 20 || n > maxMountReply/1000 {
		t.Errorf("%d exports", n)
	}
}

// shortFS has handles of 8 bytes, which makes 32 of an export's.
type shortFS struct{ *memfs.FS }

func (s shortFS) AppendHandle(b []byte, o vfs.Object) []byte {
	return append(b, s.FS.AppendHandle(nil, o)[:8]...)
}

func (s shortFS) Resolve(c *vfs.Call, h []byte) (vfs.Object, error) {
	top, err := s.FS.Resolve(c, nil)
	if err != nil || len(h) == 0 {
		return top, err
	}
	return s.FS.Resolve(c, append(bytes.Clone(h), s.FS.AppendHandle(nil, top)[8:]...))
}

func TestMountVersion1(t *testing.T) {
	long := memExport(memfs.New(memfs.Config{}))
	short := memExport(shortFS{memfs.New(memfs.Config{})})
	short.Path = "/short"
	c := serve(t, long, short).client(&user)
	for vers := uint32(1); vers <= 2; vers++ {
		for path, want := range map[string]uint32{"/short": 0, "/": uint32(MNT3ERR_INVAL), "/short/x": uint32(MNT3ERR_NOENT)} {
			var res Fhstatus
			args := Dirpath(path)
			if err := c.rpc.Call(ctx, MOUNT_PROGRAM, vers, MOUNTPROC_MNT, &user, &args, &res); err != nil {
				t.Fatal(err)
			}
			if res.Status != want {
				t.Errorf("version %d, %s: status %d, want %d", vers, path, res.Status, want)
			}
			if want == 0 && !bytes.Equal(res.Directory[:], mustMount(c, path)) {
				t.Errorf("version %d, %s: another handle", vers, path)
			}
		}
		var list Exports
		if err := c.rpc.Call(ctx, MOUNT_PROGRAM, vers, MOUNTPROC_EXPORT, &user, nil, &list); err != nil || len(list) != 2 {
			t.Errorf("version %d: %d exports, %v", vers, len(list), err)
		}
		if err := c.rpc.Call(ctx, MOUNT_PROGRAM, vers, 7, &user, nil, nil); !errors.Is(err, rpc.ErrProcUnavail) {
			t.Errorf("version %d, PATHCONF: %v", vers, err)
		}
	}
	if err := c.rpc.Call(ctx, MOUNT_PROGRAM, 4, MOUNTPROC_NULL, nil, nil, nil); !errors.Is(err, rpc.ErrProgMismatch) {
		t.Errorf("version 4: %v", err)
	}
}
