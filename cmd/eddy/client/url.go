package client

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// location is what a URL says. Ports are 0 and ids negative if it does not say
// them.
type location struct {
	host               string
	nfsPort, mountPort uint16
	path               string // clean and absolute
	uid, gid           int64
}

const scheme = "nfs://"

// isRemote tells URLs from names of local files.
func isRemote(s string) bool { return strings.HasPrefix(s, scheme) }

func parseURL(s string) (*location, error) {
	if !isRemote(s) {
		return nil, fmt.Errorf("%s: not a URL: write nfs://HOST[:PORT]/PATH", s)
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("%s: not a URL: %v", s, unwrapURL(err))
	}
	l := &location{host: u.Hostname(), path: path.Clean("/" + u.Path), uid: -1, gid: -1}
	switch {
	case l.host == "":
		return nil, fmt.Errorf("%s: no host: write nfs://HOST[:PORT]/PATH", s)
	case u.User != nil:
		return nil, fmt.Errorf("%s: NFS has no login: the user's number is an option, ?uid=1000", s)
	case u.Fragment != "":
		return nil, fmt.Errorf("%s: a # in a name is written %%23", s)
	case strings.ContainsRune(l.path, 0):
		return nil, fmt.Errorf("%s: no name has a zero byte", s)
	}
	if p := u.Port(); p != "" {
		if l.nfsPort, err = parsePort(p); err != nil {
			return nil, fmt.Errorf("%s: port %w", s, err)
		}
		l.mountPort = l.nfsPort
	}
	options, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("%s: options: %v", s, err)
	}
	for name, values := range options {
		if err := l.option(name, values[len(values)-1]); err != nil {
			return nil, fmt.Errorf("%s: option %s: %w", s, name, err)
		}
	}
	return l, nil
}

func (l *location) option(name, value string) (err error) {
	switch name {
	case "version":
		if value != "3" {
			return fmt.Errorf("only version 3 is spoken here")
		}
	case "nfsport":
		l.nfsPort, err = parsePort(value)
	case "mountport":
		l.mountPort, err = parsePort(value)
	case "uid":
		l.uid, err = parseID(value)
	case "gid":
		l.gid, err = parseID(value)
	default:
		err = fmt.Errorf("there is none of this name: known are version, nfsport, mountport, uid and gid (a ? in a name is written %%3F)")
	}
	return err
}

func parsePort(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is none: 1 to 65535 are", s)
	}
	return uint16(n), nil
}

func parseID(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is no number from 0 to 4294967295", s)
	}
	return int64(n), nil
}

// unwrapURL is the reason alone, without the URL once more.
func unwrapURL(err error) error {
	if e, ok := err.(*url.Error); ok {
		return e.Err
	}
	return err
}

// hostPort is how a port of the host is dialled.
func (l *location) hostPort(port uint16) string {
	return net.JoinHostPort(l.host, strconv.Itoa(int(port)))
}

// String is the location for messages, without its options.
func (l *location) String() string { return l.at(l.path) }

// at is another path at the same place.
func (l *location) at(path string) string {
	host := l.host
	switch {
	case l.nfsPort != 0:
		host = l.hostPort(l.nfsPort)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return scheme + host + (&url.URL{Path: path}).EscapedPath()
}
