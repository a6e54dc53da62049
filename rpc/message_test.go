package rpc

import (
	"testing"
)

func TestParse(t *testing.T) {
	whole := callAs(&Cred{Flavor: AUTH_SYS, UID: 7, GID: 8, GIDs: []uint32{9}, Machine: []byte("krypton")}, 1, 2, 3, 4, 'a', 'r', 'g', 's')
	var m callMessage
	if v := m.parse(whole); v != isCall {
		t.Fatalf("verdict %d", v)
	}
	if want := (Header{XID: 1, RPCVers: 2, Prog: 2, Vers: 3, Proc: 4}); m.Header != want {
		t.Errorf("header %+v, want %+v", m.Header, want)
	}
	if m.cred.Flavor != AUTH_SYS || m.verf.Flavor != AUTH_NONE || len(m.verf.Body) != 0 || string(m.args) != "args" {
		t.Errorf("credential %v, verifier %v, arguments %q", m.cred, m.verf, m.args)
	}

	// However much of it is cut off, there is a verdict, and nothing behind the
	// end is read.
	head := len(whole) - len("args")
	body := int(head - 8 - (24 + 8)) // of the credential
	for n := range head {
		want := isBadVerf
		switch {
		case n < 8:
			want = isNoise
		case n < 24:
			want = isGarbage
		case n < 24+8+body:
			want = isBadCred
		}
		if got := m.parse(whole[:n:n]); got != want {
			t.Errorf("the first %d bytes: verdict %d, want %d", n, got, want)
		}
	}
}

func TestParseNoCall(t *testing.T) {
	for _, test := range []struct {
		name, message string
		want          verdict
	}{
		{"nothing", "", isNoise},
		{"an XID", "00000001", isNoise},
		{"a reply", "00000001 00000001", isReply},
		{"neither", "00000001 00000002 00000002", isNoise},
		{"HTTP", "47455420 2f204854 54502f31 2e310d0a", isNoise},
		{"a call of version 3", "00000001 00000000 00000003", isMismatch},
	} {
		var m callMessage
		if got := m.parse(hexBytes(t, test.message)); got != test.want {
			t.Errorf("%s: verdict %d, want %d", test.name, got, test.want)
		}
	}
}
