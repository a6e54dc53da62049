package local

import (
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"eddy.example/vfs"
)

// The kernel checks what a caller may do, and gives what he makes to him, if
// the thread has his fsuid, fsgid and groups, and no capability. They are set by
// raw system calls: those of the standard library change all threads. Whatever
// is worked on has been opened before.

// server is whom the process is.
type server struct {
	clients bool // calls can be carried out as their callers
	cred    vfs.Cred
	caps    [2]unix.CapUserData
}

const (
	capDACReadSearch = 1 << unix.CAP_DAC_READ_SEARCH
	capsNeeded       = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID | 1<<unix.CAP_DAC_OVERRIDE |
		1<<unix.CAP_FOWNER | 1<<unix.CAP_CHOWN
)

// newServer looks at the process.
func newServer() (*server, error) {
	s := &server{cred: vfs.Cred{UID: uint32(unix.Geteuid()), GID: uint32(unix.Getegid())}}
	groups, err := unix.Getgroups()
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		s.cred.Groups = append(s.cred.Groups, uint32(g))
	}
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&hdr, &s.caps[0]); err != nil {
		return nil, err
	}
	s.clients = s.caps[0].Effective&capsNeeded == capsNeeded
	return s, nil
}

// who is the identity under which a call is carried out.
func (s *server) who(c *vfs.Call) *vfs.Cred {
	if s.clients {
		return &c.Cred
	}
	return &s.cred
}

// isRoot reports whether the call may everything.
func (s *server) isRoot(c *vfs.Call) bool { return s.clients && c.Cred.UID == 0 }

// acting is a thread that has a caller's identity.
type acting struct {
	*server
	limited bool // without capabilities
	grouped bool // with the caller's groups
}

// as gives the thread the caller's identity until done is called, by the same
// goroutine. keep are capabilities that stay.
func (s *server) as(c *vfs.Call, keep uint32) acting {
	cred := &c.Cred
	if !s.clients || cred.UID == 0 && s.cred.UID == 0 && cred.GID == s.cred.GID {
		return acting{}
	}
	runtime.LockOSThread()
	a := acting{server: s}
	if cred.UID != 0 {
		a.limited = true
		if !slices.Equal(cred.Groups, s.cred.Groups) {
			a.grouped = true
			must(setGroups(cred.Groups))
		}
	}
	must(setFSGID(cred.GID))
	must(setFSUID(cred.UID))
	if a.limited {
		caps := s.caps
		caps[0].Effective &= keep
		caps[1].Effective = 0
		must(setCaps(&caps))
	}
	return a
}

// done gives the thread its own identity back.
func (a acting) done() {
	if a.server == nil {
		return
	}
	if a.limited {
		must(setCaps(&a.caps))
	}
	must(setFSUID(a.cred.UID))
	must(setFSGID(a.cred.GID))
	if a.limited {
		must(setCaps(&a.caps)) // setfsuid has its own idea of them
	}
	if a.grouped {
		must(setGroups(a.cred.Groups))
	}
	runtime.UnlockOSThread()
}

// must ends a goroutine whose thread has an identity that could not be
// changed. It is locked to the thread, which ends with it: nobody else gets to
// run there.
func must(ok bool) {
	if !ok {
		runtime.Goexit()
	}
}

func setFSUID(id uint32) bool { return setID(sysSetFSUID, id) }
func setFSGID(id uint32) bool { return setID(sysSetFSGID, id) }

// setID sets an id and asks for it: the call does not tell whether it did.
func setID(trap uintptr, id uint32) bool {
	unix.RawSyscall(trap, uintptr(id), 0, 0)
	now, _, _ := unix.RawSyscall(trap, uintptr(^uint32(0)), 0, 0)
	return uint32(now) == id
}

func setGroups(groups []uint32) bool {
	_, _, e := unix.RawSyscall(sysSetGroups, uintptr(len(groups)), uintptr(unsafe.Pointer(unsafe.SliceData(groups))), 0)
	return e == 0
}

func setCaps(caps *[2]unix.CapUserData) bool {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	_, _, e := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&hdr)), uintptr(unsafe.Pointer(caps)), 0)
	return e == 0
}
