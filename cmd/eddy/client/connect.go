package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"eddy.example/nfs3"
	"eddy.example/rpc"
	"eddy.example/rpc/rpcbind"
)

// Where NFS is if nobody tells, and how long reaching a host may take.
const (
	nfsPort  = 2049
	dialTime = 10 * time.Second
)

// remote is a connection to an export.
type remote struct {
	*nfs3.Client // NFS
	mount        *nfs3.Client
	at           *location
	cred         *rpc.Cred
	export       string // its path
	root         []byte // its handle
	rtmax, wtmax uint32 // longest READ and WRITE that are made
}

// connect reaches the export that has l's path in it. Errors say what to do.
func connect(e *env, l *location) (*remote, error) {
	r := &remote{at: l, cred: credential(l)}
	if err := r.dial(e); err != nil {
		return nil, err
	}
	if err := r.attach(e.ctx); err != nil {
		r.close()
		return nil, err
	}
	r.limits(e.ctx)
	return r, nil
}

// open parses a URL and connects.
func open(e *env, s string) (*remote, error) {
	l, err := parseURL(s)
	if err != nil {
		return nil, err
	}
	return connect(e, l)
}

// credential is who the user is, unless the URL says otherwise.
func credential(l *location) *rpc.Cred {
	c := &rpc.Cred{Flavor: rpc.AUTH_SYS, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
	if l.uid < 0 && l.gid < 0 {
		groups, _ := os.Getgroups() // none is no failure
		for _, g := range groups {
			c.GIDs = append(c.GIDs, uint32(g))
		}
	}
	if l.uid >= 0 {
		c.UID = uint32(l.uid)
	}
	if l.gid >= 0 {
		c.GID = uint32(l.gid)
	}
	if host, err := os.Hostname(); err == nil {
		c.Machine = []byte(host)
	}
	return c
}

// dial finds the ports and connects to them.
func (r *remote) dial(e *env) error {
	ctx, cancel := context.WithTimeout(e.ctx, dialTime)
	defer cancel()
	nfs, mount, err := ports(ctx, e, r.at)
	if err != nil {
		return err
	}
	if r.Client, err = r.dialPort(ctx, nfs); err != nil {
		return explainDial(r.at, nfs, err)
	}
	r.mount = r.Client
	if mount != nfs {
		if r.mount, err = r.dialPort(ctx, mount); err != nil {
			r.Client.Close()
			return explainDial(r.at, mount, err)
		}
	}
	return nil
}

func (r *remote) dialPort(ctx context.Context, port uint16) (*nfs3.Client, error) {
	conn, err := dial(ctx, r.at.hostPort(port))
	if err != nil {
		return nil, err
	}
	return nfs3.NewClient(rpc.NewClient(conn, rpc.ClientConfig{}), r.cred), nil
}

// ports are those of NFS and MOUNT: what the URL says, what rpcbind says, or
// the usual one.
func ports(ctx context.Context, e *env, l *location) (nfs, mount uint16, err error) {
	nfs, mount = l.nfsPort, l.mountPort
	if nfs != 0 && mount != 0 {
		return nfs, mount, nil
	}
	c, err := rpcbind.Dial(ctx, "tcp", l.host)
	if err != nil {
		if errors.Is(err, context.Canceled) || isNoHost(err) {
			return 0, 0, explainDial(l, rpcbind.Port, err)
		}
		e.say("no rpcbind answers at %s, trying port %d for NFS and MOUNT", l.hostPort(rpcbind.Port), nfsPort)
		return cmpOr(nfs, nfsPort), cmpOr(mount, nfs, nfsPort), nil
	}
	defer c.Close()
	for _, p := range []struct {
		name string
		prog uint32
		port *uint16
	}{{"NFS", nfs3.NFS_PROGRAM, &nfs}, {"MOUNT", nfs3.MOUNT_PROGRAM, &mount}} {
		if *p.port != 0 {
			continue
		}
		if *p.port, err = c.GetPort(ctx, p.prog, 3, "tcp"); err != nil {
			return 0, 0, fmt.Errorf("rpcbind at %s: %w: give the server's port, nfs://HOST:PORT/…", l.hostPort(rpcbind.Port), err)
		}
		if *p.port == 0 {
			return 0, 0, fmt.Errorf("%s: rpcbind there knows no %s version 3 over TCP: start the server, or give its port, nfs://HOST:PORT/…", l.host, p.name)
		}
	}
	return nfs, mount, nil
}

func cmpOr(ports ...uint16) uint16 {
	for _, p := range ports {
		if p != 0 {
			return p
		}
	}
	return 0
}

// attach mounts the export that the path belongs to: the longest in the
// server's list or, where it keeps that to itself, the first that it lets us have.
func (r *remote) attach(ctx context.Context) error {
	exports, listErr := r.exports(ctx)
	var failed error
	for _, p := range candidates(r.at.path, exports) {
		fh, err := r.mount.Mount(ctx, p)
		if err == nil {
			r.export, r.root = p, fh
			return nil
		}
		if failed == nil || errors.Is(err, nfs3.NFS3ERR_ACCES) {
			failed = err
		}
		if _, isStatus := errors.AsType[*nfs3.Error](err); !isStatus {
			break // not the path's fault
		}
	}
	return r.explainMount(failed, exports, listErr)
}

func (r *remote) exports(ctx context.Context) (paths []string, err error) {
	list, err := r.mount.Exports(ctx)
	for _, x := range list {
		paths = append(paths, string(x.ExDir))
	}
	return paths, err
}

// candidates are the exports that may have p in them: of those listed the
// longest, then p and all directories above it from the root down.
func candidates(p string, exports []string) (list []string) {
	for _, x := range exports {
		if below(p, x) {
			list = append(list, x)
		}
	}
	if len(list) > 0 {
		slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
		return list[:1]
	}
	for ; p != "/"; p = path.Dir(p) {
		list = append(list, p)
	}
	list = append(list, "/")
	slices.Reverse(list)
	return list
}

// below reports whether p is dir or lies below it.
func below(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// Sizes of transfers where the server does not say any, and the longest.
const (
	defaultTransfer = 32 << 10
	maxTransfer     = 1 << 20
)

// limits asks how long READ and WRITE may be.
func (r *remote) limits(ctx context.Context) {
	r.rtmax, r.wtmax = defaultTransfer, defaultTransfer
	info, err := r.Fsinfo(ctx, r.root)
	if err != nil {
		return
	}
	if n := info.Resok.Rtmax; n > 0 {
		r.rtmax = min(n, maxTransfer)
	}
	if n := info.Resok.Wtmax; n > 0 {
		r.wtmax = min(n, maxTransfer)
	}
}

// close tells the server that the export is not mounted any more, if it cares,
// and ends the connections.
func (r *remote) close() {
	if r.root != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		r.mount.Unmount(ctx, r.export)
		cancel()
	}
	if r.mount != r.Client {
		r.mount.Close()
	}
	r.Client.Close()
}

// isNoHost tells that there is no such host at all.
func isNoHost(err error) bool {
	_, ok := errors.AsType[*net.DNSError](err)
	return ok
}
