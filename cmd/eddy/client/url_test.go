package client

import (
	"crypto/sha256"
	"strings"
	"testing"
)

func sum(b []byte) []byte { s := sha256.Sum256(b); return s[:8] }

func TestParseURL(t *testing.T) {
	for u, want := range map[string]location{
		"nfs://host":           {host: "host", path: "/", uid: -1, gid: -1},
		"nfs://host/":          {host: "host", path: "/", uid: -1, gid: -1},
		"nfs://host:33/a/b/":   {host: "host", nfsPort: 33, mountPort: 33, path: "/a/b", uid: -1, gid: -1},
		"nfs://[::1]:33/a":     {host: "::1", nfsPort: 33, mountPort: 33, path: "/a", uid: -1, gid: -1},
		"nfs://[2001:db8::1]/": {host: "2001:db8::1", path: "/", uid: -1, gid: -1},
		"nfs://host//a/../b/.": {host: "host", path: "/b", uid: -1, gid: -1},
		"nfs://host/a%20b%3F%23%ff?version=3&nfsport=1&mountport=2&uid=0&gid=5": {
			host: "host", nfsPort: 1, mountPort: 2, path: "/a b?#\xff", uid: 0, gid: 5},
		"nfs://host:33/?mountport=44": {host: "host", nfsPort: 33, mountPort: 44, path: "/", uid: -1, gid: -1},
	} {
		got, err := parseURL(u)
		if err != nil || *got != want {
			t.Errorf("%s: %+v, %v, want %+v", u, got, err, want)
		}
	}
	for u, want := range map[string]string{
		"":                            "nfs://HOST",
		"/tmp":                        "nfs://HOST",
		"http://host/":                "nfs://HOST",
		"nfs:///a":                    "no host",
		"nfs://host:99999/":           "port",
		"nfs://host:x/":               "port",
		"nfs://host/%zz":              "escape",
		"nfs://host/a%00b":            "zero byte",
		"nfs://host/#a":               "%23",
		"nfs://user@host/":            "?uid=",
		"nfs://host/?version=4":       "version 3",
		"nfs://host/?uid=-1":          "uid",
		"nfs://host/?uid=99999999999": "uid",
		"nfs://host/?nfsport=0":       "nfsport",
		"nfs://host/?colour=blue":     "mountport",
	} {
		if got, err := parseURL(u); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v, want %q", u, got, err, want)
		}
	}
	for u, want := range map[string]string{
		"nfs://host/a%20b": "nfs://host/a%20b", "nfs://[::1]/x": "nfs://[::1]/x", "nfs://[::1]:5/x?uid=3": "nfs://[::1]:5/x",
	} {
		if got, err := parseURL(u); err != nil || got.String() != want {
			t.Errorf("%s is shown as %v, want %s", u, got, want)
		}
	}
}

func TestCandidates(t *testing.T) {
	for _, tc := range []struct {
		path    string
		exports []string
		want    string
	}{
		{"/a/b/c", []string{"/", "/a", "/a/b", "/a/bb"}, "/a/b"},
		{"/a/bc", []string{"/a/b", "/"}, "/"},
		{"/a/b", []string{"/a/b"}, "/a/b"},
		{"/x", []string{"/a"}, "/ /x"},
		{"/x/y", nil, "/ /x /x/y"},
		{"/", nil, "/"},
	} {
		if got := strings.Join(candidates(tc.path, tc.exports), " "); got != tc.want {
			t.Errorf("%s in %v: %s, want %s", tc.path, tc.exports, got, tc.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for name, want := range map[string]string{"plain é": "plain é", "a\nb\x1b[2J": "a?b?[2J", "\xff": "?", "\u202e": "?"} {
		if got := printable(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}
