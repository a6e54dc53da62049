package local

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
	"eddy.example/vfs/vfstest"
)

// These tests need root: to be several users.

// acl is an access control list as its extended attribute has it: the mode's
// classes, one user and a mask.
func acl(owner, group, other uint16, uid uint32, user, mask uint16) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{
		{0x01, owner, ^uint32(0)}, {0x02, user, uid}, {0x04, group, ^uint32(0)},
		{0x10, mask, ^uint32(0)}, {0x20, other, ^uint32(0)},
	} {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		b = binary.LittleEndian.AppendUint32(b, e.id)
	}
	return b
}

func TestAccessControlLists(t *testing.T) {
	dir := t.TempDir()
	f := open(t, Config{Root: dir, AsyncMetadata: true})
	o := create(t, f, f.root, "file", "contents")
	noError(t, f.Setattr(root(), o, &vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o600}, nil, nil))
	buf := make([]byte, 8)
	may := func(what string, c *vfs.Call, read, write bool) {
		t.Helper()
		got, err := f.Access(c, o, vfs.AccessRead|vfs.AccessModify)
		if err != nil || got&vfs.AccessRead != 0 != read || got&vfs.AccessModify != 0 != write {
			t.Errorf("%s: access %#x, %v", what, got, err)
		}
		if _, _, err := f.Read(c, o, buf, 0); (err == nil) != read {
			t.Errorf("%s: read: %v", what, err)
		}
		if _, _, _, err := f.Write(c, o, buf, 0, vfs.Unstable, nil); (err == nil) != write {
			t.Errorf("%s: write: %v", what, err)
		}
	}
	may("without a list", user(1001, 1001), false, false)
	set := func(user, mask uint16) {
		t.Helper()
		if err := unix.Setxattr(filepath.Join(dir, "file"), "system.posix_acl_access", acl(6, 0, 0, 1001, user, mask), 0); err != nil {
			t.Fatalf("setting a list: %v", err)
		}
	}
	set(6, 6)
	may("listed", user(1001, 1001), true, true)
	may("not listed", user(1002, 1001), false, false)
	set(4, 7)
	may("listed for reading", user(1001, 1001), true, false)
	set(6, 4)
	may("masked", user(1001, 1001), true, false)

	// A default list takes the place of the umask, and the mode limits it.
	sub := mkdir(t, f, f.root, "sub")
	if err := unix.Setxattr(filepath.Join(dir, "sub"), "system.posix_acl_default", acl(7, 5, 0, 1001, 7, 7), 0); err != nil {
		t.Fatalf("setting a default list: %v", err)
	}
	s := &vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o666}
	var a vfs.Attr
	o, err := f.Create(root(), sub, "file", vfs.CreateGuarded, [8]byte{}, s, &a, nil)
	if err != nil || a.Mode != 0o660 {
		t.Errorf("with a default list: mode %o, %v, want 660", a.Mode, err)
	}
	may("by the default list", user(1001, 1001), true, true)
	may("not by the default list", user(1002, 1002), false, false)
}

// TestUmask creates with all bits under a umask that would take most.
func TestUmask(t *testing.T) {
	defer unix.Umask(unix.Umask(0o077))
	f := open(t, Config{AsyncMetadata: true})
	noError(t, f.Setattr(root(), f.root, &vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o777}, nil, nil))
	s := &vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o777}
	for _, c := range []*vfs.Call{root(), user(1001, 1001)} {
		dir := mkdir(t, f, f.root, "dir")
		noError(t, f.Setattr(root(), dir, s, nil, nil))
		var file, sub, fifo vfs.Attr
		_, err := f.Create(c, dir, "file", vfs.CreateGuarded, [8]byte{}, s, &file, nil)
		noError(t, err)
		_, err = f.Mkdir(c, dir, "sub", s, &sub, nil)
		noError(t, err)
		_, err = f.Mknod(c, dir, "fifo", vfs.TypeFIFO, 0, 0, s, &fifo, nil)
		noError(t, err)
		if file.Mode != 0o777 || sub.Mode != 0o777 || fifo.Mode != 0o777 {
			t.Errorf("modes %o, %o and %o", file.Mode, sub.Mode, fifo.Mode)
		}
		noError(t, f.Rename(root(), f.root, "dir", f.root, "done", nil, nil))
		noError(t, os.RemoveAll(filepath.Join(pathOf(t, f), "done")))
	}
	if now := unix.Umask(0o077); now != 0o077 {
		t.Errorf("the umask of the process has become %o", now)
	}
}

