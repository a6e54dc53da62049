package limits

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/internal/loopfs"
	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// fill takes all space of a file system but about keep bytes, until the file it
// returns is removed.
func (d *daemon) fill(dir string, keep int64) (ballast string) {
	d.t.Helper()
	ballast = filepath.Join(dir, "ballast")
	f, err := os.Create(ballast)
	d.ok(err)
	defer f.Close()
	size := int64(0)
	for step := int64(256 << 20); step >= 64<<10; {
		switch err := unix.Fallocate(int(f.Fd()), 0, size, step); err {
		case nil:
			size += step
		case unix.ENOSPC:
			step /= 2
		default:
			d.ok(err)
		}
	}
	d.ok(f.Truncate(size - keep))
	d.ok(f.Sync())
	return ballast
}

// onDisk reads a file from its device, past the page cache.
func (d *daemon) onDisk(path string) []byte {
	d.t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	d.ok(err)
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	const block = 1 << 20
	buf, err := unix.Mmap(-1, 0, block, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	d.ok(err)
	defer unix.Munmap(buf)
	var all []byte
	for {
		n, err := f.Read(buf)
		all = append(all, buf[:n]...)
		if errors.Is(err, io.EOF) {
			return all
		}
		d.ok(err)
	}
}

// TestDiskFull writes, and makes names, until there is no space, and goes on when
// there is some again. What was acknowledged is there.
func TestDiskFull(t *testing.T) {
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			options := map[string][]string{"ext4": {"-N", "128"}, "xfs": nil}[kind]
			dir := loopfs.New(t, kind, 320, options...)
			d := start(t, dir, "")
			defer d.stop()
			d.ok(os.Chmod(dir, 0o777))
			c, top := d.mount(&user)
			var handles [][]byte
			for _, name := range names("data", 4) {
				handles = append(handles, d.create(c, top, name))
			}
			ballast := d.fill(dir, 8<<20)

			// Half of the files are written with each WRITE made stable, half are
			// committed, as far as they come.
			const chunk = 256 << 10
			good := make(map[string][]byte)
			full := 0
			for n, name := range names("data", 4) {
				fh, how := handles[n], nfs3.FILE_SYNC
				if n%2 == 1 {
					how = nfs3.UNSTABLE
				}
				data := pattern(n, 64*chunk)
				acknowledged := 0
				for acknowledged < len(data) {
					res, err := c.Write(ctx, fh, data[acknowledged:acknowledged+chunk], uint64(acknowledged), how)
					if err != nil {
						d.is(nfs3.NFS3ERR_NOSPC, "WRITE to a full file system", err)
						full++
						break
					}
					acknowledged += int(res.Resok.Count)
					if res.Resok.Count < chunk {
						full++
						break
					}
				}
				d.is(nfs3.NFS3_OK, "COMMIT", drop(c.Commit(ctx, fh, 0, 0)))
				good[name] = data[:acknowledged]
			}
			if full != 4 && full != 3 {
				t.Errorf("%d files did not fill the file system", full)
			}
			made := 0
			for _, name := range names("name", 1000) {
				if _, err := create(c, top, name); err != nil {
					d.is(nfs3.NFS3ERR_NOSPC, "CREATE in a full file system", err)
					d.is(nfs3.NFS3ERR_NOSPC, "MKDIR in a full file system", drop(c.Mkdir(ctx, top, name, new(nfs3.Sattr3))))
					d.is(nfs3.NFS3ERR_NOENT, "LOOKUP of what could not be made", drop(c.Lookup(ctx, top, name)))
					break
				}
				made++
			}
			t.Logf("%d files could be made", made)
			for name, want := range good {
				if got := d.onDisk(filepath.Join(dir, name)); !bytes.HasPrefix(got, want) {
					t.Errorf("%s: %d bytes were acknowledged, and are not in the %d that there are", name, len(want), len(got))
				}
			}

			// Room again.
			d.ok(os.Remove(ballast))
			for _, name := range names("name", made) {
				d.ok(drop(c.Remove(ctx, top, name)))
			}
			fh := d.create(c, top, "after")
			data := pattern(9, 4*chunk)
			d.ok(drop(c.Write(ctx, fh, data, 0, nfs3.FILE_SYNC)))
			if got := d.onDisk(filepath.Join(dir, "after")); !bytes.Equal(got, data) {
				t.Errorf("what was written with room again is not there: %d bytes", len(got))
			}
		})
	}
}

