package inguest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"eddy.example/internal/e2e/guest"
	"eddy.example/internal/kernelclient"
	"eddy.example/internal/loopfs"
	"eddy.example/nfs3"
)

// A server of root's is one whose threads could go beyond any quota: they have
// CAP_SYS_RESOURCE. It must not for its clients' users.
func TestQuota(t *testing.T) {
	eddy := build(t, "0")
	guest.Each(t, func(t *testing.T, k *kernelclient.Kernel) {
		files := map[string]string{static: eddy}
		for _, p := range []string{"mkfs.ext4", "mkfs.xfs", "mount", "umount"} {
			files["/usr/bin/"+p] = find(t, p)
		}
		run(t, k, "Quota", kernelclient.Config{
			Files:   files,
			Modules: []string{"loop", "xfs", "quota_v2"},
		}, "modprobe -a loop xfs quota_v2")
	})
}

// The users of the guest. The limits are user1's.
const (
	user1, user2 = 1001, 1002

	hard   = 4 << 20 // bytes
	inodes = 12
)

// quota is the deed.
func quota(t *testing.T) {
	for _, fs := range []struct {
		kind     string
		options  []string
		override bool // CAP_SYS_RESOURCE counts
	}{
		{"ext4", []string{"-O", "quota", "-E", "quotatype=usrquota", "-o", "usrquota"}, true},
		{"xfs", []string{"-o", "uquota"}, false},
	} {
		t.Run(fs.kind, func(t *testing.T) {
			q := &quotas{dir: loopfs.New(t, fs.kind, 320, fs.options...), override: fs.override}
			q.daemon = start(t, exec.Command(static, arguments(q.dir)...))
			q.ok(os.Chmod(q.dir, 0o777))
			t.Run("blocks", q.run((*quotas).blocks))
			t.Run("commit", q.run((*quotas).commit))
			t.Run("inodes", q.run((*quotas).inodes))
			t.Run("kernel client", q.run((*quotas).kernelClient))
		})
	}
}

// quotas is a server of a file system with quotas.
type quotas struct {
	*daemon
	dir      string
	override bool
}

// run makes a subtest of what is done with the limits of the start.
func (q *quotas) run(do func(*quotas)) func(*testing.T) {
	return func(t *testing.T) {
		defer func(outer *testing.T) { q.t = outer }(q.t)
		q.t = t
		q.limit(hard, inodes)
		do(q)
		if !t.Failed() {
			q.until(0)
		}
	}
}

// limit sets what user1 may have.
func (q *quotas) limit(bytes, inodes int) {
	q.t.Helper()
	q.ok(quotactl(setQuota, q.dir, user1, &dqblk{BHardLimit: uint64(bytes) >> 10, IHardLimit: uint64(inodes), Valid: qifLimits}))
}

