package local

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// perms are the permissions that callers were found to have on one inode. The
// kernel was asked for them, so access control lists count.
type perms struct {
	mu      sync.Mutex
	answers []answer
	next    int // to be replaced
}

// answer is what the kernel said about a caller when the inode had a ctime. A
// change of mode, owner or list changes that.
type answer struct {
	uid, gid       uint32
	groups         uint64 // their hash
	ctime          int64
	known, allowed vfs.Perm
	passing        vfs.Perm // known now: refused for a reason that passes without a new ctime
}

// maxAnswers bounds the callers that are remembered for an inode.
const maxAnswers = 16

// settled is how old a ctime has to be to tell that nothing has changed since:
// it may be as coarse as the kernel's tick.
const settled = 50 * time.Millisecond

// get finds what is known of a caller.
func (p *perms) get(a *answer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.answers {
		if x.uid == a.uid && x.gid == a.gid && x.groups == a.groups && x.ctime == a.ctime {
			a.known, a.allowed = x.known, x.allowed
			return true
		}
	}
	return false
}

func (p *perms) put(a *answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.answers, func(x answer) bool {
		return x.uid == a.uid && x.gid == a.gid && x.groups == a.groups
	})
	switch {
	case at >= 0:
		p.answers[at] = *a
	case len(p.answers) < maxAnswers:
		p.answers = append(p.answers, *a)
	default:
		p.answers[p.next%maxAnswers] = *a
		p.next++
	}
}

// allowed returns those of want that the caller has on i, which has the
// attributes st.
func (f *FS) allowed(c *vfs.Call, i *inode, st *unix.Statx_t, want vfs.Perm) (vfs.Perm, error) {
	if f.server.isRoot(c) {
		if i.isDir() || st.Mode&0o111 != 0 {
			return want, nil
		}
		return want &^ vfs.PermExec, nil
	}
	who := f.server.who(c)
	a := answer{uid: who.UID, gid: who.GID, groups: f.hashGroups(who.Groups), ctime: nanoseconds(st.Ctime)}
	i.perms.get(&a)
	if missing := want &^ a.known; missing != 0 {
		if !c.MayWait {
			return 0, vfs.ErrWouldBlock
		}
		if err := f.ask(c, i, st, missing, &a); err != nil {
			return 0, err
		}
		if f.clock.Now().UnixNano()-a.ctime > int64(settled) {
			a.known &^= a.passing
			i.perms.put(&a)
		}
	}
	return a.allowed & want, nil
}

// ask asks the kernel. One before 5.8 can't tell for a descriptor: then the
// mode says it.
func (f *FS) ask(c *vfs.Call, i *inode, st *unix.Statx_t, want vfs.Perm, a *answer) error {
	h, err := f.hold(c, i, gradePath)
	if err != nil {
		return err
	}
	defer h.release()
	as := f.server.as(c, 0)
	defer as.done()
	for _, p := range [...]struct {
		perm vfs.Perm
		mode uint32
	}{{vfs.PermRead, unix.R_OK}, {vfs.PermWrite, unix.W_OK}, {vfs.PermExec, unix.X_OK}} {
		if want&p.perm == 0 {
			continue
		}
		a.known |= p.perm
		switch err := faccessat2(h.fd, nowhere.ptr(), p.mode, unix.AT_EMPTY_PATH|unix.AT_EACCESS); err {
		case nil:
			a.allowed |= p.perm
		case unix.EACCES, unix.EPERM:
		case unix.EROFS, unix.ETXTBSY:
			a.passing |= p.perm
		case unix.ENOSYS:
			mode := vfs.Attr{Type: i.typ, Mode: uint32(st.Mode), UID: st.Uid, GID: st.Gid}
			if f.server.who(c).Check(&mode, p.perm) == nil {
				a.allowed |= p.perm
			}
		default:
			return vfs.Cause(err)
		}
	}
	return nil
}

// check returns vfs.ErrAccess unless the caller has all of want, and
// vfs.ErrReadOnly if nobody can have that.
func (f *FS) check(c *vfs.Call, i *inode, st *unix.Statx_t, want vfs.Perm) error {
	have, err := f.allowed(c, i, st, want)
	if err != nil || have == want {
		return err
	}
	if want&^have&vfs.PermWrite != 0 && i.mount.readOnly() {
		return vfs.ErrReadOnly
	}
	return vfs.ErrAccess
}

// checkData is check for a file's data: the owner always may, and what may be
// executed may be read (vfs.Cred.CheckIO).
func (f *FS) checkData(c *vfs.Call, i *inode, st *unix.Statx_t, want vfs.Perm) error {
	if f.server.who(c).UID == st.Uid {
		return nil
	}
	err := f.check(c, i, st, want)
	if err == vfs.ErrAccess && want == vfs.PermRead {
		err = f.check(c, i, st, vfs.PermExec)
	}
	return err
}

// hashGroups stands for a list of groups. Its seed is this process's secret, so
// that nobody can look for two lists with one hash.
func (f *FS) hashGroups(groups []uint32) uint64 {
	sum := uint64(len(groups))
	for _, g := range groups {
		sum = maphash.Comparable(f.seed, [2]uint64{sum, uint64(g)})
	}
	return sum
}

// Access answers ACCESS, with what the kernel says about reading, writing and
// executing.
func (f *FS) Access(c *vfs.Call, o vfs.Object, want vfs.Access) (vfs.Access, error) {
	i := o.(*inode)
	var st unix.Statx_t
	if err := f.stat(c, i, &st); err != nil {
		return 0, err
	}
	f.leave(c, i, &st)
	perm, err := f.allowed(c, i, &st, vfs.PermRead|vfs.PermWrite|vfs.PermExec)
	if err != nil {
		return 0, err
	}
	// A vfs.Cred's answer to a mode that says the same.
	a := vfs.Attr{Type: i.typ, Mode: uint32(perm)}
	other := vfs.Cred{UID: 1, GID: 1}
	return other.Access(&a, want), nil
}
