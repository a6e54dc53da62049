package escape

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"eddy.example/nfs3"
)

// opens counts how often something below a directory is opened, other than for its path.
type opens struct {
	w  *world
	fd int
}

func (w *world) watchOpens(paths ...string) *opens {
	w.t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	w.ok(err)
	w.t.Cleanup(func() { unix.Close(fd) })
	for _, path := range paths {
		_, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN|unix.IN_DONT_FOLLOW)
		w.ok(err)
	}
	return &opens{w, fd}
}

func (o *opens) count() (n int) {
	o.w.t.Helper()
	var b [4096]byte
	for {
		k, err := unix.Read(o.fd, b[:])
		if err == unix.EAGAIN {
			return n
		}
		o.w.ok(err)
		for at := 0; at < k; n++ {
			at += unix.SizeofInotifyEvent + int((*unix.InotifyEvent)(unsafe.Pointer(&b[at])).Len)
		}
	}
}

// TestSpecialFiles uses devices, FIFOs and sockets in every way there is. They are
// never opened: a READ of a FIFO would wait for who writes, and a device is the
// host's.
func TestSpecialFiles(t *testing.T) {
	eachTwice(t, settings{}, func(t *testing.T, w *world) {
		w.mkdir("up/export/dev")
		const anyone = 0o666
		names := map[string]uint32{"fifo": unix.S_IFIFO, "char": unix.S_IFCHR, "block": unix.S_IFBLK, "socket": unix.S_IFSOCK}
		var paths []string
		for name, format := range names {
			path := w.in("dev/" + name)
			dev := 0
			if format == unix.S_IFCHR {
				dev = int(unix.Mkdev(1, 5)) // zeros without end
			} else if format == unix.S_IFBLK {
				dev = int(unix.Mkdev(7, 0))
			}
			w.ok(unix.Mknod(path, format|anyone, dev))
			w.own(path)
			paths = append(paths, path)
		}
		watch := w.watchOpens(paths...)
		for name := range names {
			fh := w.find("dev/" + name)
			w.forget()
			for _, use := range w.uses(fh) {
				want := "NFS3_OK"
				switch use.takes {
				case aDirectory:
					want = "NFS3ERR_NOTDIR"
				case aFile, aLink:
					want = "NFS3ERR_INVAL"
				}
				if use.name == "LINK of it" {
					want = "NFS3_OK"
				}
				w.want(want, use.name+" with a "+name, use.call)
			}
			how := nfs3.Createhow3{Mode: nfs3.UNCHECKED, ObjAttributes: cut}
			w.want("NFS3ERR_EXIST", "CREATE at a "+name, func() error { return drop(w.c.Create(ctx, w.find("dev"), name, &how)) })
			w.want("NFS3_OK", "RENAME of a "+name, func() error { return drop(w.c.Rename(ctx, w.root, "linked", w.root, "again")) })
			w.want("NFS3_OK", "REMOVE of a "+name, func() error { return drop(w.c.Remove(ctx, w.root, "again")) })
		}
		if n := watch.count(); n != 0 {
			t.Errorf("special files were opened %d times", n)
		}
		// The counter counts.
		f, err := os.OpenFile(w.in("dev/fifo"), os.O_RDWR, 0)
		w.ok(err)
		f.Close()
		if n := watch.count(); n != 1 {
			t.Errorf("one open counted as %d", n)
		}
	})
}

// TestReplacedBySpecialFile has a file that a client holds a handle of replaced by
// a FIFO or a device.
func TestReplacedBySpecialFile(t *testing.T) {
	eachTwice(t, settings{}, func(t *testing.T, w *world) {
		for name, format := range map[string]uint32{"fifo": unix.S_IFIFO, "char": unix.S_IFCHR} {
			w.write("up/export/f", "file")
			fh := w.find("f")
			w.has(fh, "file", "a file")
			new := w.path(name)
			w.ok(unix.Mknod(new, format|0o666, int(unix.Mkdev(1, 5))))
			w.own(new)
			watch := w.watchOpens(new)
			w.ok(os.Rename(new, w.in("f")))
			w.forget()
			w.refused(fh, aFile, "NFS3ERR_STALE", "a file that was replaced by a "+name)
			w.want("NFS3ERR_INVAL", "READ of the "+name, func() error { return drop(w.read(w.find("f"))) })
			if n := watch.count(); n != 0 {
				t.Errorf("a %s was opened %d times", name, n)
			}
			w.ok(os.Remove(w.in("f")))
		}
	})
}

// TestMagicLinks serves /proc, by a mount below the root: what its links say may be
// read, and nobody gets through them.
func TestMagicLinks(t *testing.T) {
	eachWith(t, settings{CrossMounts: true}, func(t *testing.T, w *world) {
		w.mkdir("up/export/proc")
		w.ok(unix.Mount("proc", w.in("proc"), "proc", 0, ""))
		defer w.unmounter("up/export/proc")()
		held, err := os.Open(w.path("outside/d"))
		w.ok(err)
		defer held.Close()
		self, err := os.Readlink(w.in("proc/self"))
		w.ok(err)
		proc, err := w.c.Lookup(ctx, w.root, "proc")
		if err != nil {
			if status(err) != "NFS3ERR_ACCES" {
				t.Errorf("LOOKUP of a mounted proc: %v", err)
			}
			return // it is not served: as safe
		}
		for _, name := range []string{"self", "thread-self", self + "/root", self + "/cwd", self + "/exe", fmt.Sprintf("%s/fd/%d", self, held.Fd())} {
			fh, ok := w.walk(proc.Resok.Object.Data, name)
			if !ok {
				continue // not for this user
			}
			for _, use := range w.uses(fh) {
				if use.takes == aDirectory && use.name != "LINK in it" { // from one file system to another
					w.want("NFS3ERR_NOTDIR", use.name+" with "+name, use.call)
				}
			}
			w.want("NFS3ERR_INVAL", "READ with "+name, func() error { return drop(w.read(fh)) })
		}
	})
}

// walk looks a path up that may not be there.
func (w *world) walk(fh []byte, path string) ([]byte, bool) {
	for name := range strings.SplitSeq(path, "/") {
		res, err := w.c.Lookup(ctx, fh, name)
		if err != nil {
			return nil, false
		}
		fh = res.Resok.Object.Data
	}
	return fh, true
}
