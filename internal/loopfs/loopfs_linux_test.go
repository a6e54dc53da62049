package loopfs

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestNew(t *testing.T) {
	for kind, magic := range map[string]int64{
		"xfs": unix.XFS_SUPER_MAGIC, "ext4": unix.EXT4_SUPER_MAGIC, "btrfs": unix.BTRFS_SUPER_MAGIC, "tmpfs": unix.TMPFS_MAGIC,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			const size = 320
			dir := New(t, kind, size, "-o", "nosuid")
			var st unix.Statfs_t
			if err := unix.Statfs(dir, &st); err != nil {
				t.Fatal(err)
			}
			if int64(st.Type) != magic {
				t.Errorf("type %x, want %x", st.Type, magic)
			}
			if mib := int64(st.Blocks) * int64(st.Bsize) >> 20; mib > size || mib < size/2 {
				t.Errorf("%d MiB", mib)
			}
			if st.Flags&unix.ST_NOSUID == 0 {
				t.Error("the mount option had no effect")
			}
			data := bytes.Repeat([]byte(kind), 100_000)
			if err := os.WriteFile(filepath.Join(dir, "file"), data, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestNothingIsLeft(t *testing.T) {
	var dir string
	t.Run("mounted", func(t *testing.T) {
		dir = New(t, "ext4", 16, "-L", "label")
	})
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s: %v", dir, err)
	}
}

// Devices are attached by several at once; each has its own file.
func TestAttach(t *testing.T) {
	NeedRoot(t)
	var wg sync.WaitGroup
	for n := range 12 {
		wg.Go(func() {
			image, err := Memory(1 << 20)
			if err != nil {
				t.Error(err)
				return
			}
			defer image.Close()
			want := bytes.Repeat([]byte{byte(n)}, 1<<20)
			if _, err := image.WriteAt(want, 0); err != nil {
				t.Error(err)
			}
			dev, err := Attach(image, 0)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(dev.Path()); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s has not what its file has: %v", dev.Path(), err)
			}
			if err := dev.Detach(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestUnmountOfABusyFileSystem(t *testing.T) {
	NeedRoot(t)
	dir := t.TempDir()
	if err := Mount("tmpfs", "tmpfs", dir); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Unmount(dir); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("unmounting: %v", err)
	}
	if _, err := os.Stat(f.Name()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still mounted: %v", err)
	}
}
