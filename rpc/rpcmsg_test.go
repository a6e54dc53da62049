package rpc

import (
	"testing"

	"eddy.example/rpc/xdr"
	"eddy.example/rpc/xdrgen/xdrtest"
)

// Bytes put together by hand from RFC 5531.
func TestMessageTypes(t *testing.T) {
	xdrtest.Golden(t, &OpaqueAuth{Flavor: AUTH_SHORT, Body: []byte{1, 2, 3, 4, 5}}, "00000002 00000005 0102030405 000000")
	xdrtest.Golden(t, &OpaqueAuth{}, "00000000 00000000")
	xdrtest.Golden(t, &AuthsysParms{Stamp: 0x12345678, Machinename: []byte("krypton"), UID: 1000, GID: 100, GIDs: []uint32{4, 24}}, `
		12345678 ; stamp
		00000007 6b727970746f6e 00 ; machinename
		000003e8 00000064 ; uid, gid
		00000002 00000004 00000018 ; gids
	`)
}

func TestMessageTypesRoundTrip(t *testing.T) {
	limits := xdrtest.Limits{"OpaqueAuth.Body": 400, "AuthsysParms.Machinename": 255, "AuthsysParms.GIDs": 16}
	xdrtest.RoundTrip(t, &OpaqueAuth{}, limits)
	xdrtest.RoundTrip(t, &AuthsysParms{}, limits)
}

func TestMessageTypesBounds(t *testing.T) {
	xdrtest.Bound(t, 400, func(n int) xdrtest.Value { return &OpaqueAuth{Body: make([]byte, n)} })
	xdrtest.Bound(t, 255, func(n int) xdrtest.Value { return &AuthsysParms{Machinename: make([]byte, n)} })
	xdrtest.Bound(t, 16, func(n int) xdrtest.Value { return &AuthsysParms{GIDs: make([]uint32, n)} })
}

// The numbers of statuses, RFC 5531 §9, are those of their names.
func TestStatusNumbers(t *testing.T) {
	for _, tc := range []struct {
		v    interface{ String() string }
		want string
	}{
		{AcceptStat(4), "GARBAGE_ARGS"}, {AcceptStat(5), "SYSTEM_ERR"}, {AcceptStat(6), "AcceptStat(6)"},
		{RejectStat(0), "RPC_MISMATCH"}, {RejectStat(1), "AUTH_ERROR"},
		{AuthStat(1), "AUTH_BADCRED"}, {AuthStat(5), "AUTH_TOOWEAK"}, {AuthStat(14), "RPCSEC_GSS_CTXPROBLEM"},
	} {
		if got := tc.v.String(); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
	var s AuthStat
	if _, err := s.ConsumeXDR([]byte{0, 0, 0, 15}); err != xdr.ErrEnum {
		t.Errorf("auth_stat 15: %v", err)
	}
}
