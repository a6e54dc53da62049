package loopfs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// New returns the root of a fresh file system of a kind ("xfs", "ext4", "btrfs" or
// "tmpfs") on a device of that many MiB, for as long as t lasts. XFS wants 300 at
// least, btrfs 110. Each "-o" among the options and what follows it go to mount(8),
// all others to mkfs. Files that are open when t ends make t fail.
func New(t testing.TB, kind string, sizeMiB int, opts ...string) (dir string) {
	t.Helper()
	NeedRoot(t)
	dir = filepath.Join(t.TempDir(), kind)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mount, mkfs := split(opts)
	source := "tmpfs"
	if kind == "tmpfs" {
		mount = append(mount, "-o", fmt.Sprintf("size=%dm", sizeMiB))
	} else {
		image, err := Memory(int64(sizeMiB) << 20)
		if err != nil {
			t.Fatal(err)
		}
		dev, err := Attach(image, 0)
		image.Close() // the device keeps it
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := dev.Detach(); err != nil {
				t.Error(err)
			}
		})
		source = dev.Path()
		if err := Make(kind, source, mkfs...); err != nil {
			t.Fatal(err)
		}
	}
	if err := Mount(source, kind, dir, mount...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := Unmount(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// NeedRoot fails a test that is not run by root.
func NeedRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("loopfs: loop devices and mounts need root")
	}
}

func split(opts []string) (mount, mkfs []string) {
	for i := 0; i < len(opts); i++ {
		if opts[i] == "-o" && i+1 < len(opts) {
			mount = append(mount, opts[i:i+2]...)
			i++
		} else {
			mkfs = append(mkfs, opts[i])
		}
	}
	return mount, mkfs
}

// Memory returns a sparse file of that many bytes in no directory, which
// lives in memory.
func Memory(size int64) (*os.File, error) {
	// mkfs.btrfs takes files of one name for one file.
	name := "image-" + rand.Text()
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("loopfs: memfd_create: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if err := f.Truncate(size); err != nil {
		f.Close()
		return nil, fmt.Errorf("loopfs: %w", err)
	}
	return f, nil
}

// mkfs are the programs that make file systems, told to be quiet, to ask nothing
// and to leave nothing to be done in the background.
var mkfs = map[string][]string{
	"xfs":   {"mkfs.xfs", "-q", "-f"},
	"ext4":  {"mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"},
	"btrfs": {"mkfs.btrfs", "-q", "-f"},
}

// Make makes a file system on a device.
func Make(kind, device string, args ...string) error {
	program, ok := mkfs[kind]
	if !ok {
		return fmt.Errorf("loopfs: there is no %q", kind)
	}
	return run(slices.Concat(program, args, []string{device})...)
}

// Mount mounts a device, or "tmpfs", on dir, with options as mount(8) has them.
// A journal that has not been written back is replayed.
func Mount(source, kind, dir string, opts ...string) error {
	return run(slices.Concat([]string{"mount", "-t", kind}, opts, []string{source, dir})...)
}

// Unmount undoes Mount. If files are still open there, it is an error, and the file
// system goes when they are closed.
func Unmount(dir string) error {
	err := unix.Unmount(dir, 0)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("loopfs: unmounting %s: %w; open there: %q", dir, err, openBelow(dir))
	if detach := unix.Unmount(dir, unix.MNT_DETACH); detach != nil {
		err = errors.Join(err, fmt.Errorf("loopfs: detaching %s: %w", dir, detach))
	}
	return err
}

// openBelow are the files of this process that are open below dir.
func openBelow(dir string) (paths []string) {
	const fds = "/proc/self/fd"
	entries, _ := os.ReadDir(fds)
	for _, e := range entries {
		if path, err := os.Readlink(filepath.Join(fds, e.Name())); err == nil && strings.HasPrefix(path, dir) {
			paths = append(paths, path)
		}
	}
	return paths
}

func run(args ...string) error {
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("loopfs: %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
