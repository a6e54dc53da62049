//go:build amd64 || arm64 || riscv64

// The FUSE library does not build for 32 bits.

package blockdev

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"eddy.example/internal/loopfs"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A file that was synced is there after any later cut, whatever becomes of the
// writes behind the last flush; one that was not is missing in the earlier ones.
func TestCuts(t *testing.T) {
	for kind, size := range map[string]int{"xfs": 300, "ext4": 64, "btrfs": 128} {
		t.Run(kind, func(t *testing.T) {
			d := New(t, size)
			dir := t.TempDir()
			if err := errors.Join(loopfs.Make(kind, d.Path()), loopfs.Mount(d.Path(), kind, dir)); err != nil {
				t.Fatal(err)
			}
			d.Forget()

			want := bytes.Repeat([]byte("durable "), 100_000)
			begun := d.Now()
			synced(t, filepath.Join(dir, "file"), want)
			acked := d.Now()
			synced(t, filepath.Join(dir, "more"), want)
			if err := loopfs.Unmount(dir); err != nil {
				t.Fatal(err)
			}

			flushes := d.Flushes()
			if len(flushes) == 0 {
				t.Fatal("nothing was flushed")
			}
			missing := 0
			for cut := range d.Now() + 1 {
				if cut > acked+8 && cut%8 != 0 {
					continue
				}
				got := fileAfter(t, d, kind, cut)
				switch {
				case cut >= acked && !bytes.Equal(got, want):
					t.Errorf("cut at %d: %d bytes, want all", cut, len(got))
				case cut <= begun && got != nil:
					t.Errorf("cut at %d: there before it was made", cut)
				case got == nil:
					missing++
				}
			}
			if missing == 0 {
				t.Error("no cut loses anything")
			}
			t.Logf("begun %d, acknowledged %d, end %d; %d flushes; missing after %d cuts", begun, acked, d.Now(), len(flushes), missing)
		})
	}
}

// synced makes a file and its name durable.
func synced(t *testing.T, path string, data []byte) {
	t.Helper()
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close(), dir.Sync()); err != nil {
		t.Fatal(err)
	}
}

// fileAfter returns what is in the file after a cut, nil if it is not there.
func fileAfter(t *testing.T, d *Device, kind string, cut int) []byte {
	t.Helper()
	image := d.Image(t, cut, uint64(cut))
	defer image.Close()
	dev, err := loopfs.Attach(image, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Detach()
	dir := t.TempDir()
	if err := loopfs.Mount(dev.Path(), kind, dir); err != nil {
		t.Fatalf("cut at %d: %v", cut, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "file"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("cut at %d: %v", cut, err)
	}
	if err := loopfs.Unmount(dir); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRawDevice(t *testing.T) {
	d := New(t, 8)
	f, err := os.OpenFile(d.Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := bytes.Repeat(append(unit('a'), unit(0)...), 100)
	if _, err := f.WriteAt(want, 3*Unit); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	image := d.Image(t, d.Now(), 0)
	defer image.Close()
	got := make([]byte, len(want))
	if _, err := image.ReadAt(got, 3*Unit); err != nil || !bytes.Equal(got, want) {
		t.Errorf("not what was written: %v", err)
	}
	if n := len(d.Flushes()); n == 0 {
		t.Errorf("%d flushes", n)
	}
}
