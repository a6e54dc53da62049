//go:build amd64 || arm64 || riscv64

// The FUSE library does not build for 32 bits.

package blockdev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"eddy.example/internal/loopfs"
	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Device is a recording block device. Its methods may be called concurrently.
type Device struct {
	log  *log
	loop *loopfs.Device
}

// New returns a device of that many MiB, full of zeros, which lasts as long as t.
func New(t testing.TB, sizeMiB int) *Device {
	t.Helper()
	loopfs.NeedRoot(t)
	d := &Device{log: newLog(sizeMiB << 20 / Unit)}
	dir := t.TempDir()
	server, err := fs.Mount(dir, &folder{log: d.log}, &fs.Options{MountOptions: fuse.MountOptions{
		DirectMountStrict: true, FsName: "blockdev", MaxWrite: 1 << 20,
	}})
	if err != nil {
		t.Fatalf("blockdev: mounting FUSE: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Errorf("blockdev: %v", err)
		}
		server.Wait()
	})
	file, err := os.OpenFile(filepath.Join(dir, diskName), os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("blockdev: %v", err)
	}
	d.loop, err = loopfs.Attach(file, loopfs.Direct)
	err = errors.Join(err, file.Close())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.loop.Detach(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// Path is the device's name, below /dev.
func (d *Device) Path() string { return d.loop.Path() }

// Now is the number of writes and flushes until now.
func (d *Device) Now() int { return d.log.len() }

// Forget makes what is on the device now, written and flushed or not, the state
// at moment 0.
func (d *Device) Forget() { d.log.forget() }

// Flushes returns the moments right behind each flush, in order.
func (d *Device) Flushes() []int { return d.log.flushes() }

// Image returns what is on the device if the power fails at the moment cut, as a file
// without a name, for which see [loopfs.Attach]. The seed says what becomes of
// writes that no flush has followed. Cuts in ascending order cost least.
func (d *Device) Image(t testing.TB, cut int, seed uint64) *os.File {
	t.Helper()
	pages := d.log.image(cut, seed)
	f, err := loopfs.Memory(int64(len(pages)) * Unit)
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(f, pages); err != nil {
		f.Close()
		t.Fatalf("blockdev: %v", err)
	}
	return f
}

// fill writes all pages that are not zeros to f.
func fill(f *os.File, pages []page) error {
	const most = 1024 // in one call
	for i := 0; i < len(pages); {
		var run [][]byte
		for i+len(run) < len(pages) && pages[i+len(run)] != nil && len(run) < most {
			run = append(run, pages[i+len(run)][:])
		}
		if run == nil {
			i++
			continue
		}
		n, err := unix.Pwritev(int(f.Fd()), run, int64(i)*Unit)
		if err == nil && n != len(run)*Unit {
			err = fmt.Errorf("wrote %d of %d bytes", n, len(run)*Unit)
		}
		if err != nil {
			return err
		}
		i += len(run)
	}
	return nil
}

const diskName = "disk"

// folder is the directory that has the device's file, disk.
type folder struct {
	fs.Inode
	log *log
}

func (f *folder) OnAdd(ctx context.Context) {
	f.AddChild(diskName, f.NewPersistentInode(ctx, &disk{log: f.log}, fs.StableAttr{Mode: syscall.S_IFREG}), false)
}

// disk is a file whose reads, writes and syncs all come here.
type disk struct {
	fs.Inode
	log *log
}

func (d *disk) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode = syscall.S_IFREG | 0o600
	out.Size = uint64(len(d.log.now)) * Unit
	return 0
}

func (d *disk) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

func (d *disk) Read(_ context.Context, _ fs.FileHandle, p []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if d.log.read(p, off) != nil {
		return nil, syscall.EIO
	}
	return fuse.ReadResultData(p), 0
}

func (d *disk) Write(_ context.Context, _ fs.FileHandle, p []byte, off int64) (uint32, syscall.Errno) {
	if d.log.write(p, off) != nil {
		return 0, syscall.EIO
	}
	return uint32(len(p)), 0
}

func (d *disk) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	d.log.flush()
	return 0
}
