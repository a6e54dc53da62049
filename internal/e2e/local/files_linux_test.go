package local

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/internal/e2e/guest"
	"eddy.example/internal/kernelclient"
	"eddy.example/vfs/export"
)

//go:embed testdata/files.sh
var files string

func TestFiles(t *testing.T) {
	t.Parallel()
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) {
		w := newWorld(t)
		var df unix.Statfs_t
		out := w.run(t, kernelclient.Config{
			Kernel: k,
			Console: guest.OnCue{"df": func() {
				if err := unix.Statfs(w.dir, &df); err != nil {
					t.Error(err)
				}
			}}.Console(),
		}, files, w.open(t, "/", export.SquashNone))

		w.names(t)
		w.special(t)
		w.times(t)
		w.sizes(t)
		sameSize(t, lines(out["df"])[0], &df)
		if left, _ := os.ReadDir(w.path()); slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), ".nfs") }) {
			t.Error("what stood for a removed file is still there")
		}
	})
}

// sameSize checks what stat said about the file system in the guest against what is
// said here. XFS goes on freeing what was removed, so a hundredth may be in between.
func sameSize(t *testing.T, stat string, here *unix.Statfs_t) {
	t.Helper()
	var blocks, free, avail, size, files, filesFree, name uint64
	if _, err := fmt.Sscan(stat, &blocks, &free, &avail, &size, &files, &filesFree, &name); err != nil {
		t.Fatal(err)
	}
	unit := uint64(here.Frsize)
	if blocks*size != here.Blocks*unit || files != here.Files || name != 255 {
		t.Errorf("the guest says %q, here it is %+v", stat, here)
	}
	for _, f := range [][3]uint64{
		{free * size, here.Bfree * unit, here.Blocks * unit},
		{avail * size, here.Bavail * unit, here.Blocks * unit},
		{filesFree, here.Ffree, here.Files},
	} {
		if max(f[0], f[1])-min(f[0], f[1]) > f[2]/100 {
			t.Errorf("%d of %d are free for the guest, %d here", f[0], f[2], f[1])
		}
	}
}

// names checks that files have the names that the guest gave them.
func (w *world) names(t *testing.T) {
	t.Helper()
	want := []string{strings.Repeat("n", 255), "\xff\xfe\x80", " ", "-rf"}
	for b := 1; b < 256; b++ {
		if b != '/' {
			want = append(want, string([]byte{byte(b), 'b'}))
		}
	}
	all, err := os.ReadDir(w.path("names"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the names are %q", got)
	}
	if all, err := os.ReadDir(w.path("many")); len(all) != 5000 {
		t.Errorf("%d entries, %v", len(all), err)
	}
}

// special checks what is no file.
func (w *world) special(t *testing.T) {
	t.Helper()
	for name, want := range map[string]string{
		"fifo": "prw-r-----", "char": "Dcrw-r----- 1:3", "block": "Drw-r----- 259:70000",
	} {
		info, err := os.Lstat(w.path("special", name))
		if err != nil {
			t.Fatal(err)
		}
		got := info.Mode().String()
		if info.Mode()&os.ModeDevice != 0 {
			dev := w.stat(t, "special", name).Rdev
			got += fmt.Sprintf(" %d:%d", unix.Major(dev), unix.Minor(dev))
		}
		if got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if target, err := os.Readlink(w.path("far")); target != strings.Repeat("t", 1000) {
		t.Errorf("link to %s: %v", target, err)
	}
	if n := w.stat(t, "d/two").Nlink; n != 1 {
		t.Errorf("%d links", n)
	}
}

// times checks owners and times.
func (w *world) times(t *testing.T) {
	t.Helper()
	st := w.stat(t, "attr")
	if st.Uid != 1001 || st.Gid != 1002 || st.Mode != unix.S_IFREG|0o600 ||
		st.Mtim != (unix.Timespec{Sec: 981173106, Nsec: 123456789}) || st.Atim != (unix.Timespec{Sec: 1286705410, Nsec: 100000000}) {
		t.Errorf("attributes: %+v", st)
	}
	st = w.stat(t, "attrlink")
	if st.Uid != 1002 || st.Gid != 1001 || st.Mtim != (unix.Timespec{Sec: 946684799, Nsec: 999999999}) {
		t.Errorf("a link's attributes: %+v", st)
	}
}

// sizes checks what was appended and cut, and that holes are holes.
func (w *world) sizes(t *testing.T) {
	t.Helper()
	if n := strings.Count(w.read(t, "appended"), "\n"); n != 800 {
		t.Errorf("%d lines appended", n)
	}
	if st := w.stat(t, "cut"); st.Size != 20000 {
		t.Errorf("%d bytes", st.Size)
	}
	if st := w.stat(t, "huge"); st.Size != 8<<40 || st.Blocks != 0 {
		t.Errorf("%d bytes in %d blocks", st.Size, st.Blocks)
	}
	if st := w.stat(t, "sparse"); st.Size != 5<<30+1 || st.Blocks > 1<<20/512 {
		t.Errorf("%d bytes in %d blocks", st.Size, st.Blocks)
	}
	f, err := os.Open(w.path("sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	first, err := unix.Seek(int(f.Fd()), 0, unix.SEEK_DATA)
	if err != nil || first != 1<<30 {
		t.Errorf("data begins at %d: %v", first, err)
	}
	hole, err := unix.Seek(int(f.Fd()), first, unix.SEEK_HOLE)
	if err != nil || hole > 1<<30+1<<16 {
		t.Errorf("it ends at %d: %v", hole, err)
	}
}

func (w *world) stat(t *testing.T, name ...string) (st unix.Stat_t) {
	t.Helper()
	if err := unix.Lstat(w.path(name...), &st); err != nil {
		t.Fatal(err)
	}
	return st
}