// until waits until user1 has so many inodes: XFS gives back what was removed in
// its own time.
func (q *quotas) until(inodes int) {
	q.t.Helper()
	for {
		var d dqblk
		q.ok(quotactl(getQuota, q.dir, user1, &d))
		if d.CurInodes == uint64(inodes) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// create is a CREATE.
func create(c *nfs3.Client, dir []byte, name string) ([]byte, error) {
	how := nfs3.Createhow3{Mode: nfs3.UNCHECKED, ObjAttributes: nfs3.Sattr3{Mode: nfs3.SetMode3{SetIt: true, Mode: 0o666}}}
	res, err := c.Create(ctx, dir, name, &how)
	return res.Resok.Obj.Handle.Data, err
}

func (q *quotas) create(c *nfs3.Client, dir []byte, name string) []byte {
	q.t.Helper()
	fh, err := create(c, dir, name)
	q.ok(err)
	return fh
}

// chunk is what one WRITE has. No quota is a multiple of it.
const chunk = 60_000

// fill writes data from off on until there are no more, or the quota is full, and
// returns where that is.
func (q *quotas) fill(c *nfs3.Client, fh, data []byte, off int, how nfs3.StableHow) int {
	q.t.Helper()
	for off < len(data) {
		res, err := c.Write(ctx, fh, data[off:min(off+chunk, len(data))], uint64(off), how)
		if err != nil {
			q.is(nfs3.NFS3ERR_DQUOT, "WRITE over the quota", err)
			break
		}
		off += int(res.Resok.Count)
	}
	return off
}

// bounded checks that n bytes are what a quota has let in. XFS and ext4 need some
// for what is not data.
func (q *quotas) bounded(n, limit int) {
	q.t.Helper()
	if n > limit || n < limit-limit/8 {
		q.t.Errorf("%d bytes could be written with a quota of %d", n, limit)
	}
}

func (q *quotas) has(name string, data []byte) {
	q.t.Helper()
	got, err := os.ReadFile(filepath.Join(q.dir, name))
	q.ok(err)
	if !bytes.Equal(got, data) {
		q.t.Errorf("%s has %d bytes, which are not the %d that were acknowledged", name, len(got), len(data))
	}
}

// blocks fills the quota with stable WRITEs.
func (q *quotas) blocks() {
	c, top := q.mount(user1)
	data := pattern(4 * hard)
	fh, other := q.create(c, top, "file"), q.create(c, top, "other")
	n := q.fill(c, fh, data, 0, nfs3.FILE_SYNC)
	q.bounded(n, hard)
	q.has("file", data[:n])

	// It goes for all that the user has, and for nobody else.
	q.is(nfs3.NFS3ERR_DQUOT, "WRITE to another file", drop(c.Write(ctx, other, data[:1<<20], 0, nfs3.FILE_SYNC)))
	for _, uid := range []uint32{user2, 0} {
		c, top := q.mount(uid)
		name := fmt.Sprint("of", uid)
		if n := q.fill(c, q.create(c, top, name), data[:2*hard], 0, nfs3.FILE_SYNC); n != 2*hard {
			q.t.Errorf("user %d could write %d bytes, who has no quota", uid, n)
		}
		q.ok(drop(c.Remove(ctx, top, name)))
	}
	// Root has the server's capabilities, which is to show that they count.
	r, _ := q.mount(0)
	want := nfs3.NFS3ERR_DQUOT
	if q.override {
		want = nfs3.NFS3_OK
	}
	q.is(want, "root's WRITE to a file of the user's", drop(r.Write(ctx, other, data[:1<<20], 0, nfs3.FILE_SYNC)))
	q.ok(drop(c.Remove(ctx, top, "other")))

	// It goes on when there is more,
	q.limit(2*hard, inodes)
	n = q.fill(c, fh, data, n, nfs3.FILE_SYNC)
	q.bounded(n, 2*hard)
	q.has("file", data[:n])
	// and when the user has made room.
	q.ok(drop(c.Remove(ctx, top, "file")))
	q.until(0)
	fh = q.create(c, top, "file")
	if n := q.fill(c, fh, data[:hard], 0, nfs3.FILE_SYNC); n != hard {
		q.t.Errorf("%d bytes could be written after the file was removed", n)
	}
	q.ok(drop(c.Remove(ctx, top, "file")))
}

// commit fills it with unstable ones: what was acknowledged has to be there after
// the COMMIT.
func (q *quotas) commit() {
	c, top := q.mount(user1)
	data := pattern(2 * hard)
	fh := q.create(c, top, "file")
	n := q.fill(c, fh, data, 0, nfs3.UNSTABLE)
	q.bounded(n, hard)
	q.ok(drop(c.Commit(ctx, fh, 0, 0)))
	q.has("file", data[:n])
	q.ok(drop(c.Remove(ctx, top, "file")))
}

// inodes makes more files than the user may have.
func (q *quotas) inodes() {
	c, top := q.mount(user1)
	makes := map[string]func(c *nfs3.Client, top []byte, name string) error{
		"CREATE": func(c *nfs3.Client, top []byte, name string) error { return drop(create(c, top, name)) },
		"MKDIR": func(c *nfs3.Client, top []byte, name string) error {
			return drop(c.Mkdir(ctx, top, name, new(nfs3.Sattr3)))
		},
		"SYMLINK": func(c *nfs3.Client, top []byte, name string) error {
			return drop(c.Symlink(ctx, top, name, "x", new(nfs3.Sattr3)))
		},
		"MKNOD": func(c *nfs3.Client, top []byte, name string) error {
			return drop(c.Mknod(ctx, top, name, &nfs3.Mknoddata3{Type: nfs3.NF3FIFO}))
		},
	}
	var made []string
	for n := range 2 * inodes {
		name := fmt.Sprint("file", n)
		err := makes["CREATE"](c, top, name)
		if err != nil {
			q.is(nfs3.NFS3ERR_DQUOT, "CREATE over the quota", err)
			break
		}
		made = append(made, name)
	}
	if len(made) != inodes {
		q.t.Errorf("%d files could be made with a quota of %d", len(made), inodes)
	}
	u2, top2 := q.mount(user2)
	r, topR := q.mount(0)
	for what, make := range makes {
		q.is(nfs3.NFS3ERR_DQUOT, what+" over the quota", make(c, top, what))
		q.is(nfs3.NFS3ERR_NOENT, "LOOKUP of what could not be made", drop(c.Lookup(ctx, top, what)))
		q.is(nfs3.NFS3_OK, what+" of another user", make(u2, top2, what+"2"))
		q.is(nfs3.NFS3_OK, what+" of root", make(r, topR, what+"R"))
	}
	q.ok(drop(c.Remove(ctx, top, made[0])))
	q.until(inodes - 1)
	q.is(nfs3.NFS3_OK, "CREATE after a REMOVE", makes["CREATE"](c, top, made[0]))
	q.is(nfs3.NFS3ERR_DQUOT, "one more", makes["MKDIR"](c, top, "dir"))
	q.limit(hard, inodes+1)
	q.is(nfs3.NFS3_OK, "MKDIR after the quota was raised", makes["MKDIR"](c, top, "dir"))
	q.ok(drop(c.Rmdir(ctx, top, "dir")))
	for _, name := range made {
		q.ok(drop(c.Remove(ctx, top, name)))
	}
}

// kernelClient has the guest's own client write as user1.
func (q *quotas) kernelClient() {
	_, port, _ := strings.Cut(q.addr, ":")
	mount := exec.Command("bash", "-c", ". /kc/env\n. /kc/lib\nSERVER=127.0.0.1 PORT="+port+" MOUNTPORT="+port+" kc_mount 3 /mnt/nfs")
	if out, err := mount.CombinedOutput(); err != nil {
		q.t.Fatalf("mounting: %v: %s", err, out)
	}
	defer func() { q.ok(loopfs.Unmount("/mnt/nfs")) }()
	write := func(uid uint32, mib int) error {
		cmd := exec.Command("dd", "if=/dev/zero", fmt.Sprint("of=/mnt/nfs/by", uid), "bs=1M", fmt.Sprint("count=", mib), "conv=fsync")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		if out, err := cmd.CombinedOutput(); err != nil {
			return errors.New(string(out))
		}
		return nil
	}
	if err := write(user1, 2*hard>>20); err == nil || !strings.Contains(err.Error(), "Disk quota exceeded") {
		q.t.Errorf("over the quota: %v", err)
	}
	q.ok(write(user1, hard>>21))
	q.ok(write(user2, 2*hard>>20))
	q.ok(write(0, 2*hard>>20))
	for _, uid := range []uint32{user1, user2, 0} {
		q.ok(os.Remove(fmt.Sprint("/mnt/nfs/by", uid)))
	}
}

// pattern is n bytes that are not the same everywhere.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*31>>3 + i)
	}
	return b
}