// TestLateErrors has the file system's device run out of space, which shows when
// data are written back: COMMIT says so, and the verifier changes.
func TestLateErrors(t *testing.T) {
	thin := loopfs.New(t, "tmpfs", 96)
	image, err := os.Create(filepath.Join(thin, "image"))
	if err != nil {
		t.Fatal(err)
	}
	if err := image.Truncate(256 << 20); err != nil {
		t.Fatal(err)
	}
	dev, err := loopfs.Attach(image, 0)
	image.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Detach()
	if err := loopfs.Make("ext4", dev.Path(), "-J", "size=8"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := loopfs.Mount(dev.Path(), "ext4", dir); err != nil {
		t.Fatal(err)
	}
	defer loopfs.Unmount(dir)
	d := start(t, dir, "")
	defer d.stop()
	c, top := d.mount(&root)
	fh := d.create(c, top, "file")
	data := pattern(1, 1<<20)
	var verifiers [][8]byte
	const mib = 128
	for n := range mib {
		res, err := c.Write(ctx, fh, data, uint64(n)<<20, nfs3.UNSTABLE)
		if err != nil {
			t.Fatalf("WRITE %d: %v", n, err)
		}
		if v := [8]byte(res.Resok.Verf); len(verifiers) == 0 || verifiers[len(verifiers)-1] != v {
			verifiers = append(verifiers, v)
		}
	}
	res, err := c.Commit(ctx, fh, 0, 0)
	switch status(err) {
	case "NFS3ERR_NOSPC", "NFS3ERR_IO":
	default:
		t.Errorf("COMMIT to a device without space: %v", err)
	}
	res, err = c.Commit(ctx, fh, 0, 0)
	if err == nil && [8]byte(res.Resok.Verf) == verifiers[0] {
		t.Error("after data were lost COMMIT succeeds with the verifier of before")
	}

	// With space again a file that had no errors yet is what it was written as.
	d.is(nfs3.NFS3_OK, "REMOVE", drop(c.Remove(ctx, top, "file")))
	if err := unix.Mount("tmpfs", thin, "tmpfs", unix.MS_REMOUNT, "size=400m"); err != nil {
		t.Fatal(err)
	}
	fh = d.create(c, top, "again")
	for n := range 8 {
		d.ok(drop(c.Write(ctx, fh, data, uint64(n)<<20, nfs3.UNSTABLE)))
	}
	d.ok(drop(c.Commit(ctx, fh, 0, 0)))
	if got := d.onDisk(filepath.Join(dir, "again")); !bytes.Equal(got, bytes.Repeat(data, 8)) {
		t.Errorf("what was committed with space again is not there: %d bytes", len(got))
	}
}

// TestReadOnly mounts what is served read-only, and back.
func TestReadOnly(t *testing.T) {
	for _, kind := range []string{"ext4", "xfs"} {
		t.Run(kind, func(t *testing.T) {
			dir := loopfs.New(t, kind, 320)
			d := start(t, dir, "")
			defer d.stop()
			d.ok(os.Chmod(dir, 0o777))
			d.write(filepath.Join(dir, "file"), []byte("as it was"))
			c, top := d.mount(&user)
			fh := d.lookup(c, top, "file")
			remount := func(flags uintptr) { d.ok(unix.Mount("", dir, "", unix.MS_REMOUNT|flags, "")) }
			calls := map[string]func() error{
				"WRITE": func() error { return drop(c.Write(ctx, fh, []byte("x"), 0, nfs3.UNSTABLE)) },
				"SETATTR": func() error {
					return drop(c.Setattr(ctx, fh, &nfs3.Sattr3{Size: nfs3.SetSize3{SetIt: true, Size: 100}}, nil))
				},
				"CREATE":  func() error { return drop(create(c, top, "new")) },
				"MKDIR":   func() error { return drop(c.Mkdir(ctx, top, "dir", new(nfs3.Sattr3))) },
				"SYMLINK": func() error { return drop(c.Symlink(ctx, top, "symlink", "x", new(nfs3.Sattr3))) },
				"LINK":    func() error { return drop(c.Link(ctx, fh, top, "link")) },
				"RENAME":  func() error { return drop(c.Rename(ctx, top, "file", top, "renamed")) },
				"REMOVE":  func() error { return drop(c.Remove(ctx, top, "renamed")) },
			}
			remount(unix.MS_RDONLY)
			for _, name := range []string{"WRITE", "SETATTR", "CREATE", "MKDIR", "SYMLINK", "LINK", "RENAME"} {
				d.is(nfs3.NFS3ERR_ROFS, name+" on a read-only file system", calls[name]())
			}
			d.is(nfs3.NFS3ERR_ROFS, "REMOVE on a read-only file system", drop(c.Remove(ctx, top, "file")))
			p := make([]byte, 100)
			res, err := c.Read(ctx, fh, p, 0)
			if err != nil || string(res.Resok.Data) != "as it was" {
				t.Errorf("READ: %q, %v", res.Resok.Data, err)
			}
			d.is(nfs3.NFS3_OK, "COMMIT on a read-only file system", drop(c.Commit(ctx, fh, 0, 0)))
			remount(0)
			for _, name := range []string{"WRITE", "SETATTR", "CREATE", "MKDIR", "SYMLINK", "LINK", "RENAME", "REMOVE"} {
				d.is(nfs3.NFS3_OK, name+" with a file system that can be written to again", calls[name]())
			}
		})
	}
}

// TestQuota writes more than a quota allows: that of a btrfs subvolume, which is for
// whoever writes there.
func TestQuota(t *testing.T) {
	dir := loopfs.New(t, "btrfs", 320)
	d := start(t, dir, "")
	defer d.stop()
	d.ok(os.Chmod(dir, 0o777))
	const limit = 8 << 20
	for _, args := range [][]string{{"quota", "enable", dir}, {"qgroup", "limit", fmt.Sprint(limit), dir}} {
		if out, err := exec.Command("btrfs", args...).CombinedOutput(); err != nil {
			t.Fatalf("btrfs %q: %v: %s", args, err, out)
		}
	}
	for _, cred := range []*rpc.Cred{&user, &root} {
		c, top := d.mount(cred)
		fh := d.create(c, top, "file")
		const chunk = 64 << 10
		data := pattern(1, 2*limit)
		acknowledged := 0
		for acknowledged < len(data) {
			res, err := c.Write(ctx, fh, data[acknowledged:acknowledged+chunk], uint64(acknowledged), nfs3.FILE_SYNC)
			if err != nil {
				d.is(nfs3.NFS3ERR_DQUOT, "WRITE over the quota", err)
				break
			}
			acknowledged += int(res.Resok.Count)
		}
		if acknowledged < limit/2 || acknowledged > limit {
			t.Errorf("%d bytes could be written with a quota of %d", acknowledged, limit)
		}
		if got := d.onDisk(filepath.Join(dir, "file")); !bytes.HasPrefix(got, data[:acknowledged]) {
			t.Error("what was acknowledged is not there")
		}
		// There is room again when the user has made some.
		d.ok(drop(c.Remove(ctx, top, "file")))
		if out, err := exec.Command("btrfs", "filesystem", "sync", dir).CombinedOutput(); err != nil {
			t.Fatalf("btrfs filesystem sync: %v: %s", err, out)
		}
		fh = d.create(c, top, "file")
		d.ok(drop(c.Write(ctx, fh, data[:chunk], 0, nfs3.FILE_SYNC)))
		d.ok(drop(c.Remove(ctx, top, "file")))
	}
}
