package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"eddy.example/nfs3"
	"eddy.example/rpc"
)

// hint is an error with a line that says what to do about it.
type hint struct {
	line string
	err  error
}

func (h *hint) Error() string { return h.line }
func (h *hint) Unwrap() error { return h.err }

func hintf(err error, format string, args ...any) error {
	return &hint{fmt.Sprintf(format, args...), err}
}

// explainDial says why a port was not reached.
func explainDial(l *location, port uint16, err error) error {
	at := l.hostPort(port)
	switch {
	case isNoHost(err):
		return hintf(err, "%s: there is no host of this name", l.host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return hintf(err, "%s: nobody listens there: start the server, or give its port, nfs://HOST:PORT/…", at)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return hintf(err, "%s: no way leads there: check address and network", at)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		return hintf(err, "%s: no answer: is the host up, and does a firewall let port %d through?", at, port)
	}
	return hintf(err, "%s: %v", at, err)
}

// highPort is what to do when a server minds the port of a user who is not
// root.
func highPort() string {
	if os.Geteuid() == 0 {
		return ""
	}
	return "; a user's port is above 1023: run as root, or let it in there (eddy: --insecure-ports, Linux: insecure)"
}

// explainMount says why no export was found.
func (r *remote) explainMount(err error, exports []string, listErr error) error {
	switch {
	case errors.Is(err, nfs3.NFS3ERR_ACCES), errors.Is(err, nfs3.NFS3ERR_PERM):
		return hintf(err, "%s: the server does not let this machine in: its address has to be among the export's networks%s", r.at, highPort())
	case errors.Is(err, nfs3.NFS3ERR_NOENT), errors.Is(err, nfs3.NFS3ERR_NOTDIR), errors.Is(err, nfs3.NFS3ERR_INVAL):
		switch {
		case listErr != nil:
			return hintf(err, "%s: the server has no such export, and does not say which it has", r.at)
		case len(exports) == 0:
			return hintf(err, "%s: the server exports nothing", r.at)
		}
		var list []string
		for _, x := range exports {
			list = append(list, printable(x))
		}
		return hintf(err, "%s: no such export: there are %s", r.at, strings.Join(list, ", "))
	}
	return explainProgram(r.at.host, "MOUNT", err)
}

// explainProgram says why a program did not answer as one.
func explainProgram(where, program string, err error) error {
	mismatch, isMismatch := errors.AsType[*rpc.MismatchError](err)
	_, isAuth := errors.AsType[*rpc.AuthError](err)
	switch {
	case errors.Is(err, rpc.ErrProgUnavail):
		return hintf(err, "%s: something answers, but it has no %s program: give its port by nfsport= or mountport=", where, program)
	case isMismatch:
		return hintf(err, "%s: it has %s in versions %d to %d, and 3 is needed", where, program, mismatch.Low, mismatch.High)
	case isAuth:
		return hintf(err, "%s: the server wants another kind of identity than a user's number (AUTH_SYS)%s", where, highPort())
	case errors.Is(err, rpc.ErrConnection), errors.Is(err, rpc.ErrBadReply):
		return hintf(err, "%s: it does not speak %s as it should: is this the right port? (%v)", where, program, err)
	}
	return hintf(err, "%s: %s: %v", where, program, err)
}

// explain says what went wrong with the object that where names.
func (r *remote) explain(where string, err error) error {
	if _, ok := errors.AsType[*hint](err); ok || err == nil {
		return err
	}
	status, isStatus := errors.AsType[*nfs3.Error](err)
	if !isStatus {
		return explainProgram(where, "NFS", err)
	}
	switch status.Status {
	case nfs3.NFS3ERR_NOENT:
		return hintf(err, "%s: no such file or directory", where)
	case nfs3.NFS3ERR_ACCES, nfs3.NFS3ERR_PERM:
		who := fmt.Sprintf("uid %d, gid %d", r.cred.UID, r.cred.GID)
		if r.cred.UID == 0 {
			who += ": many servers take root for nobody"
		}
		return hintf(err, "%s: permission denied for %s (options uid= and gid= ask as another)%s", where, who, highPort())
	case nfs3.NFS3ERR_EXIST:
		return hintf(err, "%s: it exists already", where)
	case nfs3.NFS3ERR_NOTDIR:
		return hintf(err, "%s: not a directory", where)
	case nfs3.NFS3ERR_ISDIR:
		return hintf(err, "%s: is a directory", where)
	case nfs3.NFS3ERR_NOTEMPTY:
		return hintf(err, "%s: directory is not empty", where)
	case nfs3.NFS3ERR_ROFS:
		return hintf(err, "%s: the server exports it for reading only", where)
	case nfs3.NFS3ERR_NOSPC:
		return hintf(err, "%s: no space is left on the server", where)
	case nfs3.NFS3ERR_DQUOT:
		return hintf(err, "%s: the quota on the server is used up", where)
	case nfs3.NFS3ERR_STALE:
		return hintf(err, "%s: it was removed meanwhile", where)
	case nfs3.NFS3ERR_JUKEBOX:
		return hintf(err, "%s: the server needs time for it: try again later", where)
	case nfs3.NFS3ERR_NOTSUPP:
		return hintf(err, "%s: the server does not do that (%s)", where, status.Proc)
	}
	return hintf(err, "%s: %s: %s", where, status.Proc, status.Status)
}

// explainLocal is explain for a file of this machine.
func explainLocal(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return hintf(err, "%s: %v", p.Path, p.Err)
	}
	return err
}