func pathOf(t *testing.T, f *FS) string {
	t.Helper()
	p, err := f.pathOf(f.root.mount.root)
	noError(t, err)
	return p
}

// TestThreadsAreThemselves looks whether threads that acted as callers are the
// server's again.
func TestThreadsAreThemselves(t *testing.T) {
	f := open(t, Config{AsyncMetadata: true})
	noError(t, f.Setattr(root(), f.root, &vfs.SetAttr{Mask: vfs.AttrMode, Mode: 0o777}, nil, nil))
	before := f.server
	done := make(chan error)
	for n := range 8 {
		go func() {
			c := user(uint32(2000+n), 2000, 7, 8, 9)
			for k := range 100 {
				name := string(rune('a'+n)) + string(rune('0'+k%10))
				if _, err := f.Create(c, f.root, name, vfs.CreateUnchecked, [8]byte{}, new(vfs.SetAttr), nil, nil); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		noError(t, <-done)
	}
	for range 50 {
		now, err := newServer()
		noError(t, err)
		uid, _ := unix.SetfsuidRetUid(-1)
		gid, _ := unix.SetfsgidRetGid(-1)
		if now.caps != before.caps || uint32(uid) != before.cred.UID || uint32(gid) != before.cred.GID || len(now.cred.Groups) != len(before.cred.Groups) {
			t.Fatalf("a thread is %+v with %d and %d, was %+v", now, uid, gid, before)
		}
	}
}

// TestDescriptorsExhausted leaves the process without descriptors: calls are
// told to come again, and work when there are some.
func TestDescriptorsExhausted(t *testing.T) {
	f := open(t, Config{AsyncMetadata: true})
	o := create(t, f, f.root, "file", "contents")
	h := f.AppendHandle(nil, o)
	var was unix.Rlimit
	noError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &was))
	none := was
	none.Cur = 3
	f.files.clear(f)
	noError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &none))
	_, err1 := read(f, o)
	_, err2 := f.Create(root(), f.root, "new", vfs.CreateGuarded, [8]byte{}, new(vfs.SetAttr), nil, nil)
	_, err3 := f.Lookup(root(), f.root, "file", nil)
	noError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &was))
	for _, err := range []error{err1, err2, err3} {
		if vfs.Cause(err) != vfs.ErrDelay {
			t.Errorf("without descriptors: %v", err)
		}
	}
	served(t, f, "with descriptors", h)
}

// TestDescriptorsGivenUp has the cache hold all descriptors there are.
func TestDescriptorsGivenUp(t *testing.T) {
	f := open(t, Config{MaxOpenFiles: 1 << 20, AsyncMetadata: true})
	var was unix.Rlimit
	noError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &was))
	few := was
	few.Cur = 100
	noError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &was)
	for n := range 300 {
		create(t, f, f.root, "file-"+string(rune('a'+n%26))+string(rune('a'+n/26)), "contents")
	}
}

// TestNobody runs the conformance kit again as a user without rights.
func TestNobody(t *testing.T) {
	dir := t.TempDir()
	noError(t, os.Chmod(filepath.Dir(dir), 0o755)) // t.TempDir's own
	noError(t, os.Chmod(dir, 0o777))
	exe, err := os.Executable()
	noError(t, err)
	binary, err := os.ReadFile(exe)
	noError(t, err)
	mine := filepath.Join(dir, "local.test")
	noError(t, os.WriteFile(mine, binary, 0o755))
	cmd := exec.Command(mine, "-test.run=^TestUnprivileged$", "-test.v=true")
	cmd.Dir = dir
	cmd.Env = []string{"TMPDIR=" + dir, "EDDY_TEST_NOBODY=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestUnprivileged(t *testing.T) {
	if os.Getenv("EDDY_TEST_NOBODY") == "" {
		return // TestNobody runs it
	}
	cred := vfs.Cred{UID: uint32(os.Getuid()), GID: uint32(os.Getgid())}
	vfstest.Run(t, vfstest.Config{Cred: cred, New: func(t testing.TB) vfs.FS {
		f := open(t, Config{})
		f.syncHook = func(target) error { return nil }
		if d := f.Describe(); d.Identity != IdentityServer || d.Handles != HandlesMap {
			t.Fatalf("%+v", d)
		}
		return f
	}})
}
